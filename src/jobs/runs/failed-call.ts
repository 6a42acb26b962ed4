/** Which state of the run a failed attempt counts for. A call that has stored steps has begun a new state of the run: its failure is the first
 *  attempt of a call for that state, whose job is another one. */
import type { Failure } from '../../functions/interpret-response.ts';
import { retryDelayMs } from '../../model/runs/retry.ts';
import type { Checkpoints } from '../../store/runs/checkpoints.ts';
import { type CallJob, type JobAttempts, toRunRef } from '../queues/queues.ts';
import type { CallAttempt } from './run-history.ts';
import type { RunScheduler } from './run-scheduler.ts';
import { retryStoreWrites } from './service-errors.ts';

export interface FailedCallDeps {
  checkpoints: Checkpoints;
  scheduler: RunScheduler;
  /** Setting RETRY_SCALE. */
  retryScale: number;
}

/** The attempt, if its outcome still counts. Once it has failed, the call stores no more steps.
 *  @returns undefined: another worker has taken the job over, whose attempt counts */
export async function settle(one: CallAttempt, deps: FailedCallDeps): Promise<CallAttempt | undefined> {
  const { job, attempts } = one;
  if (!(await deps.scheduler.isLastExecution(job, attempts.executions))) return undefined;
  const { env, runId, at } = job;
  if (at === undefined || one.continuesAt !== undefined) return one;
  const continuesAt = await retryStoreWrites(() => deps.checkpoints.handOver(env, runId, String(at)));
  return continuesAt === undefined ? one : { ...one, continuesAt, attempts: firstAttempt(attempts) };
}

/** Attempts for a state that this call has begun. */
export function firstAttempt(attempts: JobAttempts): JobAttempts {
  return { ...attempts, made: 0 };
}

/** Repeats a failed call with the steps that it had stored. */
export async function retryFromCheckpoint(
  { loaded, continuesAt }: CallAttempt & { continuesAt: number },
  { retryAfterMs }: Failure,
  max: number,
  { scheduler, retryScale }: FailedCallDeps,
): Promise<void> {
  const delayMs = retryAfterMs ?? retryDelayMs(1, Math.random(), retryScale);
  const call = { ref: toRunRef(loaded.run), at: continuesAt, retries: max - 1, attemptsBefore: 1, delayMs };
  await retryStoreWrites(() => scheduler.enqueueCall(call));
}

/** The attempts of a call that was taken over from a process that died: those before its checkpoint were of another state. */
export function attemptsAt({ at }: CallJob, finishedSteps: number, attempts: JobAttempts): JobAttempts {
  return at === undefined || at === finishedSteps ? attempts : firstAttempt(attempts);
}
