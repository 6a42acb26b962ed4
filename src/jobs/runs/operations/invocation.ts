/** `InvokeFunction`: the step ends with the run of another function, or at its timeout. */
import type { Failure } from '../../../functions/interpret-response.ts';
import { type Op, stepName } from '../../../model/runs/operation.ts';
import type { AnsweredCall, OperationDeps } from './operation-context.ts';
import { enqueueWake, startStep } from './steps.ts';
import { untilOf } from './timeout.ts';

export async function startInvocation(op: Op, call: AnsweredCall, deps: OperationDeps): Promise<Failure | undefined> {
  const until = untilOf(op);
  if (until && 'kind' in until) return until;
  const invoking = await startStep(op, call, deps, { op: 'InvokeFunction', name: stepName(op), ...until });
  if (!invoking || 'kind' in invoking) return invoking;
  if (invoking.until !== undefined) await enqueueWake(op, call, deps, { untilMs: invoking.until });
  await deps.invocations.invokeFromStep(call.loaded.run, op, call.loaded.event);
  return undefined;
}
