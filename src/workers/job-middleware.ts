/** Wraps every job handler: metrics, locks, replicas, outages of Redis, and release at shutdown. */
import { DelayedError, type Job, UnrecoverableError, WaitingError } from 'bullmq';
import { isJobOutcome } from '../jobs/runs/calls/service-errors.ts';
import type { Telemetry } from '../jobs/telemetry/telemetry.ts';
import type { Logger } from '../log.ts';
import type { MetricsRecorder } from '../metrics/recorder.ts';
import { isStoreFailure } from '../store/redis/connection/connection.ts';
import type { Durability } from '../store/redis/durability/durable-write.ts';
import type { TakeOver } from './take-over.ts';

const OUTAGE_DELAY_MIN_MS = 500;
const OUTAGE_DELAY_MAX_MS = 15_000;
/** All active jobs fail at once during an outage; one log line in this time is enough. */
const OUTAGE_LOG_EVERY_MS = 5_000;

export type Handler<Data> = (job: Job<Data>) => Promise<void>;

export interface JobMetrics {
  recorder: MetricsRecorder;
  telemetry: Pick<Telemetry, 'recordJob'>;
}

/** Counts and times the jobs of a queue. */
export function withMetrics<Data>(
  queue: string,
  handler: Handler<Data>,
  { recorder, telemetry }: JobMetrics,
): Handler<Data> {
  recorder.registerQueue(queue);
  return async (job) => {
    const startedAt = performance.now();
    let outcome: 'completed' | 'failed' = 'failed';
    recorder.jobStarted(queue);
    try {
      await handler(job);
      outcome = 'completed';
    } finally {
      telemetry.recordJob(queue, outcome);
      recorder.jobFinished(queue, outcome, performance.now() - startedAt);
    }
  };
}

/** If a replica may take over, a job ends only when a replica has all its writes: otherwise a failover might lose both. The work of a job
 *  is idempotent, so it can be repeated. A failed attempt does not wait, because another attempt follows anyway. */
export function withReplication<Data>(handler: Handler<Data>, durability: Durability | undefined): Handler<Data> {
  if (!durability?.isReplicated) return handler;
  return async (job) => {
    const failed = await durability.during(async () => {
      try {
        await handler(job);
        return undefined;
      } catch (error) {
        if (error instanceof UnrecoverableError) return error;
        throw error;
      }
    }, 'partitions');
    if (failed) throw failed;
  };
}

/** Delays a job while Redis is unreachable, rejects writes or fails over, as often as needed. That is not the fault of the function or of
 *  the job's data, so no attempt is used up. */
export function withOutageDelay<Data>(handler: Handler<Data>, log: Logger): Handler<Data> {
  let loggedAt = Number.NEGATIVE_INFINITY;
  return async (job) => {
    try {
      await handler(job);
    } catch (error) {
      if (isJobOutcome(error) || !isStoreFailure(error)) throw error;
      const nowMs = performance.now();
      if (nowMs - loggedAt >= OUTAGE_LOG_EVERY_MS) {
        loggedAt = nowMs;
        log.warn({ err: (error as Error).message, job: job.id }, 'Redis refuses commands; jobs are delayed');
      }
      await delayJob(job);
    }
  };
}

/** If Redis rejects this too, the job stays active until its lock expires, and a worker takes it over.
 *  @throws DelayedError always: BullMQ then counts no attempt */
async function delayJob<Data>(job: Job<Data>): Promise<never> {
  await job.moveToDelayed(Date.now() + outageDelayMs(job), job.token).catch(() => undefined);
  throw new DelayedError();
}

function outageDelayMs({ attemptsStarted, attemptsMade }: Job): number {
  const delaysBefore = Math.max(0, attemptsStarted - attemptsMade - 1);
  const delayMs = OUTAGE_DELAY_MIN_MS * 2 ** Math.min(delaysBefore, 10);
  return Math.min(delayMs, OUTAGE_DELAY_MAX_MS) * (0.75 + Math.random() / 2);
}

/** Keeps the lock of a job that was delayed and is active again. BullMQ renews locks by job ID: if a worker takes a job
 *  again before it has finished delaying it (because Redis is slow, say), the end of the first execution stops the
 *  renewal for the second, and a second worker would do the same work at the same time. */
export function withLockExtension<Data>(
  handler: Handler<Data>,
  { lockMs, renewMs }: Pick<TakeOver, 'lockMs' | 'renewMs'>,
): Handler<Data> {
  return async (job) => {
    // The job was not delayed: this is its first execution, or the first after a counted attempt.
    if (job.attemptsStarted <= job.attemptsMade + 1) return handler(job);
    const renewal = setInterval(() => void job.extendLock(job.token as string, lockMs).catch(() => {}), renewMs);
    try {
      await handler(job);
    } finally {
      clearInterval(renewal);
    }
  };
}

/** Releases active jobs at shutdown: another worker takes them immediately, and no attempt is used up. BullMQ itself can only abandon them
 *  until their locks expire. */
export class JobRelease {
  readonly #active = new Set<() => void>();

  /** @returns a handler whose job ends when it is released. The original handler must have no effect afterwards. */
  wrap<Data>(handler: Handler<Data>): Handler<Data> {
    return (job) =>
      new Promise<void>((resolve, reject) => {
        const release = () => releaseJob(job).catch(reject);
        this.#active.add(release);
        handler(job)
          .then(resolve, reject)
          .finally(() => this.#active.delete(release));
      });
  }

  /** @returns the number of jobs released */
  releaseAll(): number {
    const count = this.#active.size;
    for (const release of this.#active) void release();
    this.#active.clear();
    return count;
  }
}

/** If Redis rejects this, another worker takes the job when its lock expires.
 *  @throws WaitingError always, which tells BullMQ that this worker no longer has the job */
async function releaseJob<Data>(job: Job<Data>): Promise<never> {
  await job.moveToWait(job.token).catch(() => undefined);
  throw new WaitingError();
}
