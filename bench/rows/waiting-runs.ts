/** Bytes in Redis of a run that sleeps or waits after three steps with results of 50 bytes, beside its event: in whole, and by key. */
import type { Measurement } from '../bench.ts';
import type { Row } from '../row.ts';
import { median } from '../statistics.ts';
import type { TestBed } from '../test-bed.ts';
import { redisUsage } from './memory.ts';

const RUNS = 5_000;
/** Keys beside the runs. Redis doubles its table of keys at 131,072 and 262,144, which would fall on one kind of runs. */
const OTHER_KEYS = 140_000;
const OTHER_KEYS_AT_ONCE = 1_000;
const SAMPLES = 20;
/** Runs are packed when they have waited for 20 s. With less, a busy worker would take its own calls for stalled. */
const WORKER = { STALLED_AFTER_SECONDS: '5' };
const NOTHING = 'nothing';
const group = 'memory';
const KINDS = {
  'sleeping-days': { work: 'a run that sleeps for 3 days', targets: [{ most: 1_200 }] },
  sleeping: { work: 'a run that sleeps for 30 days', targets: [{ most: 1_200 }] },
  waiting: { work: 'a run that waits for an event', targets: [] },
  signal: { work: 'a run that waits for a signal', targets: [] },
} as const;
const OFFLOADED = 'a run that sleeps for 3 days, in Postgres meanwhile: what Redis keeps';
type Kind = keyof typeof KINDS;
const NAMES = Object.keys(KINDS) as Kind[];

export const waitingRuns: Measurement = {
  group,
  names: [...NAMES.map((kind) => KINDS[kind].work), OFFLOADED],
  async measure(bench) {
    const rows: Row[] = [];
    const rowOf = (work: string, value: number, targets: readonly { most: number }[]): Row => {
      return { group, work, value, unit: 'bytes', references: [], targets: [...targets] };
    };
    await bench.withTestBed({}, async (testBed) => {
      const event = await start(testBed);
      bench.progress(`an event without a run: ${event}`);
      for (const kind of NAMES) {
        // Create the data whose size does not depend on the number of runs first.
        await memoryOf(testBed, kind, RUNS / 10);
        const value = (await memoryOf(testBed, kind, RUNS)) - event;
        const { work, targets } = KINDS[kind];
        rows.push({ ...rowOf(work, value, targets), parts: await bytesByPart(testBed, `bench-${kind}`) });
      }
    });
    await bench.withTestBed({ archive: true }, async (testBed) => {
      const event = await start(testBed);
      await memoryOf(testBed, 'sleeping-days', RUNS / 10, true);
      const value = (await memoryOf(testBed, 'sleeping-days', RUNS, true)) - event;
      rows.push({ ...rowOf(OFFLOADED, value, [{ most: 200 }]), parts: { alarm: await bytesOfAlarm(testBed) } });
    });
    return { rows, costs: [], series: [] };
  },
};

/** @returns bytes of an event without a run */
async function start(testBed: TestBed): Promise<number> {
  const functions = NAMES.map((kind) => ({ id: kind, event: `bench/${kind}` }));
  await testBed.service.register('bench', functions);
  await addOtherKeys(testBed);
  await testBed.startWorker(WORKER);
  await memoryOf(testBed, NOTHING, RUNS / 10);
  return memoryOf(testBed, NOTHING, RUNS);
}

async function addOtherKeys({ redis }: TestBed): Promise<void> {
  for (let n = 0; n < OTHER_KEYS; n += OTHER_KEYS_AT_ONCE) {
    await redis.mset(Array.from({ length: OTHER_KEYS_AT_ONCE }, (_, i) => [`other:${n + i}`, '']).flat());
  }
}

/** Bytes of each event and its run. */
async function memoryOf(
  testBed: TestBed,
  kind: Kind | typeof NOTHING,
  count: number,
  isOffloaded = false,
): Promise<number> {
  const before = (await redisUsage(testBed)).memory;
  // Two runs cannot wait for the same signal, so keys are not repeated.
  await testBed.service.sendEach((n) => ({ name: `bench/${kind}`, data: { key: `${count}_${n}` } }), count);
  await testBed.service.untilDrained();
  if (kind !== NOTHING) await testBed.service.untilAsleep();
  if (isOffloaded) await testBed.service.untilOffloaded();
  return ((await redisUsage(testBed)).memory - before) / count;
}

/** The median size of each key of a run, and of its job. The rest is in keys that runs share. */
export async function bytesByPart(testBed: TestBed, functionId: string): Promise<Record<string, number>> {
  const runs = await testBed.service.api<{ run_id: string }[]>(`/v1/runs?function_id=${functionId}&limit=${SAMPLES}`);
  const sizes = new Map<string, number[]>();
  for (const { run_id } of runs) {
    for (const key of await keysOf(testBed, run_id)) {
      const part = key.slice(key.indexOf(run_id) + run_id.length) || 'record';
      const size = Number(await testBed.redis.memory('USAGE', key, 'SAMPLES', 0));
      sizes.set(part, [...(sizes.get(part) ?? []), size]);
    }
  }
  return Object.fromEntries([...sizes].map(([part, all]) => [part, median(all)]));
}

/** Bytes of the field of an offloaded run. */
async function bytesOfAlarm({ redis }: TestBed): Promise<number> {
  const [key = ''] = await redis.keys('*:offloaded-runs:*');
  return Number(await redis.memory('USAGE', key, 'SAMPLES', 0)) / (await redis.hlen(key));
}

async function keysOf(testBed: TestBed, runId: string): Promise<string[]> {
  const keys: string[] = [];
  let cursor = '0';
  do {
    const [next, found] = await testBed.redis.scan(cursor, 'MATCH', `*${runId}*`, 'COUNT', 100_000);
    keys.push(...found);
    cursor = next;
  } while (cursor !== '0');
  return keys;
}
