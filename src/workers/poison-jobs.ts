/** Poison jobs: ingest jobs that stall their workers. A job stalls when its worker dies, or is blocked for so long that
 *  it loses its lock; any job of a worker that is killed does, so a few stalls prove nothing. A job that keeps stalling
 *  is split into jobs of fewer events each, until the culprit is alone; that one becomes a failed job (dead letter),
 *  and the others are ingested. Nothing is lost or duplicated: ingesting an event twice changes nothing. */
import { DelayedError, type Job, UnrecoverableError } from 'bullmq';
import { INGEST, type IngestJob, type IngestQueue } from '../jobs/queues/queues.ts';
import type { Logger } from '../log.ts';
import type { JobRecorder } from '../metrics/recorder.ts';
import { Composed } from '../model/values/composed.ts';

/** Stalls before a job is isolated: rolling deploys may kill as many workers over one. */
const ISOLATE_AFTER = 3;
/** Stalls of an isolated job before it is split further. */
const SPLIT_AGAIN_AFTER = 1;
/** Further stalls of a single event in isolation before it becomes a dead letter. */
const DEAD_LETTER_AFTER = 3;
/** Each level of splitting costs a worker. Of 500 events, each is alone after three levels. */
const PARTS = 8;
/** Delay of an isolated job while another one is active. */
const ISOLATION_DELAY_MS = 500;

export class PoisonJobs extends Composed<{ queue: Pick<IngestQueue, 'addBulk'>; log: Logger; recorder: JobRecorder }> {
  #isIsolatedJobActive = false;

  /** Ingests the job's events, unless the job must be split or becomes a dead letter.
   *  @throws UnrecoverableError for a dead letter */
  async handle(job: Job<IngestJob>, ingest: (job: Job<IngestJob>) => Promise<void>): Promise<void> {
    const { stalledCounter: stalls, data } = job;
    if (!data.isolated && stalls < ISOLATE_AFTER) return ingest(job);
    if (data.events.length > 1) {
      if (!data.isolated || stalls >= SPLIT_AGAIN_AFTER) return this.#split(job);
    } else if (stalls >= maxStalls(data)) {
      return this.#deadLetter(job);
    }
    return this.#ingestIsolated(job, ingest);
  }

  /** Ingests an isolated job while no other isolated job is active, so that a stall has one culprit. */
  async #ingestIsolated(job: Job<IngestJob>, ingest: (job: Job<IngestJob>) => Promise<void>): Promise<void> {
    if (this.#isIsolatedJobActive) {
      await job.moveToDelayed(Date.now() + ISOLATION_DELAY_MS * (0.5 + Math.random()), job.token);
      throw new DelayedError();
    }
    this.#isIsolatedJobActive = true;
    try {
      await ingest(job);
    } finally {
      this.#isIsolatedJobActive = false;
    }
  }

  /** If this process dies before the job ends, the same parts are added again. */
  async #split({ id, data: { events }, stalledCounter }: Job<IngestJob>): Promise<void> {
    const size = Math.ceil(events.length / PARTS);
    const parts = Array.from({ length: Math.ceil(events.length / size) }, (_, i) => ({
      name: INGEST,
      data: { events: events.slice(i * size, (i + 1) * size), isolated: true as const },
      opts: { jobId: `${id}-${i}` },
    }));
    await this.deps.queue.addBulk(parts);
    this.deps.recorder.ingestJobSplit();
    const details = { queue: INGEST, job: id, events: events.length, stalls: stalledCounter, parts: parts.length };
    this.deps.log.warn(details, 'poison job split');
  }

  async #deadLetter(job: Job<IngestJob>): Promise<never> {
    const { id, data, stalledCounter: stalls } = job;
    const [event] = data.events;
    // If an operator retries the dead letter, it gets as many attempts as before.
    await job.updateData({ ...data, forgivenStalls: stalls });
    this.deps.recorder.eventDeadLettered();
    this.deps.log.error(
      { queue: INGEST, job: id, event_id: event?.internalId, env: event?.env, stalls },
      'poison event moved to the failed jobs',
    );
    throw new UnrecoverableError(
      `Event ${event?.internalId} stalled ${stalls} workers. It stays here as a failed job. Fix the cause, then retry this job.`,
    );
  }
}

/** Stalls after which a single event becomes a dead letter. */
function maxStalls({ isolated, forgivenStalls }: IngestJob): number {
  return (forgivenStalls ?? (isolated ? 0 : ISOLATE_AFTER)) + DEAD_LETTER_AFTER;
}
