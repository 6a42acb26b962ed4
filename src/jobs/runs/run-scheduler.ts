/** Puts the jobs of runs into their queue. A job's ID says what it is for, so enqueuing it again changes nothing. */
import { ErrorCode, type JobsOptions } from 'bullmq';
import { PRODUCTION } from '../../model/environment.ts';
import type { EnvironmentKinds } from '../../store/environments/environment-kinds.ts';
import { type CallJob, DELAYED_SCORE_PER_MS, type RunQueue, type TracedRunRef } from '../queues/queues.ts';

/** A wake-up only writes to Redis, and no refusal of Redis counts. */
const WAKE_ATTEMPTS = 10;

/** States of a job that will do its work. Any other is of one that has ended, or is in no list: it is only in the way of a new one. */
const ALIVE: ReadonlySet<string> = new Set([
  'active',
  'delayed',
  'paused',
  'prioritized',
  'waiting',
  'waiting-children',
]);
/** BullMQ takes jobs without a priority first, then those with one: what waits for branches, however much, stands in nobody's way. */
const BRANCH_PRIORITY = 1;

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

export class RunScheduler {
  readonly #queue: RunQueue;
  readonly #kinds: Pick<EnvironmentKinds, 'of'>;

  constructor(queue: RunQueue, kinds: Pick<EnvironmentKinds, 'of'>) {
    this.#queue = queue;
    this.#kinds = kinds;
  }

  async call(call: CallToSchedule): Promise<void> {
    await this.calls([call]);
  }

  async calls(calls: readonly CallToSchedule[]): Promise<void> {
    if (calls.length === 0) return;
    const ranks = await this.#ranksOf(calls);
    await this.#queue.addBulk(
      calls.map(({ ref: { trace, ...ref }, at, stepId, retries, delayMs = 0 }) => ({
        name: ref.functionId,
        data: { ...ref, kind: 'call', ...(at !== undefined && { at }), ...(stepId && { stepId }) } satisfies CallJob,
        opts: {
          jobId: callJobId(ref.runId, at, stepId),
          attempts: retries + 1,
          ...(delayMs > 0 && { delay: delayMs }),
          ...ranks.get(ref.env),
          ...below(trace),
        },
      })),
    );
  }

  /** As `call`, whatever is there under the job's ID: of a job that has failed or was done nothing more is to come. One that waits or is at work
   *  is left alone. */
  async restoreCall(call: CallToSchedule): Promise<void> {
    await this.#clear(callJobId(call.ref.runId, call.at, call.stepId));
    await this.call(call);
  }

  /** As `wake`, in the same way. */
  async restoreWake(...wake: Parameters<RunScheduler['wake']>): Promise<void> {
    const [{ runId }, stepId] = wake;
    await this.#clear(wakeJobId(runId, stepId));
    await this.wake(...wake);
  }

  async #clear(jobId: string): Promise<void> {
    if (!ALIVE.has(await this.#queue.getJobState(jobId))) await this.#queue.remove(jobId, { removeChildren: false });
  }

  /** Removes the wake jobs of steps that have come to their end. One that is at work is left alone and finds nothing to do. */
  async dropWakes(runId: string, stepIds: readonly string[]): Promise<void> {
    await this.#drop(stepIds.map((stepId) => wakeJobId(runId, stepId)));
  }

  /** Removes calls that are not wanted any more, in the same way. */
  async dropCalls(calls: readonly CallOfRun[]): Promise<void> {
    await this.#drop(calls.map(({ runId, at, stepId }) => callJobId(runId, at, stepId)));
  }

  async #drop(jobIds: readonly string[]): Promise<void> {
    await Promise.all(jobIds.map((id) => this.#queue.remove(id, { removeChildren: false })));
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

  /** Has a call come now that a worker had put back for want of room. One that is not there any more came by itself. */
  async unpark(jobId: string): Promise<void> {
    try {
      await this.#queue.getBackend().promote(jobId);
    } catch (error) {
      if ((error as { code?: unknown }).code !== ErrorCode.JobNotInState) throw error;
    }
  }

  async #ranksOf(jobs: readonly { ref: TracedRunRef }[]): Promise<Map<string, JobsOptions>> {
    const ranks = new Map<string, JobsOptions>();
    for (const { ref } of jobs) {
      if (ref.env === PRODUCTION || ranks.has(ref.env)) continue;
      ranks.set(ref.env, (await this.#kinds.of(ref.env)) === 'branch' ? { priority: BRANCH_PRIORITY } : {});
    }
    return ranks;
  }

  /** Ends the step at that time if nothing has ended it before. */
  async wake(run: TracedRunRef, stepId: string, untilMs: number, nowMs: number, eventName?: string): Promise<void> {
    const { trace, ...ref } = run;
    const ranks = await this.#ranksOf([{ ref }]);
    await this.#queue.add(
      ref.functionId,
      { ...ref, kind: 'wake', stepId, ...(eventName !== undefined && { eventName }) },
      {
        jobId: wakeJobId(ref.runId, stepId),
        delay: Math.max(0, untilMs - nowMs),
        attempts: WAKE_ATTEMPTS,
        ...ranks.get(ref.env),
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

function wakeJobId(runId: string, stepId: string): string {
  return `${runId}-${stepId}-wake`;
}
