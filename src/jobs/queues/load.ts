/** Measures the load of Redis and the queues. */
import type { Load } from '../../model/capacity/thresholds.ts';
import { sum } from '../../model/values/sum.ts';
import { QUEUE_KEYS } from '../../store/keys/bullmq.ts';
import { inPipelines, type Redis } from '../../store/redis/connection/connection.ts';
import { fullest, memoryOf } from '../../store/redis/connection/server-info.ts';
import { primariesOf } from '../../store/redis/connection/servers.ts';
import type { PartitionQueues } from './partition-queues.ts';
import type { IngestQueue, RunQueue } from './queues.ts';

/** BullMQ's lists of due jobs, including the list of a paused queue. */
const DUE_JOBS = [
  ['llen', QUEUE_KEYS.waiting],
  ['llen', QUEUE_KEYS.paused],
  ['zcard', QUEUE_KEYS.prioritized],
] as const;

export async function readLoad(redis: Redis, queues: PartitionQueues): Promise<Load> {
  const pairs = queues.all();
  const countOf = (queue: IngestQueue | RunQueue) => DUE_JOBS.map(([command, key]) => [command, queue.toKey(key)]);
  const ofIngest = pairs.flatMap(({ ingest }) => countOf(ingest));
  const ofRuns = pairs.flatMap(({ runs }) => countOf(runs));
  const [memory, lengths] = await Promise.all([
    // Some hosted Redis services forbid INFO: then only the thresholds of the queues apply.
    Promise.all(primariesOf(redis).map((server) => server.info('memory').catch(() => ''))),
    inPipelines<number>(redis, [...ofIngest, ...ofRuns]),
  ]);
  return {
    ...fullest(memory.map(memoryOf)),
    ingestJobs: sum(lengths.slice(0, ofIngest.length)),
    runJobs: sum(lengths.slice(ofIngest.length)),
  };
}
