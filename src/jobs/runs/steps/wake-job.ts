/** The wake job: ends a sleep, or times out a wait or an invocation. */
import type { Memo, Pending } from '../../../model/runs/memo.ts';
import { invokedRunId } from '../../../model/runs/run.ts';
import { waitKey } from '../../../model/runs/wait.ts';
import type { ResultContext } from '../../../store/runs/steps.ts';
import type { Store } from '../../../store/store.ts';
import type { JobAttempts, WakeJob } from '../../queues/queues.ts';
import { withServiceErrors } from '../calls/service-errors.ts';
import type { RunTransitions } from '../state-transitions.ts';

/** Apps of the official SDKs match this name. */
const INVOKE_TIMEOUT = 'InngestInvokeTimeoutError';

export interface WakeDeps extends Pick<Store, 'ids' | 'runs' | 'steps' | 'waits'> {
  transitions: RunTransitions;
}

/** @throws AttemptFailed, UnrecoverableError, or Redis's error when it rejects commands */
export async function wake(job: WakeJob, attempts: JobAttempts, deps: WakeDeps): Promise<void> {
  await withServiceErrors(job, attempts, deps, () => finishStep(job, deps));
}

async function finishStep({ env, runId, stepId, eventName }: WakeJob, deps: WakeDeps): Promise<void> {
  const { pending } = await deps.steps.progress(env, runId);
  const step = pending.get(stepId);
  const context: ResultContext = {
    pending: step,
    ...(step?.op === 'InvokeFunction' && { links: { runId: invokedRunId(deps.ids, runId, stepId) }, timedOut: true }),
  };
  await deps.transitions.finishStep(env, runId, stepId, memoOf(step), context);
  if (eventName !== undefined) await deps.waits.remove(env, waitKey({ runId, stepId }));
}

function memoOf(step: Pending | undefined): Memo {
  if (step?.op !== 'InvokeFunction') return null;
  return { error: { name: INVOKE_TIMEOUT, message: 'Timed out waiting for invoked function to complete' } };
}
