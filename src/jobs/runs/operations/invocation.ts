/** `InvokeFunction`: the step ends with the run of another function, or at its timeout. */
import type { Failure } from '../../../functions/interpret-response.ts';
import { type Op, stepName } from '../../../model/runs/operation.ts';
import type { CallWithResponse, OperationDeps } from './operation-context.ts';
import { enqueueWake, type StartingStep, startStep } from './steps.ts';
import { untilOf } from './timeout.ts';

export function pendingInvocation(op: Op, nowMs: number): StartingStep | Failure {
  const until = untilOf(op, nowMs);
  if ('kind' in until) return until;
  const invokes = op.opts?.function_id;
  return { op: 'InvokeFunction', name: stepName(op), ...(invokes && { invokes }), ...until };
}

export async function startInvocation(
  op: Op,
  call: CallWithResponse,
  deps: OperationDeps,
): Promise<Failure | undefined> {
  const step = pendingInvocation(op, call.nowMs);
  if ('kind' in step) return step;
  const invoking = await startStep(op, call, deps, step);
  if (!invoking || 'kind' in invoking) return invoking;
  if (invoking.until !== undefined) await enqueueWake(op, call, deps, { untilMs: invoking.until });
  await deps.invocations.invokeFromStep(call.loaded.run, op, call.loaded.event);
  return undefined;
}
