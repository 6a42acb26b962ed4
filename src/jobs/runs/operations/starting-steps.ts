/** Pending steps that the operations of a response start. They begin together, before anything else of the response is applied: otherwise a
 *  step that ends immediately would seem to be the last pending one, and schedule the next call. */
import type { Failure } from '../../../functions/interpret-response.ts';
import type { Op } from '../../../model/runs/operation.ts';
import type { CallWithResponse, OperationDeps } from './operation-context.ts';
import { pendingStep, type StartingStep } from './steps.ts';

/** The pending step that an operation starts.
 *  @returns undefined if it starts none; a failure if it is invalid */
export type PendingOf = (op: Op, nowMs: number) => StartingStep | Failure | undefined;

/** Begins the steps up to the first invalid operation.
 *  @returns the call with the begun steps; unchanged if the response has a single operation */
export async function beginTogether(
  ops: readonly Op[],
  call: CallWithResponse,
  { steps }: OperationDeps,
  pendingOf: PendingOf,
): Promise<CallWithResponse> {
  if (ops.length < 2) return call;
  const starting = [];
  for (const op of ops) {
    const step = pendingOf(op, call.nowMs);
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
