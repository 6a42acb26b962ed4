/** Functions run: from the first event sent to the last call, with one worker and a host that does nothing. */
import type { Measure } from '../bench.ts';
import { called } from '../calls.ts';
import { Meter } from '../meter.ts';
import type { Point } from '../numbers.ts';
import type { Part } from '../processes.ts';
import type { Found } from '../results.ts';
import { medians } from '../rounds.ts';
import type { Row } from '../row.ts';
import type { Stage } from '../stage.ts';

/** For each second of a round, about what one takes. */
const RUNS = 4_000;
const STEP_RUNS = 400;
const FANNED_EVENTS = 40;
const STEPS = 10;
const FAN_OUT = 100;
/** The sustained round is so many times as long as others: 20 s at least, when those are of 5 s. */
const LENGTH = 5;
const LOOP = 'a bare BullMQ loop that makes the same call';
const PLAIN = 'plain runs';
const PLAIN_WORK = 'one event to one plain function';
const FAN_WORK = `one event to ${FAN_OUT} functions`;
const group = 'runs';

export const runs: Measure = {
  group,
  names: [PLAIN_WORK, 'ten-step functions', FAN_WORK],
  measure: (bench) => bench.onStage({}, rowsOn),
};

async function rowsOn(stage: Stage): Promise<Found> {
  const { rounds, seconds } = stage.bench.options;
  const many = Array.from({ length: FAN_OUT }, (_, n) => ({ id: `fan-${n}`, event: 'bench/fan' }));
  await stage.service.register('bench', [
    { id: 'run', event: 'bench/run' },
    { id: 'ten', event: 'bench/ten' },
    ...many,
  ]);
  await stage.startWorker();
  const env = { REDIS_URL: `${stage.redisUrl}/1`, HOST_URL: stage.hostUrl };
  const loop = await stage.begin('bench/references/bullmq-loop.ts', env);
  const [ofRuns, ofSteps] = [new Meter(stage), new Meter(stage)];

  const own = async (event: string, events: number, calls: number) =>
    called(stage, calls, () => stage.service.sendMany({ name: event, data: { total: 1 } }, events));
  const settled = async <T>(measured: Promise<T>) => {
    const result = await measured;
    // The last call is answered, and what the worker then writes is no part of the next measure.
    await stage.service.drained();
    return result;
  };
  const reached = await medians(rounds, {
    plain: async () => (await settled(own('bench/run', RUNS * seconds, RUNS * seconds))).perSecond,
    loop: async () => (await bare(stage, loop, RUNS * seconds)).perSecond,
    steps: async () => {
      const events = STEP_RUNS * seconds;
      const load = () => settled(own('bench/ten', events, events * (STEPS + 1)));
      return ((await ofSteps.over(load, () => events * STEPS)).perSecond * STEPS) / (STEPS + 1);
    },
    fanned: async () => {
      const calls = FANNED_EVENTS * seconds * FAN_OUT;
      return (
        await ofRuns.over(
          () => settled(own('bench/fan', FANNED_EVENTS * seconds, calls)),
          () => calls,
        )
      ).perSecond;
    },
  });
  await stage.end(loop);

  const count = Math.ceil(reached.plain * LENGTH * seconds);
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
      work: 'ten-step functions',
      value: reached.steps,
      unit: 'steps/s',
      references: [],
      targets: [{ least: 2_000 }],
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

async function bare(stage: Stage, loop: Part, calls: number) {
  return called(stage, calls, () => loop.child.send(calls));
}

/** Calls of each whole second. */
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
