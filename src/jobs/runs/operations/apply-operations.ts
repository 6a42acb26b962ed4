/** Applies the operations of an app's response to the run (docs/protocol.md#operations). */
import type { Failure } from '../../../functions/interpret-response.ts';
import { retriableFailure } from '../../../functions/interpret-response.ts';
import { isSideEffect, type Op, sdkNameOf, stepName } from '../../../model/runs/operation.ts';
import type { RunError } from '../../../model/runs/run-error.ts';
import type { CallToSchedule } from '../../queues/call-ref.ts';
import { abortDefer, addDefer } from './defer.ts';
import { finishedStepsOf, finishSteps, isFinished, memoProblemOf } from './finished-steps.ts';
import { pendingInvocation, startInvocation } from './invocation.ts';
import { storeMetadata } from './metadata.ts';
import type { CallWithResponse, OperationDeps } from './operation-context.ts';
import { pendingRequest, startRequest } from './request.ts';
import { pendingSignal, startSignal } from './signal.ts';
import { pendingSleep, startSleep } from './sleep.ts';
import { beginTogether, type PendingOf } from './starting-steps.ts';
import { failStep, plannedStep, planStep, runStep, stateFailure, stepNotFound, tryStep } from './steps.ts';
import { pendingWait, startWait } from './wait.ts';

/** Applies one operation; idempotent.
 *  @param planned collects the calls of planned steps, to be enqueued together
 *  @returns the failure of the attempt, if the operation fails it */
type ApplyOperation = (
  op: Op,
  call: CallWithResponse,
  deps: OperationDeps,
  planned: CallToSchedule[],
) => Promise<Failure | undefined>;

interface Operation {
  apply: ApplyOperation;
  /** Returns the pending step that the operation starts. Operations without it start none. */
  pending?: PendingOf;
}

const NOTHING: Operation = { apply: async () => undefined };

const OPERATIONS: ReadonlyMap<string, Operation> = new Map<string, Operation>([
  ['Step', { apply: runStep }],
  ['StepRun', { apply: runStep }],
  ['StepError', { apply: tryStep }],
  ['StepFailed', { apply: failStep }],
  ['StepPlanned', { apply: planStep, pending: plannedStep }],
  ['StepNotFound', { apply: stepNotFound }],
  ['Sleep', { apply: startSleep, pending: pendingSleep }],
  ['WaitForEvent', { apply: startWait, pending: pendingWait }],
  ['WaitForSignal', { apply: startSignal, pending: pendingSignal }],
  ['InvokeFunction', { apply: startInvocation, pending: pendingInvocation }],
  ['Gateway', { apply: startRequest, pending: pendingRequest }],
  ['AIGateway', { apply: startRequest, pending: pendingRequest }],
  ['DeferAdd', { apply: addDefer }],
  ['DeferAbort', { apply: abortDefer }],
  // interpret-response.ts has already turned these into the end of the call.
  ['RunComplete', NOTHING],
  ['RunError', NOTHING],
  // The operation asks for the next call, which follows anyway if there was progress.
  ['DiscoveryRequest', NOTHING],
]);

export const OPERATION_NAMES: readonly string[] = [...OPERATIONS.keys()];

/** An unsupported operation changes nothing, and is recorded in the run's history. It fails the attempt only if the run could not
 *  continue otherwise.
 *  @returns the failure of the attempt, if an operation fails it */
export async function applyOperations(
  ops: readonly Op[],
  call: CallWithResponse,
  deps: OperationDeps,
): Promise<Failure | undefined> {
  await storeMetadata(ops, call.loaded.run, deps.runMetadata);
  const finished = ops.length > 1 ? ops.filter((op) => isFinished(op, call)) : [];
  const begun = await beginTogether(ops, call, deps, pendingOf);
  if (finished.length === 0) return (await applyEach(ops, begun, deps)) ?? withoutProgress(ops, call);
  return finishSteps(finished, begun, deps, () =>
    applyEach(
      ops.filter((op) => !finished.includes(op)),
      begun,
      deps,
    ),
  );
}

const pendingOf: PendingOf = (op, nowMs) => OPERATIONS.get(op.op)?.pending?.(op, nowMs);

/** @returns the failure of the attempt, if an operation fails it */
export async function applyEach(
  ops: readonly Op[],
  call: CallWithResponse,
  deps: OperationDeps,
): Promise<Failure | undefined> {
  const planned: CallToSchedule[] = [];
  let failure: Failure | undefined;
  for (const op of ops) {
    failure = (await OPERATIONS.get(op.op)?.apply(op, call, deps, planned)) ?? failure;
    // The run is about to end, so no further step starts.
    if (failure?.retriable === false) return failure;
  }
  await deps.scheduler.enqueueCalls(planned);
  return failure;
}

/** Applies the operations that a response reports together with the end of its function or with an error. Schedules no call.
 *  @returns the failure of the run, if an operation fails it; `finishedSteps`: number of finished steps, if the response reported new
 *  ones */
export async function applyReportedSteps(
  ops: readonly Op[],
  call: CallWithResponse,
  deps: OperationDeps,
): Promise<{ failure?: Failure | undefined; finishedSteps?: number }> {
  const { run, stack } = call.loaded;
  await storeMetadata(ops, run, deps.runMetadata);
  const { steps, tooLarge } = finishedStepsOf(ops.filter((op) => isFinished(op, call)));
  const stored = steps.length > 0 ? await deps.checkpoints.store(run.env, run.id, steps) : undefined;
  if (stored?.outcome === 'steps' || stored?.outcome === 'bytes') return { failure: stateFailure(stored.outcome) };
  const failure = (await applyEach(ops.filter(isSideEffect), call, deps)) ?? tooLarge;
  const isNew = stored?.outcome === 'stored' && stored.stackLength > stack.length;
  return { failure, ...(isNew && { finishedSteps: stored.stackLength }) };
}

/** Fails a response after which the run would never continue. */
function withoutProgress(ops: readonly Op[], { loaded: { pending, memos } }: CallWithResponse): Failure | undefined {
  const steps = ops.filter((op) => !isSideEffect(op));
  const isOpen = (op: Op) => OPERATIONS.has(op.op) && !Object.hasOwn(memos, op.id);
  if (pending > 0 || steps.some(isOpen)) return undefined;
  const [unsupported] = steps.map(unsupportedProblemOf).filter((problem) => problem !== undefined);
  if (unsupported) return { kind: 'failed', error: unsupported, retriable: false };
  const [repeated] = steps;
  return retriableFailure(
    'AppError',
    repeated
      ? `the app started step "${stepName(repeated)}" again, which is finished; does it fetch the steps that a large call omits (use_api)?`
      : 'the app returned no operation for a function that is not finished',
  );
}

/** Why an operation is not applied; undefined if it is. */
export function problemOf(op: Op): RunError | undefined {
  return unsupportedProblemOf(op) ?? memoProblemOf(op);
}

function unsupportedProblemOf(op: Op): RunError | undefined {
  if (OPERATIONS.has(op.op)) return undefined;
  const known = OPERATION_NAMES.join(', ');
  const code = JSON.stringify(op.op);
  const what = sdkNameOf(op) ?? `the operation ${code}`;
  const message = `${what} is not supported by this service: step "${stepName(op)}" is the operation ${code}; supported: ${known}`;
  return { name: 'UnsupportedOperation', message };
}
