/** Removes jobs of an environment that is being deleted if they would stay in Redis for long: delayed jobs, jobs behind prioritized ones, and
 *  failed jobs. Active and upcoming jobs find no run and end. */

import { chunksOf } from '../../model/values/chunks.ts';
import { JOB_FIELDS, QUEUE_KEYS } from '../../store/keys/bullmq.ts';
import { inPipelines, type Redis } from '../../store/redis/connection/connection.ts';
import type { PartitionQueues } from './partition-queues.ts';
import { INGEST, type IngestQueue, RUNS, type RunJob, type RunQueue, TIMERS, type TimerQueue } from './queues.ts';

const SCAN_COUNT = 500;
/** Jobs per round trip: an ingest job may have a megabyte, and thousands may wait for a retry. */
const READ_AT_ONCE = { [INGEST]: 10, [RUNS]: 500, [TIMERS]: 500 };
const SETS = [QUEUE_KEYS.delayed, QUEUE_KEYS.prioritized, QUEUE_KEYS.failed];

/** @returns number of removed jobs */
export async function removeJobsOf(
  env: string,
  redis: Redis,
  queues: PartitionQueues,
  signal: AbortSignal,
): Promise<number> {
  const isOfEnvironment = (data: string) => (JSON.parse(data) as Partial<Pick<RunJob, 'env'>>).env === env;
  // A job with events of several environments is kept for the others.
  const isOfEvents = (data: string) =>
    (JSON.parse(data) as { events: { env: string }[] }).events.every((event) => event.env === env);
  let removed = 0;
  for (const { ingest, runs, timers } of queues.all()) {
    removed += await removeWhere(redis, runs, isOfEnvironment, signal);
    removed += await removeWhere(redis, timers, isOfEnvironment, signal);
    removed += await removeWhere(redis, ingest, isOfEvents, signal);
  }
  return removed;
}

async function removeWhere(
  redis: Redis,
  queue: IngestQueue | RunQueue | TimerQueue,
  matches: (data: string) => boolean,
  signal: AbortSignal,
): Promise<number> {
  let removed = 0;
  for (const set of SETS) {
    let cursor = '0';
    do {
      const [next, members] = await redis.zscan(queue.toKey(set), cursor, 'COUNT', SCAN_COUNT);
      cursor = next;
      const ids = members.filter((_, i) => i % 2 === 0);
      const readAtOnce = READ_AT_ONCE[queue.name as keyof typeof READ_AT_ONCE];
      for (const page of chunksOf(ids, readAtOnce)) {
        const commands = page.map((id) => ['hget', queue.toKey(id), JOB_FIELDS.data]);
        const texts = await inPipelines<string | null>(redis, commands);
        const matching = page.filter((_, i) => texts[i] && matches(texts[i]));
        for (const id of matching) removed += await queue.remove(id);
      }
    } while (cursor !== '0' && !signal.aborted);
  }
  return removed;
}
