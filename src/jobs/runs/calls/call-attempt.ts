/** One attempt of a call, and the state of the run that it counts for. A call that has stored steps while in flight has created a new state
 *  of the run: its failure counts as the first attempt of a call for that state, which has another job. */
import { isReturned, type Op } from '../../../model/runs/operation.ts';
import type { JobEnd } from '../../../store/redis/job-lists.ts';
import type { Loaded } from '../../../store/runs/loaded-run.ts';
import type { CallJob, JobAttempts } from '../../queues/queues.ts';

export interface CallAttempt {
  job: CallJob;
  /** undefined: the job ends by itself. */
  jobEnd: JobEnd | undefined;
  attempts: JobAttempts;
  loaded: Loaded;
  queuedAt: number;
  startedAt: number;
  /** Number of finished steps with which another call continues the run, because this one stored some and then failed. */
  continuesAt?: number;
  /** After its last attempt, the run pauses instead of failing. */
  pauses?: boolean;
}

export function mayRetry({ attempts }: Pick<CallAttempt, 'attempts'>): boolean {
  return attempts.made + 1 < attempts.max;
}

/** Counts the attempt as the first one of the call with this number of finished steps. */
export function continuing(attempt: CallAttempt, finishedSteps: number): CallAttempt {
  if (attempt.job.finishedSteps === undefined) return attempt;
  return { ...attempt, continuesAt: finishedSteps, attempts: firstAttempt(attempt.attempts) };
}

/** Counts the attempt as the first one if its response reports new finished steps in addition to what failed. */
export function afterReportedSteps(attempt: CallAttempt, ops: readonly Op[]): CallAttempt {
  const isNew = (op: Op) => isReturned(op) && !Object.hasOwn(attempt.loaded.memos, op.id);
  if (attempt.job.finishedSteps === undefined || !ops.some(isNew)) return attempt;
  return { ...attempt, attempts: firstAttempt(attempt.attempts) };
}

/** Counts the attempts of a call that was taken over from a dead process: those before its checkpoint belong to another state. */
export function attemptsAt(job: CallJob, finishedSteps: number, attempts: JobAttempts): JobAttempts {
  return job.finishedSteps === undefined || job.finishedSteps === finishedSteps ? attempts : firstAttempt(attempts);
}

function firstAttempt(attempts: JobAttempts): JobAttempts {
  return { ...attempts, made: 0 };
}
