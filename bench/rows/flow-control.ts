/** Functions with flow control beside plain ones: runs per second where the limit does not bound them, whether a backlog delays others, and what a run
 *  that waits takes in Redis. */
import { setTimeout } from 'node:timers/promises';
import type { Measurement } from '../bench.ts';
import { countCalls, now } from '../count-calls.ts';
import type { Row } from '../row.ts';
import { median, medians, quantile } from '../statistics.ts';
import type { TestBed } from '../test-bed.ts';
import { bytesByPart } from './waiting-runs.ts';

/** Units per second of a round, close to the throughput. */
const RUNS = 4_000;
const KEYS = 10_000;
/** More than any worker calls at the same time. */
const UNBOUND = 100_000;
const BATCH_SIZE = 100;
/** Longer than a round takes to send its events. */
const DEBOUNCE_SECONDS = 20;
const DEBOUNCED_KEYS = 100;
const BATCHES = `a function with batches of ${BATCH_SIZE}: events`;
const DEBOUNCED = `a function with a debounce, ${DEBOUNCED_KEYS} keys: events`;
const SHARE_OF_PLAIN = 0.7;
const PLAIN = 'plain runs';
const group = 'flow-control';

const KEYED = { concurrency: [{ limit: UNBOUND, key: 'event.data.key' }] };
const LIMITED = {
  'a function with concurrency, one key': { options: KEYED, keyOf: () => 'k' },
  'a function with concurrency, 10,000 keys': { options: KEYED, keyOf: (n: number) => `k${n % KEYS}` },
  'a function with a throttle': { options: { throttle: { limit: 1_000_000, period: '1s' } }, keyOf: () => 'k' },
  'a function with an order, 10,000 keys': {
    options: { order: { key: 'event.data.key', by: 'event.data.total' } },
    keyOf: (n: number) => `k${n % KEYS}`,
  },
  'a function with priorities': { options: { priority: { run: 'event.data.total > 100 ? 60 : 0' } }, keyOf: () => 'k' },
};
type Limited = keyof typeof LIMITED;
const NAMES = Object.keys(LIMITED) as Limited[];

export const flowControl: Measurement = {
  group,
  names: [...NAMES, BATCHES, DEBOUNCED],
  measure: (bench) =>
    bench.withTestBed({}, async (testBed) => {
      const { rounds, seconds } = bench.options;
      const functions = NAMES.map((name, n) => ({ id: `f${n}`, event: `bench/f${n}`, ...LIMITED[name] }));
      await testBed.service.register('bench', [
        { id: 'run', event: 'bench/run' },
        ...functions.map(({ id, event, options }) => ({ id, event, options })),
        { id: 'batch', event: 'bench/batch', options: { batchEvents: { maxSize: BATCH_SIZE, timeout: '60s' } } },
        {
          id: 'debounce',
          event: 'bench/debounce',
          options: { debounce: { period: `${DEBOUNCE_SECONDS}s`, key: 'event.data.key' } },
        },
      ]);
      await testBed.startWorker();
      const perSecond = async (name: string, keyOf: (n: number) => string) => {
        const count = RUNS * seconds;
        const eventOf = (n: number) => ({ name, data: { total: 1, key: keyOf(n) } });
        const counted = await countCalls(testBed, count, () => testBed.service.sendEach(eventOf, count));
        await testBed.service.untilDrained();
        return counted.perSecond;
      };
      /** Events per second until their runs are called. */
      const together = async (name: string, runs: number, waitsMs = 0) => {
        const count = RUNS * seconds;
        const eventOf = (n: number) => ({ name, data: { total: 1, key: `k${n % DEBOUNCED_KEYS}` } });
        const counted = await countCalls(testBed, runs, () => testBed.service.sendEach(eventOf, count));
        await testBed.service.untilDrained();
        return count / (counted.seconds - waitsMs / 1_000);
      };
      const reached = await medians(rounds, {
        [PLAIN]: () => perSecond('bench/run', () => 'k'),
        ...Object.fromEntries(NAMES.map((name, n) => [name, () => perSecond(`bench/f${n}`, LIMITED[name].keyOf)])),
        [BATCHES]: () => together('bench/batch', (RUNS * seconds) / BATCH_SIZE),
        [DEBOUNCED]: () => together('bench/debounce', DEBOUNCED_KEYS, DEBOUNCE_SECONDS * 1_000),
      } as Record<string, () => Promise<number>>);
      const references = [{ what: PLAIN, value: reached[PLAIN] as number }];
      const rows: Row[] = [...NAMES, BATCHES, DEBOUNCED].map((name) => ({
        group,
        work: name,
        value: reached[name] as number,
        unit: name === BATCHES || name === DEBOUNCED ? 'events/s' : 'runs/s',
        references,
        targets: [{ share: SHARE_OF_PLAIN, of: PLAIN }],
      }));
      return { rows, costs: [], series: [] };
    }),
};

const BACKLOG = 100_000;
const INTERVAL_MS = 10;
const ISOLATED = 'event received to function called, 100 events/s, p99';
const WITHOUT = 'without the backlog';
const TIMES = 2;
const HOLD = { concurrency: [{ limit: 1, key: 'event.data.key' }] };

export const isolation: Measurement = {
  group,
  names: [ISOLATED],
  measure: (bench) =>
    bench.withTestBed({}, async (testBed) => {
      await testBed.service.register('bench', [
        { id: 'run', event: 'bench/run' },
        { id: 'hold', event: 'bench/hold', options: HOLD },
      ]);
      await testBed.startWorker();
      await delays(testBed, 'bench/run', 200);
      await delays(testBed, 'bench/hold', 200);
      const measure = async () => {
        const [others, keys]: number[][] = [[], []];
        for (let round = 0; round < bench.options.rounds; round++) {
          const events = (bench.options.seconds * 1_000) / INTERVAL_MS;
          others?.push(quantile(await delays(testBed, 'bench/run', events), 0.99));
          keys?.push(quantile(await delays(testBed, 'bench/hold', events), 0.99));
        }
        return { functions: median(others ?? []), keys: median(keys ?? []) };
      };
      const before = await measure();
      await backlog(testBed, BACKLOG);
      const after = await measure();
      await testBed.host('release');
      const row = (what: string, value: number, reference: number): Row => ({
        group,
        work: `${ISOLATED}, other ${what} while 100,000 runs wait behind a key`,
        value,
        unit: 'ms',
        references: [{ what: WITHOUT, value: reference }],
        targets: [{ times: TIMES, of: WITHOUT }],
      });
      const rows = [row('functions', after.functions, before.functions), row('keys', after.keys, before.keys)];
      return { rows, costs: [], series: [] };
    }),
};

const LANES = 100_000;
const BESIDE_LANES = `plain runs while ${LANES.toLocaleString('en')} lanes have an active run and a waiting event`;
const OTHER_LANE = `${ISOLATED}, another lane meanwhile`;
const WITHOUT_LANES = 'without them';
const ORDER = { key: 'event.data.key' };

export const lanes: Measurement = {
  group,
  names: [BESIDE_LANES, OTHER_LANE],
  measure: (bench) =>
    bench.withTestBed({}, async (testBed) => {
      await testBed.service.register('bench', [
        { id: 'run', event: 'bench/run' },
        // The call of the first lane has no response, and those of all others wait for it.
        { id: 'hold', event: 'bench/hold', options: { order: { key: 'event.data.lane' }, concurrency: 1 } },
        { id: 'other', event: 'bench/other', options: { order: ORDER } },
      ]);
      await testBed.startWorker();
      await delays(testBed, 'bench/other', 200);
      const plainPerSecond = async () => {
        const count = RUNS * bench.options.seconds;
        return (
          await countCalls(testBed, count, () => testBed.service.sendMany({ name: 'bench/run', data: {} }, count))
        ).perSecond;
      };
      const p99 = async () => {
        return quantile(await delays(testBed, 'bench/other', (bench.options.seconds * 1_000) / INTERVAL_MS), 0.99);
      };
      const measure = async () => medians(bench.options.rounds, { plain: plainPerSecond, p99 });
      const before = await measure();
      await testBed.host('hold-waiting');
      const eventOf = (n: number) => ({ name: 'bench/hold', data: { key: 'waiting', lane: n % LANES } });
      await testBed.service.sendEach(eventOf, 2 * LANES);
      await testBed.service.untilIngested();
      const after = await measure();
      await testBed.host('release');
      const references = (value: number) => [{ what: WITHOUT_LANES, value }];
      const rows: Row[] = [
        {
          ...{ group, work: BESIDE_LANES, value: after.plain, unit: 'runs/s', references: references(before.plain) },
          targets: [{ share: SHARE_OF_PLAIN, of: WITHOUT_LANES }],
        },
        {
          ...{ group, work: OTHER_LANE, value: after.p99, unit: 'ms', references: references(before.p99) },
          targets: [{ times: TIMES, of: WITHOUT_LANES }],
        },
      ];
      return { rows, costs: [], series: [] };
    }),
};

const WAITING = 'a run that waits for a limit in Redis';
const WAITING_RUNS = 40_000;

export const waitingMemory: Measurement = {
  group,
  names: [WAITING],
  measure: (bench) =>
    bench.withTestBed({}, async (testBed) => {
      await testBed.service.register('bench', [{ id: 'hold', event: 'bench/hold', options: HOLD }]);
      await testBed.startWorker();
      // Create the data whose size does not depend on the number of events first.
      await stored(testBed, 'bench/nothing', WAITING_RUNS / 10);
      await backlog(testBed, WAITING_RUNS / 10);
      const event = await stored(testBed, 'bench/nothing', WAITING_RUNS);
      const both = await stored(testBed, 'bench/hold', WAITING_RUNS);
      const parts = await bytesByPart(testBed, 'bench-hold');
      await testBed.host('release');
      const rows: Row[] = [
        { group, work: WAITING, value: both - event, unit: 'bytes', references: [], parts, targets: [{ most: 700 }] },
      ];
      return { rows, costs: [], series: [] };
    }),
};

/** Runs that wait behind the call of one that has no response. */
async function backlog(testBed: TestBed, count: number): Promise<void> {
  await testBed.host('hold-waiting');
  await testBed.service.sendMany({ name: 'bench/hold', data: { key: 'waiting' } }, count);
  await testBed.service.untilIngested();
}

/** Bytes of each event and what it starts. */
async function stored(testBed: TestBed, name: string, count: number): Promise<number> {
  const before = await usedMemory(testBed);
  await testBed.service.sendMany({ name, data: { key: 'waiting' } }, count);
  return ((await usedMemory(testBed)) - before) / count;
}

/** After Redis has resized its tables and buffers. */
async function usedMemory(testBed: TestBed): Promise<number> {
  await testBed.service.untilIngested();
  await setTimeout(3_000);
  return Number(/used_memory:(\d+)/.exec(await testBed.redis.info('memory'))?.[1]);
}

/** Milliseconds from when each event was due to the call of its function. */
async function delays(testBed: TestBed, name: string, events: number): Promise<number[]> {
  await testBed.host();
  const startedAt = now();
  const sends: Promise<void>[] = [];
  const ages: number[] = [];
  for (let n = 0; n < events; n++) {
    const send = testBed.service.send({ name, data: { sentAt: now(), key: `k${n % KEYS}` } });
    // A rejection is thrown below; an unhandled one would end the process.
    send.catch(() => {});
    sends.push(send);
    // Relative to the start, so that a late timer does not lower the rate.
    await setTimeout(Math.max(0, startedAt + (n + 1) * INTERVAL_MS - now()));
  }
  await Promise.all(sends);
  while (ages.length < events) {
    testBed.bench.signal.throwIfAborted();
    await setTimeout(50);
    ages.push(...(await testBed.host()).ages);
  }
  return ages;
}
