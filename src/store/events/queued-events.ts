/** Events that are accepted but not stored yet: they are in ingest jobs of their partition, perhaps in one whose worker has died. */
import { ServiceError } from '../../errors.ts';
import type { Envelope } from '../../model/events/event.ts';
import { timeOf } from '../../model/ids.ts';
import { chunksOf } from '../../model/values/chunks.ts';
import { INGEST, JOB_FIELDS, QUEUE_KEYS, queueKey } from '../keys/bullmq.ts';
import { inPipelines } from '../redis/connection/connection.ts';
import { Repository } from '../redis/repository.ts';

/** A job is added within this time after its events were received; otherwise their sender got an error. */
const COMMIT_MS = 5_000;
const JOBS_MAX = 200;
/** Limit of one lookup: a job may have a megabyte, and clients may ask for any number of unknown IDs. */
const READ_MAX_BYTES = 16 * 1_048_576;
const READ_AT_ONCE = 4;
/** More jobs than this are not looked through for the events of one request. */
const ALL_JOBS_MAX = 1_000;
const OVERLOADED_SECONDS = 30;

/** States in the order of the arguments of find-ingest-jobs.lua. */
const STATES = [QUEUE_KEYS.active, QUEUE_KEYS.waiting, QUEUE_KEYS.delayed, QUEUE_KEYS.failed];
/** States in the order of the keys of list-ingest-jobs.lua. */
const ALL_STATES = [
  QUEUE_KEYS.active,
  QUEUE_KEYS.waiting,
  QUEUE_KEYS.paused,
  QUEUE_KEYS.delayed,
  QUEUE_KEYS.failed,
  QUEUE_KEYS.prioritized,
];

/** The field as JSON.stringify writes it: in a payload, which is a string, its quotes are escaped. */
const INTERNAL_ID = /"internalId":"([0-9A-Z]{26})"/g;

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

  /** IDs of the events that are in jobs. Unlike `find`, it trusts no time in an ID, which a sender may have chosen, and looks through all jobs.
   *  @throws ServiceError overloaded, if these are too many: then nothing is known about any of the events */
  async present(env: string, ids: readonly string[]): Promise<Set<string>> {
    const present = new Set<string>();
    let left = READ_MAX_BYTES;
    for (const [{ queues }, wanted] of Map.groupBy(ids, (id) => this.keys.of(id))) {
      const some = new Set(wanted);
      const keyOf = (suffix: string) => queueKey(queues, INGEST, suffix);
      const jobs = (await this.redis.listIngestJobs(...ALL_STATES.map(keyOf), ALL_JOBS_MAX)) as string[] | null;
      if (!jobs) throw tooMuch();
      for (const few of chunksOf(jobs, READ_AT_ONCE)) {
        if (left <= 0) throw tooMuch();
        const commands = few.map((job) => ['hget', keyOf(job), JOB_FIELDS.data]);
        for (const text of await inPipelines<string | null>(this.redis, commands)) {
          left -= text?.length ?? 0;
          for (const id of text ? idsIn(text, some) : []) {
            if (eventOf(text as string, env, id)) present.add(id);
          }
        }
      }
    }
    return present;
  }
}

function tooMuch(): ServiceError {
  const detail = 'too many events wait to be ingested to tell which of these are among them';
  return new ServiceError('overloaded', { detail, retryAfterSeconds: OVERLOADED_SECONDS });
}

function idsIn(text: string, wanted: ReadonlySet<string>): string[] {
  const ids = Array.from(text.matchAll(INTERNAL_ID), ([, id]) => id as string);
  return [...new Set(ids)].filter((id) => wanted.has(id));
}

/** A repeat carries the ID of the first event, but is not that event. */
function eventOf(text: string, env: string, id: string): Envelope | undefined {
  const { events } = JSON.parse(text) as { events: Envelope[] };
  return events.find((event) => event.internalId === id && event.env === env && !event.repeat);
}
