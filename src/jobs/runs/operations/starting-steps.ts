/** Pending steps that the operations of a response start. They begin together, before anything else of the response is applied: a step
 *  that ends at once must not seem to be the last pending one, which would call the function. */
import type { Failure } from '../../../functions/interpret-response.ts';
import type { Op } from '../../../model/runs/operation.ts';
import { pendingInvocation } from './invocation.ts';
import type { AnsweredCall, OperationDeps } from './operation-context.ts';
import { pendingRequest } from './request.ts';
import { pendingSignal } from './signal.ts';
import { pendingSleep } from './sleep.ts';
import { pendingStep, plannedStep, type StartingStep } from './steps.ts';
import { pendingWait } from './wait.ts';

/** The pending step that the operation starts.
 *  @returns undefined if the operation starts none; a failure if it is invalid */
function startingStep(op: Op, nowMs: number): StartingStep | Failure | undefined {
  switch (op.op) {
    case 'StepPlanned':
      return plannedStep(op);
    case 'Sleep':
      return pendingSleep(op, nowMs);
    case 'WaitForEvent':
      return pendingWait(op, nowMs);
    case 'WaitForSignal':
      return pendingSignal(op, nowMs);
    case 'InvokeFunction':
      return pendingInvocation(op, nowMs);
    case 'Gateway':
    case 'AIGateway':
      return pendingRequest(op);
    default:
      return undefined;
  }
}

/** Begins the steps up to the first invalid operation.
 *  @returns the call with the begun steps; unchanged if the response has a single operation */
export async function beginTogether(
  ops: readonly Op[],
  call: AnsweredCall,
  { steps }: OperationDeps,
): Promise<AnsweredCall> {
  if (ops.length < 2) return call;
  const starting = [];
  for (const op of ops) {
    const step = startingStep(op, call.nowMs);
    if (step && 'kind' in step) break;
    if (step) starting.push({ op, step });
  }
  if (starting.length === 0) return call;
  const together = starting.length > 1 ? { ...call, group: call.loaded.stack.length } : call;
  const begun = await steps.beginAll(
    call.loaded.run,
    starting.map(({ op, step }) => ({ stepId: op.id, step: pendingStep(op, together, step) })),
  );
  return { ...together, begun: new Map(starting.map(({ op }, i) => [op.id, begun[i]])) };
}
