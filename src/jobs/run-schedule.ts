/** Puts the jobs of runs into their queue. A job's ID says what it is for, so enqueuing it again changes nothing. */
import { ErrorCode, type JobsOptions } from 'bullmq';
import { type CallJob, DELAYED_SCORE_PER_MS, type RunQueue, type TracedRunRef } from './queues.ts';

/** A wake-up that fails is tried again until it succeeds: it only writes to Redis. */
const WAKE_ATTEMPTS = 1_000;

/** Of a run, which call is meant: that after `at` finished steps, or that of one planned step. */
export interface CallOfRun {
  runId: string;
  at?: number;
  stepId?: string;
}

export interface CallToSchedule {
  ref: TracedRunRef;
  /** How many steps are done: the call goes on from there. Undefined for the call of one planned step. */
  at?: number;
  stepId?: string;
  /** Tries after the first. */
  retries: number;
  delayMs?: number;
}

export class RunSchedule {
  readonly #queue: RunQueue;

  constructor(queue: RunQueue) {
    this.#queue = queue;
  }

  async call(call: CallToSchedule): Promise<void> {
    await this.calls([call]);
  }

  async calls(calls: readonly CallToSchedule[]): Promise<void> {
    if (calls.length === 0) return;
    await this.#queue.addBulk(
      calls.map(({ ref: { trace, ...ref }, at, stepId, retries, delayMs = 0 }) => ({
        name: ref.functionId,
        data: { ...ref, kind: 'call', ...(at !== undefined && { at }), ...(stepId && { stepId }) } satisfies CallJob,
        opts: {
          jobId: callJobId(ref.runId, at, stepId),
          attempts: retries + 1,
          ...(delayMs > 0 && { delay: delayMs }),
          ...below(trace),
        },
      })),
    );
  }

  /** Those of the calls that wait for their time: when each is due, Unix milliseconds, by the ID of its job. */
  async due(calls: readonly CallOfRun[]): Promise<Map<string, number>> {
    const ids = calls.map(({ runId, at, stepId }) => callJobId(runId, at, stepId));
    const redis = await this.#queue.getBackend().client;
    const scores = await Promise.all(ids.map((id) => redis.zscore(this.#queue.toKey('delayed'), id)));
    return new Map(
      ids.flatMap((id, i) => {
        const score = scores[i];
        return score ? [[id, Math.floor(Number(score) / DELAYED_SCORE_PER_MS)] as const] : [];
      }),
    );
  }

  /** Has a call that waits for its time made now.
   *  @returns whether this did it: one that is under way or done is left alone */
  async hasten(jobId: string): Promise<boolean> {
    const job = await this.#queue.getJob(jobId);
    if (!job) return false;
    try {
      await job.promote();
      return true;
    } catch (error) {
      if ((error as { code?: unknown }).code === ErrorCode.JobNotInState) return false;
      throw error;
    }
  }

  /** Ends the step at that time if nothing has ended it before. */
  async wake(run: TracedRunRef, stepId: string, untilMs: number, nowMs: number, eventName?: string): Promise<void> {
    const { trace, ...ref } = run;
    await this.#queue.add(
      ref.functionId,
      { ...ref, kind: 'wake', stepId, ...(eventName !== undefined && { eventName }) },
      {
        jobId: `${ref.runId}-${stepId}-wake`,
        delay: Math.max(0, untilMs - nowMs),
        attempts: WAKE_ATTEMPTS,
        ...below(trace),
      },
    );
  }
}

/** All work on a run is recorded below the span that its event was ingested in, so that its calls stand side by side however many there
 *  are. Without `omitContext` BullMQ would put each try below the one before it. */
function below(trace: string | undefined): JobsOptions {
  return trace ? { telemetry: { metadata: trace, omitContext: true } } : {};
}

/** The first call has the run's own ID. */
function callJobId(runId: string, at: number | undefined, stepId: string | undefined): string {
  if (stepId) return `${runId}-${stepId}`;
  return at === 0 || at === undefined ? runId : `${runId}-${at}`;
}
