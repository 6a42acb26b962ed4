/** `WaitForSignal`: the step ends with a signal sent by name, or at its timeout. */
import type { Failure } from '../../../functions/interpret-response.ts';
import { permanentFailure } from '../../../functions/interpret-response.ts';
import { type Op, stepName } from '../../../model/runs/operation.ts';
import type { StepRef } from '../../../store/runs/signals.ts';
import type { CallWithResponse, OperationDeps } from './operation-context.ts';
import { enqueueWake, type StartingStep, startStep, waitingStep } from './steps.ts';
import { untilOf } from './timeout.ts';

export function pendingSignal(op: Op, nowMs: number): StartingStep | Failure {
  const signal = op.opts?.signal ?? '';
  if (signal === '') return permanentFailure('InvalidWait', `step "${stepName(op)}" waits for a signal without a name`);
  const until = untilOf(op, nowMs);
  return 'kind' in until ? until : { ...waitingStep('WaitForSignal', op, signal), beginning: true, ...until };
}

export async function startSignal(op: Op, call: CallWithResponse, deps: OperationDeps): Promise<Failure | undefined> {
  const { env, id: runId } = call.loaded.run;
  const step = pendingSignal(op, call.nowMs);
  if ('kind' in step) return step;
  const signal = step.waitsFor ?? step.name;
  const waiting = await startStep(op, call, deps, step);
  if (!waiting || 'kind' in waiting) return waiting;
  // The wake job is enqueued before a signal can end the step, because the end of the step removes it.
  if (waiting.until !== undefined) await enqueueWake(op, call, deps, { untilMs: waiting.until, eventName: signal });
  const replaces = op.opts?.conflict === 'replace';
  const added = await deps.signals.add(
    { env, runId, stepId: op.id, signal, until: waiting.until, replaces },
    call.nowMs,
  );
  if (added.outcome === 'taken') {
    return permanentFailure(
      'SignalConflict',
      `step "${stepName(op)}" waits for the signal ${JSON.stringify(signal)}, for which another step waits already; use a name of its own, or the conflict option "replace"`,
    );
  }
  if (added.outcome !== 'stored') return undefined;
  // The step is confirmed last, because anybody who sees that it waits may send the signal immediately.
  await deps.steps.confirm(call.loaded.run, op.id, waiting);
  if (added.replaced) await endWithoutTimeout(env, added.replaced, deps);
  return undefined;
}

/** A replaced wait ends at its timeout. A wait without a timeout would last forever, so it ends now. */
async function endWithoutTimeout(
  env: string,
  { runId, stepId }: StepRef,
  { steps, transitions }: OperationDeps,
): Promise<void> {
  const step = (await steps.progress(env, runId)).pending.get(stepId);
  if (step && step.until === undefined) await transitions.finishStep(env, runId, stepId, null);
}
