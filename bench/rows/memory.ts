/** Bytes in Redis: of a stored event beside its payload, and of a finished run; in memory, and in the append-only file. */
import { setTimeout } from 'node:timers/promises';
import type { Measure } from '../bench.ts';
import type { RedisBytes } from '../results.ts';
import type { Stage } from '../stage.ts';

const EVENTS = 40_000;
const EVENT = {
  name: 'bench/stored',
  data: { orderId: 'A1234567', customer: 'ada@example.com', total: 120, note: 'x'.repeat(100) },
};
const PAYLOAD_BYTES = JSON.stringify(EVENT).length;
const EVENT_WORK = 'overhead of a stored event in Redis';
const RUN_WORK = 'a finished run in Redis';
const group = 'memory';

export const memory: Measure = {
  group,
  names: [EVENT_WORK, RUN_WORK],
  measure: (bench) =>
    bench.onStage({}, async (stage) => {
      // The file grows by what is written to it, unless Redis rewrites it meanwhile.
      await stage.redis.config('SET', 'auto-aof-rewrite-percentage', '0');
      await stage.service.register('bench', [{ id: 'run', event: 'bench/run' }]);
      await stage.startWorker();
      // What is kept however many events come (finished jobs, counts) is there before.
      await bytesOf(stage, EVENT, EVENTS / 10);
      await bytesOf(stage, { ...EVENT, name: 'bench/run' }, EVENTS / 10);
      const event = await bytesOf(stage, EVENT, EVENTS);
      const both = await bytesOf(stage, { ...EVENT, name: 'bench/run' }, EVENTS);
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

/** Of each such event and what it caused, when all is done. */
async function bytesOf(stage: Stage, event: object, count: number): Promise<{ memory: number; file: number }> {
  const before = await taken(stage);
  await stage.service.sendMany(event, count);
  const after = await taken(stage);
  return { memory: (after.memory - before.memory) / count, file: (after.file - before.file) / count };
}

/** When jobs are done, and Redis has grown or shrunk its tables and buffers. */
async function taken(stage: Stage): Promise<{ memory: number; file: number }> {
  await stage.service.drained();
  await setTimeout(3_000);
  const [memory, persistence] = await Promise.all([stage.redis.info('memory'), stage.redis.info('persistence')]);
  return {
    memory: Number(/used_memory:(\d+)/.exec(memory)?.[1]),
    file: Number(/aof_current_size:(\d+)/.exec(persistence)?.[1]),
  };
}
