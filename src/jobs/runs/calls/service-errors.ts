/** Errors of the service itself while it works on a run. Each error counts as an attempt, because another attempt might succeed; the last
 *  one fails or pauses the run, so that no run stays Running forever. When Redis rejects commands, no attempt counts: writes are retried
 *  for a while, and then the job waits. */
import { setTimeout } from 'node:timers/promises';
import { UnrecoverableError } from 'bullmq';
import { NoConnection } from '../../../functions/connect/transport.ts';
import { hasEnded, type Run, type RunError } from '../../../model/runs/run.ts';
import { isStoreFailure } from '../../../store/redis/connection/connection.ts';
import type { Runs } from '../../../store/runs/runs.ts';
import type { JobAttempts, RunRef } from '../../queues/queues.ts';
import type { RunTransitions } from '../state-transitions.ts';

/** Delays between repeated writes, 30 s in total. Afterwards the job is delayed; its call is repeated once Redis accepts writes. */
const WRITE_RETRY_DELAYS_MS = [100, 200, 400, 800, 1_500, 3_000, 4_000, 5_000, 5_000, 5_000, 5_000] as const;

/** An attempt failed, and another follows. */
export class AttemptFailed extends Error {
  override name = 'AttemptFailed';
  readonly error: RunError;
  /** The delay that the app asked for; undefined: the delay of the retry schedule. */
  readonly retryAfterMs: number | undefined;

  constructor(error: RunError, retryAfterMs?: number, cause?: unknown) {
    super(`${error.name}: ${error.message}`, { cause });
    this.error = error;
    this.retryAfterMs = retryAfterMs;
  }
}

/** The run must not start, because its function was paused in the meantime. */
export class FunctionPaused extends Error {
  override name = 'FunctionPaused';
  readonly run: Run;

  constructor(run: Run) {
    super(`the function ${run.functionId} is paused, and its queued runs are held`);
    this.run = run;
  }
}

/** Whether an error is the outcome of an attempt, rather than an error on the way to one. */
export function isJobOutcome(error: unknown): boolean {
  return error instanceof AttemptFailed || error instanceof UnrecoverableError;
}

/** Runs a job; any exception counts as a failed attempt.
 *  @throws AttemptFailed, UnrecoverableError; or, without counting as an attempt, NoConnection, FunctionPaused, or Redis's error when it rejects
 *  commands */
export async function withServiceErrors(
  { env, runId }: RunRef,
  attempts: JobAttempts,
  { runs, transitions }: { runs: Runs; transitions: RunTransitions },
  work: () => Promise<void>,
): Promise<void> {
  try {
    await work();
  } catch (error) {
    const isNoAttempt = error instanceof NoConnection || error instanceof FunctionPaused || isStoreFailure(error);
    if (isJobOutcome(error) || isNoAttempt) throw error;
    const internal = internalErrorOf(error);
    if (attempts.made + 1 < attempts.max) {
      await retryStoreWrites(() => runs.recordError(env, runId, internal));
      throw new AttemptFailed(internal, undefined, error);
    }
    const run = await retryStoreWrites(() => runs.readToChange(env, runId));
    if (run && !hasEnded(run)) await retryStoreWrites(() => transitions.exhaust(run, internal));
    throw Object.assign(new UnrecoverableError(`${internal.name}: ${internal.message}`), { cause: error });
  }
}

/** Repeats a write while Redis rejects it: otherwise the response of an app would be lost, and the service would repeat the call.
 *  @param write idempotent
 *  @throws the last error of Redis, or any other error immediately */
export async function retryStoreWrites<T>(write: () => Promise<T>): Promise<T> {
  for (const delayMs of WRITE_RETRY_DELAYS_MS) {
    try {
      return await write();
    } catch (error) {
      if (!isStoreFailure(error)) throw error;
      // `unref` does not keep the process alive at shutdown.
      await setTimeout(delayMs * (0.75 + Math.random() / 2), undefined, { ref: false });
    }
  }
  return write();
}

function internalErrorOf(error: unknown): RunError {
  const { name, message } = error instanceof Error ? error : { name: 'Error', message: String(error) };
  return { name: 'InternalError', message: `Tidegate failed to process this run: ${name}: ${message}` };
}
