/** Cancels runs that reach a timeout, without waiting for a call in flight. */
import type { AppFunction } from '../../../model/apps/app.ts';
import { hasEnded } from '../../../model/runs/run.ts';
import type { Loaded } from '../../../store/runs/loaded-run.ts';
import type { Runs } from '../../../store/runs/runs.ts';
import type { CallJob, JobAttempts } from '../../queues/queues.ts';
import type { RunTransitions } from '../state-transitions.ts';
import { type TimeoutTimers, timeoutsOf } from './timeout-timers.ts';

export interface TimeoutDeps {
  runs: Runs;
  timeoutTimers: TimeoutTimers;
  transitions: RunTransitions;
}

/** Cancels the run if it has reached a timeout. @returns whether it had */
export async function cancelIfOver(
  env: string,
  runId: string,
  nowMs: number,
  { runs, timeoutTimers, transitions }: Pick<TimeoutDeps, 'runs' | 'timeoutTimers' | 'transitions'>,
): Promise<boolean> {
  const run = await runs.read(env, runId);
  if (!run || hasEnded(run)) return false;
  const [deadline] = await timeoutTimers.deadlinesOf(env, [run]);
  if (!deadline || deadline.at > nowMs) return false;
  await transitions.cancel(env, runId, { cause: deadline.cause });
  return true;
}

/** Cancels a run that has waited too long to start, even if its timer comes after its call. @returns whether it was cancelled */
export async function isTooLate(
  { env, runId, finishedSteps }: CallJob,
  fn: AppFunction | undefined,
  nowMs: number,
  deps: TimeoutDeps,
): Promise<boolean> {
  return finishedSteps === 0 && timeoutsOf(fn)?.startMs !== undefined && cancelIfOver(env, runId, nowMs, deps);
}

/** Sets the timer of a run that has started with this call. */
export async function watchStart(
  { finishedSteps }: CallJob,
  fn: AppFunction | undefined,
  { run }: Loaded,
  { executions }: JobAttempts,
  startedAt: number,
  { timeoutTimers }: Pick<TimeoutDeps, 'timeoutTimers'>,
): Promise<void> {
  // An earlier execution may have died before setting the timer.
  const isStart = run.startedAt === startedAt || (finishedSteps === 0 && executions > 1);
  if (isStart) await timeoutTimers.watchStarted(run, fn, startedAt);
}
