/** Events that are accepted but not stored yet: they are in ingest jobs of their partition, perhaps in one whose worker has died. */
import type { Envelope } from '../../model/events/event.ts';
import { timeOf } from '../../model/ids.ts';
import { INGEST, JOB_FIELDS, QUEUE_KEYS, queueKey } from '../keys/bullmq.ts';
import { inPipelines } from '../redis/connection.ts';
import { Repository } from '../redis/repository.ts';

/** A job is added at most this long after its events were received: after that, their sender got an error. */
const COMMIT_MS = 5_000;
const JOBS_MAX = 200;
/** Limit of one look-up: a job may have a megabyte, and clients may ask for any number of unknown IDs. */
const READ_MAX_BYTES = 16 * 1_048_576;
const READ_AT_ONCE = 4;

/** In the order of the arguments of find-ingest-jobs.lua. */
const STATES = [QUEUE_KEYS.active, QUEUE_KEYS.waiting, QUEUE_KEYS.delayed, QUEUE_KEYS.failed];

export class QueuedEvents extends Repository {
  async find(env: string, id: string): Promise<Envelope | undefined> {
    const { queues } = this.keys.of(id);
    const keyOf = (suffix: string) => queueKey(queues, INGEST, suffix);
    const keys = STATES.map(keyOf);
    const receivedAt = timeOf(id);
    const args = [keyOf(''), receivedAt, receivedAt + COMMIT_MS, JOBS_MAX];
    const jobs = (await this.redis.findIngestJobs(...keys, ...args)) as string[];
    let bytes = 0;
    for (let start = 0; start < jobs.length && bytes < READ_MAX_BYTES; start += READ_AT_ONCE) {
      const commands = jobs.slice(start, start + READ_AT_ONCE).map((job) => ['hget', keyOf(job), JOB_FIELDS.data]);
      for (const text of await inPipelines<string | null>(this.redis, commands)) {
        bytes += text?.length ?? 0;
        const found = text?.includes(id) && eventOf(text, env, id);
        if (found) return found;
      }
    }
    return undefined;
  }
}

/** A repeat carries the ID of the first event, but is not that event. */
function eventOf(text: string, env: string, id: string): Envelope | undefined {
  const { events } = JSON.parse(text) as { events: Envelope[] };
  return events.find((event) => event.internalId === id && event.env === env && !event.repeat);
}
