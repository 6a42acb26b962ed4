/** Applies the operations of an app's response to the run (docs/protocol.md#operations). */
import type { Failure } from '../../functions/interpret-response.ts';
import { retriableFailure } from '../../functions/interpret-response.ts';
import { errorOf, failureMemo, isAside, type Op, stepName } from '../../model/runs/operation.ts';
import { abortDefer, addDefer } from './operations/defer.ts';
import { startInvocation } from './operations/invocation.ts';
import type { AnsweredCall, OperationDeps } from './operations/operation-context.ts';
import { startRequest } from './operations/request.ts';
import { startSignal } from './operations/signal.ts';
import { startSleep } from './operations/sleep.ts';
import { finishStep, planStep } from './operations/steps.ts';
import { startWait } from './operations/wait.ts';

/** @returns the failure of the attempt, if an operation fails it */
export async function applyOperations(
  ops: readonly Op[],
  call: AnsweredCall,
  deps: OperationDeps,
): Promise<Failure | undefined> {
  let failure: Failure | undefined;
  for (const op of ops) {
    failure = (await applyOp(op, call, deps)) ?? failure;
    // The run is about to end: no further step starts.
    if (failure?.retriable === false) return failure;
  }
  return failure ?? withoutProgress(ops, call);
}

/** Applies what a response asks for beside the end of its function, or beside an error.
 *  @returns the failure of the run, if an operation fails it */
export async function applyAside(
  ops: readonly Op[],
  call: AnsweredCall,
  deps: OperationDeps,
): Promise<Failure | undefined> {
  for (const op of ops) {
    const failure = await applyOp(op, call, deps);
    if (failure?.retriable === false) return failure;
  }
  return undefined;
}

/** Fails a response after which the run would never continue. */
function withoutProgress(ops: readonly Op[], { loaded: { pending, memos } }: AnsweredCall): Failure | undefined {
  const steps = ops.filter((op) => !isAside(op));
  if (pending > 0 || steps.some(({ id }) => !Object.hasOwn(memos, id))) return undefined;
  const [repeated] = steps;
  return retriableFailure(
    'AppError',
    repeated
      ? `the app started step "${stepName(repeated)}" again, which is finished; does it fetch the steps that a large call omits (use_api)?`
      : 'the app returned no operation for a function that is not finished',
  );
}

async function applyOp(op: Op, call: AnsweredCall, deps: OperationDeps): Promise<Failure | undefined> {
  const { run, event } = call.loaded;
  switch (op.op) {
    case 'Step':
    case 'StepRun':
      return finishStep(run, op, { data: op.data ?? null }, deps);
    case 'StepFailed':
      return finishStep(run, op, failureMemo(op), deps);
    case 'StepError':
      if (call.mayRetry) return { kind: 'failed', error: errorOf(op), retriable: true };
      return finishStep(run, op, failureMemo(op), deps);
    case 'StepPlanned':
      return planStep(op, call, deps);
    case 'Sleep':
      return startSleep(op, call, deps);
    case 'WaitForEvent':
      return startWait(op, call, deps);
    case 'WaitForSignal':
      return startSignal(op, call, deps);
    case 'InvokeFunction':
      return startInvocation(op, call, deps);
    case 'Gateway':
    case 'AIGateway':
      return startRequest(op, call, deps);
    case 'DeferAdd':
      return addDefer(op, call, deps);
    case 'DeferAbort':
      return abortDefer(op, call, deps);
    case 'RunComplete':
      // interpret-response.ts has turned it into a completion.
      return undefined;
    case 'StepNotFound':
      return retriableFailure(
        'StepNotFound',
        `the function no longer has the step "${stepName(op)}"; has its code changed? (run of event ${event.name})`,
      );
  }
}
