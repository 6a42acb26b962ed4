/** Bytes in Redis of a stored event without its payload, and of a finished run: in memory and in the append-only file. */
import { setTimeout } from 'node:timers/promises';
import type { Measurement } from '../bench.ts';
import type { RedisBytes } from '../results.ts';
import type { TestBed } from '../test-bed.ts';

const EVENTS = 40_000;
const EVENT = {
  name: 'bench/stored',
  data: { orderId: 'A1234567', customer: 'ada@example.com', total: 120, note: 'x'.repeat(100) },
};
const PAYLOAD_BYTES = JSON.stringify(EVENT).length;
const EVENT_WORK = 'overhead of a stored event in Redis';
const RUN_WORK = 'a finished run in Redis';
const group = 'memory';

export const memory: Measurement = {
  group,
  names: [EVENT_WORK, RUN_WORK],
  measure: (bench) =>
    bench.withTestBed({}, async (testBed) => {
      // A rewrite of the file would hide how much was written.
      await testBed.redis.config('SET', 'auto-aof-rewrite-percentage', '0');
      await testBed.service.register('bench', [{ id: 'run', event: 'bench/run' }]);
      await testBed.startWorker();
      // Create the data whose size does not depend on the number of events (finished jobs, counts) first.
      await bytesPerEvent(testBed, EVENT, EVENTS / 10);
      await bytesPerEvent(testBed, { ...EVENT, name: 'bench/run' }, EVENTS / 10);
      const event = await bytesPerEvent(testBed, EVENT, EVENTS);
      const both = await bytesPerEvent(testBed, { ...EVENT, name: 'bench/run' }, EVENTS);
      const run = { memory: both.memory - event.memory, file: both.file - event.file };
      const bytes: RedisBytes = { eventPayload: PAYLOAD_BYTES, event, run };
      const row = { group, unit: 'bytes' } as const;
      return {
        rows: [
          { ...row, work: EVENT_WORK, value: event.memory - PAYLOAD_BYTES, references: [], targets: [{ most: 300 }] },
          { ...row, work: RUN_WORK, value: run.memory, references: [], targets: [{ most: 700 }] },
        ],
        costs: [],
        series: [],
        bytes,
      };
    }),
};

/** Bytes of each event and its runs, after all jobs are done. */
async function bytesPerEvent(
  testBed: TestBed,
  event: object,
  count: number,
): Promise<{ memory: number; file: number }> {
  const before = await redisUsage(testBed);
  await testBed.service.sendMany(event, count);
  const after = await redisUsage(testBed);
  return { memory: (after.memory - before.memory) / count, file: (after.file - before.file) / count };
}

/** Waits until all jobs are done and Redis has resized its tables and buffers. */
export async function redisUsage(testBed: TestBed): Promise<{ memory: number; file: number }> {
  await testBed.service.untilDrained();
  await setTimeout(3_000);
  const [memory, persistence] = await Promise.all([testBed.redis.info('memory'), testBed.redis.info('persistence')]);
  return {
    memory: Number(/used_memory:(\d+)/.exec(memory)?.[1]),
    file: Number(/aof_current_size:(\d+)/.exec(persistence)?.[1]),
  };
}
