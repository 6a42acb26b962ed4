/** Runs per second, from the first event sent to the last call, with one worker and a host that does nothing. */
import type { Measurement } from '../bench.ts';
import { CostMeter } from '../cost-meter.ts';
import { countCalls } from '../count-calls.ts';
import type { BenchProcess } from '../processes.ts';
import type { Measured } from '../results.ts';
import type { Row } from '../row.ts';
import type { Point } from '../statistics.ts';
import { medians } from '../statistics.ts';
import type { TestBed } from '../test-bed.ts';

/** Units per second of a round, close to the throughput. */
const RUNS = 4_000;
const STEP_RUNS = 400;
const FAN_OUT_EVENTS = 40;
const STEPS = 10;
const FAN_OUT = 100;
/** The sustained round is longer than others by this factor. */
const ROUND_FACTOR = 5;
const LOOP = 'a bare BullMQ loop that makes the same call';
const PLAIN = 'plain runs';
const STEP_BY_STEP = 'ten-step functions';
/** Steps of one checkpoint, and how much faster they must be than a call for each step. */
const CHECKPOINTS = { each: 1, ten: 10 } as const;
const CHECKPOINT_FACTOR = 3;
const PLAIN_WORK = 'one event to one plain function';
const FAN_WORK = `one event to ${FAN_OUT} functions`;
const group = 'runs';

export const runs: Measurement = {
  group,
  names: [PLAIN_WORK, STEP_BY_STEP, FAN_WORK],
  measure: (bench) => bench.withTestBed({}, rowsOn),
};

async function rowsOn(testBed: TestBed): Promise<Measured> {
  const { rounds, seconds } = testBed.bench.options;
  const many = Array.from({ length: FAN_OUT }, (_, n) => ({ id: `fan-${n}`, event: 'bench/fan' }));
  await testBed.service.register('bench', [
    { id: 'run', event: 'bench/run' },
    { id: 'ten', event: 'bench/ten' },
    ...Object.values(CHECKPOINTS).map((size) => ({ id: `checkpoint-${size}`, event: `bench/checkpoint-${size}` })),
    ...many,
  ]);
  await testBed.startWorker();
  const env = { REDIS_URL: `${testBed.redisUrl}/1`, HOST_URL: testBed.hostUrl };
  const loop = await testBed.startProcess('bench/references/bullmq-loop.ts', env);
  const [ofRuns, ofSteps] = [new CostMeter(testBed), new CostMeter(testBed)];

  const own = async (event: string, events: number, calls: number) =>
    countCalls(testBed, calls, () => testBed.service.sendMany({ name: event, data: { total: 1 } }, events));
  /** Steps per second in calls that store them. */
  const checkpointed = async (size: number) => {
    const events = STEP_RUNS * seconds;
    const data = { service: testBed.service.url, proof: testBed.service.proof };
    const load = () => testBed.service.sendMany({ name: `bench/checkpoint-${size}`, data }, events);
    return (await settled(countCalls(testBed, events, load))).perSecond * STEPS;
  };
  const settled = async <T>(measured: Promise<T>) => {
    const result = await measured;
    // Wait for the writes after the last call, so that they do not slow the next measurement.
    await testBed.service.untilDrained();
    return result;
  };
  const reached = await medians(rounds, {
    plain: async () => (await settled(own('bench/run', RUNS * seconds, RUNS * seconds))).perSecond,
    loop: async () => (await countLoopCalls(testBed, loop, RUNS * seconds)).perSecond,
    steps: async () => {
      const events = STEP_RUNS * seconds;
      const load = () => settled(own('bench/ten', events, events * (STEPS + 1)));
      return ((await ofSteps.measure(load, () => events * STEPS)).perSecond * STEPS) / (STEPS + 1);
    },
    each: () => checkpointed(CHECKPOINTS.each),
    ten: () => checkpointed(CHECKPOINTS.ten),
    fanned: async () => {
      const calls = FAN_OUT_EVENTS * seconds * FAN_OUT;
      return (
        await ofRuns.measure(
          () => settled(own('bench/fan', FAN_OUT_EVENTS * seconds, calls)),
          () => calls,
        )
      ).perSecond;
    },
  });
  await testBed.stopProcess(loop);

  const count = Math.ceil(reached.plain * ROUND_FACTOR * seconds);
  const sustained = await settled(own('bench/run', count, count));
  const rows: Row[] = [
    {
      group,
      work: PLAIN_WORK,
      value: reached.plain,
      unit: 'runs/s',
      references: [{ what: LOOP, value: reached.loop }],
      targets: [{ least: 2_500 }, { share: 0.5, of: LOOP }],
    },
    {
      group,
      work: `${PLAIN_WORK}, sustained for ${Math.round(sustained.seconds)} s`,
      value: sustained.perSecond,
      unit: 'runs/s',
      references: [],
      targets: [{ least: 2_500 }],
    },
    {
      group,
      work: STEP_BY_STEP,
      value: reached.steps,
      unit: 'steps/s',
      references: [],
      targets: [{ least: 2_000 }],
    },
    {
      group,
      work: `${STEP_BY_STEP}, a checkpoint for each step`,
      value: reached.each,
      unit: 'steps/s',
      references: [{ what: STEP_BY_STEP, value: reached.steps }],
      targets: [],
    },
    {
      group,
      work: `${STEP_BY_STEP}, one checkpoint`,
      value: reached.ten,
      unit: 'steps/s',
      references: [{ what: STEP_BY_STEP, value: reached.steps }],
      targets: [{ share: CHECKPOINT_FACTOR, of: STEP_BY_STEP }],
    },
    {
      group,
      work: FAN_WORK,
      value: reached.fanned,
      unit: 'runs/s',
      references: [{ what: PLAIN, value: reached.plain }],
      targets: [{ share: 0.9, of: PLAIN }],
    },
  ];
  const costs = [
    ofRuns.cost('run', 'runs of a plain function (of 100 on one event)'),
    ofSteps.cost('step', 'steps, with a tenth of a run each'),
  ];
  const points = perSecond(sustained.points);
  return { rows, costs, series: [{ key: 'runs', unit: 'runs/s', lines: [{ name: 'function calls', points }] }] };
}

async function countLoopCalls(testBed: TestBed, loop: BenchProcess, calls: number) {
  return countCalls(testBed, calls, () => loop.child.send(calls));
}

/** Calls in each second. */
function perSecond(points: readonly Point[]): Point[] {
  const ends = Map.groupBy(points, ([at]) => Math.floor(at));
  let before = 0;
  return [...ends].map(([second, within]) => {
    const so = (within.at(-1) as Point)[1];
    const rate = so - before;
    before = so;
    return [second, rate];
  });
}
