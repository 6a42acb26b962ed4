/** A service in which many runs sleep for long: the memory of each, the start of a worker, the first page of runs, and plain runs while
 *  10,000 runs wake up within a second. */
import { setTimeout } from 'node:timers/promises';
import type { Benchmark, Measurement } from '../bench.ts';
import { CostMeter } from '../cost-meter.ts';
import { countCalls, now } from '../count-calls.ts';
import type { Cost } from '../results.ts';
import type { Row } from '../row.ts';
import { quantile } from '../statistics.ts';
import type { TestBed } from '../test-bed.ts';
import { INTERVAL_MS, plainCalls } from './latency.ts';
import { redisUsage } from './memory.ts';
import { measureReads } from './reads.ts';

const DAY_MS = 86_400_000;
const SLEEP_MS = 30 * DAY_MS;
const WAKE_UPS = 10_000;
const WAKE_UP_MS = 1_000;
/** Runs are packed when they have slept for 20 s, and have jobs 80 s before they wake up. */
const WORKER = { STALLED_AFTER_SECONDS: '5' };
/** From the creation of the runs that wake up to their wake-ups: they are packed and have jobs meanwhile. */
const WAKE_UP_AFTER_MS = 180_000;
/** Plain runs before and during the wake-ups. */
const PLAIN_MS = 20_000;
const LEAD_MS = 2_000;
const EARLY_MS = 200;
/** Longer than the runs take to be created and to fall asleep. */
const SHORT_SLEEP_MS = 60_000;
const STEP = 50_000;
const WAKING = `10,000 runs wake up within a second: plain runs, ${1_000 / INTERVAL_MS} events/s`;
const ALONE = 'without wake-ups';
const EMPTY = 'in an empty service';
const group = 'sleepers';
const WORK = {
  bytes: 'many runs sleep: each, with its event',
  start: 'many runs sleep: start of a worker until its first call',
  page: 'many runs sleep: the first page of runs',
  plain: `many runs sleep, ${WAKING}`,
  overtaken: `many runs sleep, ${WAKING}: wake-ups called between an event and its call`,
  late: 'many runs sleep, 10,000 wake up within a second: delay of a wake-up',
};

export const sleepers: Measurement = {
  group,
  names: Object.values(WORK),
  measure: (bench) =>
    bench.withTestBed({}, async (testBed) => {
      const { service } = testBed;
      await service.register('bench', [
        { id: 'run', event: 'bench/run' },
        { id: 'napping', event: 'bench/napping' },
      ]);
      await startWorker(testBed);
      await plainCalls(testBed, 200);
      await testBed.stopWorker();
      const emptyStart = await startWorker(testBed);
      const before = (await redisUsage(testBed)).memory;
      const count = bench.options.sleepers;
      await fill(testBed, bench, count);
      const bytes = ((await redisUsage(testBed)).memory - before) / count;
      await testBed.stopWorker();
      const fullStart = await startWorker(testBed);
      const pages = await measureReads(service, () => '/v1/runs');

      const until = Date.now() + WAKE_UP_AFTER_MS;
      await nap(testBed, WAKE_UPS, (n) => until + (n * WAKE_UP_MS) / WAKE_UPS);
      const plainRuns = PLAIN_MS / INTERVAL_MS;
      const alone = await plainCalls(testBed, plainRuns);
      await setTimeout(Math.max(0, until - LEAD_MS - Date.now()));
      const beside = await plainCalls(testBed, plainRuns);
      if (beside.late.length !== WAKE_UPS) throw new Error(`${beside.late.length} of ${WAKE_UPS} runs woke up`);
      const cost = await costOfWakeUps(testBed);

      const row = (work: string, value: number, beside: Partial<Row> = {}): Row => {
        return { group, work, value, unit: 'ms', references: [], targets: [], ...beside };
      };
      const times = (times: number, of: string, value: number) => {
        return { references: [{ what: of, value }], targets: [{ times, of }] };
      };
      const p99 = (values: readonly number[]) => quantile(values, 0.99);
      const rows = [
        row(WORK.bytes, bytes, { unit: 'bytes' }),
        row(WORK.start, fullStart, times(2, EMPTY, emptyStart)),
        row(`${WORK.page}, p50`, quantile(pages, 0.5), { targets: [{ most: 10 }] }),
        row(`${WORK.plain}, p99`, p99(beside.ages), times(3, ALONE, p99(alone.ages))),
        row(`${WORK.overtaken}, p99`, p99(beside.overtaken), { unit: 'wake-ups' }),
        row(`${WORK.late}, p99`, p99(beside.late)),
      ];
      return { rows, costs: [cost], series: [] };
    }),
};

/** Runs that sleep together, and for so short that they wake up with the jobs that they had at once, without anything beside them. */
async function costOfWakeUps(testBed: TestBed): Promise<Cost> {
  const meter = new CostMeter(testBed);
  const until = Date.now() + SHORT_SLEEP_MS;
  await nap(testBed, WAKE_UPS, () => until);
  await setTimeout(Math.max(0, until - EARLY_MS - Date.now()));
  const wakeUp = async () => {
    await countCalls(testBed, WAKE_UPS, () => undefined);
    await testBed.service.untilDrained();
  };
  await meter.measure(wakeUp, () => WAKE_UPS);
  return meter.cost('wake-up', 'wake-ups of runs that sleep, with their calls');
}

/** @returns milliseconds until it has called a function */
async function startWorker(testBed: TestBed): Promise<number> {
  const startedAt = now();
  await testBed.startWorker(WORKER);
  await countCalls(testBed, 1, () => testBed.service.send({ name: 'bench/run', data: {} }));
  const calledAt = now();
  await testBed.service.untilDrained();
  return calledAt - startedAt;
}

async function fill(testBed: TestBed, bench: Benchmark, count: number): Promise<void> {
  const until = Date.now() + SLEEP_MS;
  for (let begun = 0; begun < count; begun += STEP) {
    await nap(testBed, Math.min(STEP, count - begun), () => until);
    bench.progress(`${Math.min(begun + STEP, count).toLocaleString('en')} runs sleep`);
  }
  await testBed.service.untilAsleep();
}

/** Starts runs that sleep. @param untilOf by their number, Unix milliseconds */
async function nap(testBed: TestBed, count: number, untilOf: (n: number) => number): Promise<void> {
  const eventOf = (n: number) => ({ name: 'bench/napping', data: { until: new Date(untilOf(n)).toISOString() } });
  await testBed.service.sendEach(eventOf, count);
  await testBed.service.untilDrained();
}
