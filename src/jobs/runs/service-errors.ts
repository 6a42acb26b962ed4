/** Errors of the service itself while it works on a run. They count as attempts, because nobody knows whether another would succeed; the last
 *  one fails the run, so that none stays Running for ever. A Redis that refuses is no such error: its job waits and counts nothing. */
import { UnrecoverableError } from 'bullmq';
import { hasEnded, type RunError } from '../../model/runs/run.ts';
import { isStoreFailure } from '../../store/redis/connection.ts';
import type { Runs } from '../../store/runs/runs.ts';
import type { RunRef } from '../queues/queues.ts';
import type { RunTransitions } from './state-transitions.ts';
import { retryStoreWrites } from './store-retries.ts';

/** How often the job has been tried before, and may be tried in all. */
export interface Tries {
  before: number;
  max: number;
}

/** An attempt failed and another is to come. */
export class AttemptFailed extends Error {
  override name = 'AttemptFailed';
  /** The delay that the app asked for; none: the schedule's. */
  readonly retryAfterMs: number | undefined;

  constructor({ name, message }: RunError, retryAfterMs?: number, cause?: unknown) {
    super(`${name}: ${message}`, { cause });
    this.retryAfterMs = retryAfterMs;
  }
}

/** Whether an error says what became of an attempt, and not that something went wrong on the way. */
export function isOutcome(error: unknown): boolean {
  return error instanceof AttemptFailed || error instanceof UnrecoverableError;
}

/** Does the work of a run's job; what goes wrong on the way is an attempt that failed.
 *  @throws AttemptFailed, UnrecoverableError, or what Redis said when it refused */
export async function withServiceErrors(
  { env, runId }: RunRef,
  tries: Tries,
  { runs, life }: { runs: Runs; life: RunTransitions },
  work: () => Promise<void>,
): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (isOutcome(error) || isStoreFailure(error)) throw error;
    const fault = faultOf(error);
    if (tries.before + 1 < tries.max) {
      await retryStoreWrites(() => runs.recordError(env, runId, fault));
      throw new AttemptFailed(fault, undefined, error);
    }
    const run = await retryStoreWrites(() => runs.read(env, runId));
    if (run && !hasEnded(run)) await retryStoreWrites(() => life.fail(run, fault));
    throw Object.assign(new UnrecoverableError(`${fault.name}: ${fault.message}`), { cause: error });
  }
}

function faultOf(error: unknown): RunError {
  const { name, message } = error instanceof Error ? error : { name: 'Error', message: String(error) };
  return { name: 'InternalError', message: `the service could not do its part of this run: ${name}: ${message}` };
}
