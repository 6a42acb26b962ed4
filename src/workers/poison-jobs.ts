/** Ingest jobs that stall their workers. A job stalls when its worker dies over it, or is blocked for so long that it loses its lock; that
 *  happens to any job whose worker is killed, so nothing is concluded from a few times. One that goes on is split, into jobs of fewer
 *  events each, until the culprit stands alone; that is set apart as a failed job, and the others go on. Nothing is lost or doubled by
 *  that: ingesting an event twice changes nothing. */
import { DelayedError, type Job, UnrecoverableError } from 'bullmq';
import { INGEST, type IngestJob, type IngestQueue } from '../jobs/queues/queues.ts';
import type { Logger } from '../log.ts';
import type { JobRecorder } from '../metrics/recorder.ts';

/** Stalls before a job is a suspect: rolling deploys may kill as many workers over one. */
const SUSPECT_AFTER = 3;
/** Stalls of a suspect's part before it is split further. */
const SPLIT_AGAIN_AFTER = 1;
/** Further stalls of a single event, as a suspect, before it is set apart. */
const APART_AFTER = 3;
/** Each level of splitting costs a worker: 500 events stand alone after three. */
const PARTS = 8;
/** After which a suspect is taken up again that has met another. */
const PUT_BACK_MS = 500;

export class PoisonJobs {
  readonly #queue: Pick<IngestQueue, 'addBulk'>;
  readonly #log: Logger;
  readonly #meter: JobRecorder;
  #atWork = false;

  constructor(queue: Pick<IngestQueue, 'addBulk'>, log: Logger, meter: JobRecorder) {
    this.#queue = queue;
    this.#log = log;
    this.#meter = meter;
  }

  /** Ingests the job's events, unless there is reason to split it or to set it apart.
   *  @throws UnrecoverableError when it is set apart */
  async handle(job: Job<IngestJob>, ingest: (job: Job<IngestJob>) => Promise<void>): Promise<void> {
    const { stalledCounter: stalls, data } = job;
    if (!data.suspect && stalls < SUSPECT_AFTER) return ingest(job);
    if (data.events.length > 1) {
      if (!data.suspect || stalls >= SPLIT_AGAIN_AFTER) return this.#split(job);
    } else if (stalls >= this.#patience(data)) {
      return this.#setApart(job);
    }
    return this.#alone(job, ingest);
  }

  #patience({ suspect, pardonedStalls }: IngestJob): number {
    return (pardonedStalls ?? (suspect ? 0 : SUSPECT_AFTER)) + APART_AFTER;
  }

  /** Beside no other suspect: what happens then is this one's doing. */
  async #alone(job: Job<IngestJob>, ingest: (job: Job<IngestJob>) => Promise<void>): Promise<void> {
    if (this.#atWork) {
      await job.moveToDelayed(Date.now() + PUT_BACK_MS * (0.5 + Math.random()), job.token);
      throw new DelayedError();
    }
    this.#atWork = true;
    try {
      await ingest(job);
    } finally {
      this.#atWork = false;
    }
  }

  /** Should this process die before the job is done, the same parts are added again. */
  async #split({ id, data: { events }, stalledCounter }: Job<IngestJob>): Promise<void> {
    const size = Math.ceil(events.length / PARTS);
    const parts = Array.from({ length: Math.ceil(events.length / size) }, (_, i) => ({
      name: INGEST,
      data: { events: events.slice(i * size, (i + 1) * size), suspect: true as const },
      opts: { jobId: `${id}-${i}` },
    }));
    await this.#queue.addBulk(parts);
    this.#meter.ingestJobSplit();
    const facts = { queue: INGEST, job: id, events: events.length, stalls: stalledCounter, parts: parts.length };
    this.#log.warn(facts, 'a job that stalls its workers was split');
  }

  async #setApart(job: Job<IngestJob>): Promise<never> {
    const { id, data, stalledCounter: stalls } = job;
    const [event] = data.events;
    // Somebody who retries it means it: it has as many tries as before.
    await job.updateData({ ...data, pardonedStalls: stalls });
    this.#meter.eventDeadLettered();
    this.#log.error(
      { queue: INGEST, job: id, event_id: event?.internalId, env: event?.env, stalls },
      'event set apart',
    );
    throw new UnrecoverableError(
      `Event ${event?.internalId} stalled ${stalls} workers and is set apart. It is kept here; correct what stalls, then retry the job.`,
    );
  }
}
