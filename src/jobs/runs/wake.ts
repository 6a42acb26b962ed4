/** The wake job: a sleep is over, or a wait or an invocation has taken too long. */
import type { Memo, Pending } from '../../model/runs/memo.ts';
import { waitKey } from '../../model/runs/wait.ts';
import type { Runs } from '../../store/runs/runs.ts';
import type { Steps } from '../../store/runs/steps.ts';
import type { Waits } from '../../store/runs/waits.ts';
import type { WakeJob } from '../queues/queues.ts';
import { type Tries, withServiceErrors } from './service-errors.ts';
import type { RunTransitions } from './state-transitions.ts';

export interface WakeDeps {
  runs: Runs;
  steps: Steps;
  waits: Waits;
  life: RunTransitions;
}

/** @throws AttemptFailed, UnrecoverableError, or what Redis said when it refused */
export async function wake(job: WakeJob, tries: Tries, deps: WakeDeps): Promise<void> {
  await withServiceErrors(job, tries, deps, () => endStep(job, deps));
}

async function endStep({ env, runId, stepId, eventName }: WakeJob, deps: WakeDeps): Promise<void> {
  const { pending } = await deps.steps.progress(env, runId);
  const step = pending.get(stepId);
  await deps.life.finishStep(env, runId, stepId, memoOf(step));
  if (eventName !== undefined) await deps.waits.remove(env, waitKey({ runId, stepId }));
}

function memoOf(step: Pending | undefined): Memo {
  if (step?.op !== 'InvokeFunction') return null;
  return { error: { name: 'InvokeTimeout', message: `"${step.name}" was not done in time` } };
}
