/** Jobs of an environment that is being deleted. Those of its runs that are at work, or next, find no run and end by themselves; here
 *  are those that would lie in Redis for long: delayed, behind others, or failed and kept. */
import { inPipelines, type Redis } from '../../store/redis/connection.ts';
import { INGEST, type IngestQueue, RUNS, type RunJob, type RunQueue } from './queues.ts';

const JOBS_AT_ONCE = 500;
/** Jobs that are read at once: an ingest job may have a megabyte, and thousands may wait to be tried again. */
const READ_AT_ONCE = { [INGEST]: 10, [RUNS]: 500 };
const SETS = ['delayed', 'prioritized', 'failed'] as const;

/** @returns how many it removed */
export async function removeJobsOf(
  env: string,
  redis: Redis,
  [ingests, runs]: [IngestQueue, RunQueue],
  signal: AbortSignal,
): Promise<number> {
  const ofRun = (data: string) => (JSON.parse(data) as RunJob).env === env;
  // A job of several environments' events is kept for the others'.
  const ofIngest = (data: string) =>
    (JSON.parse(data) as { events: { env: string }[] }).events.every((event) => event.env === env);
  return (await removeWhere(redis, runs, ofRun, signal)) + (await removeWhere(redis, ingests, ofIngest, signal));
}

async function removeWhere(
  redis: Redis,
  queue: IngestQueue | RunQueue,
  isMeant: (data: string) => boolean,
  signal: AbortSignal,
): Promise<number> {
  let removed = 0;
  for (const set of SETS) {
    let cursor = '0';
    do {
      const [next, members] = await redis.zscan(queue.toKey(set), cursor, 'COUNT', JOBS_AT_ONCE);
      cursor = next;
      const ids = members.filter((_, i) => i % 2 === 0);
      const most = READ_AT_ONCE[queue.name as typeof INGEST | typeof RUNS];
      for (let start = 0; start < ids.length; start += most) {
        const some = ids.slice(start, start + most);
        const reading = some.map((id) => ['hget', queue.toKey(id), 'data']);
        const texts = await inPipelines<string | null>(redis, reading);
        const meant = some.filter((_, i) => texts[i] && isMeant(texts[i]));
        for (const id of meant) removed += await queue.remove(id);
      }
    } while (cursor !== '0' && !signal.aborted);
  }
  return removed;
}
