/** Finishes, plans and starts steps of a run. */
import type { Failure } from '../../../functions/interpret-response.ts';
import { retriableFailure } from '../../../functions/interpret-response.ts';
import { MAX_STEP_BYTES, type Memo, type Pending, type StateLimit } from '../../../model/runs/memo.ts';
import { asksForRace, errorOf, failureMemo, type Op, stepName } from '../../../model/runs/operation.ts';
import type { CallToSchedule } from '../../queues/call-ref.ts';
import { STATE_ERRORS } from '../state-transitions.ts';
import type { CallWithResponse, OperationDeps } from './operation-context.ts';

/** Fields of an operation's pending step, without the fields of every step. */
export type StartingStep = Omit<Pending, 'since' | 'race' | 'group'>;

/** `StepRun`, and `Step` of earlier versions: a finished step. */
export async function runStep(op: Op, call: CallWithResponse, deps: OperationDeps): Promise<Failure | undefined> {
  return finishStep(op, { data: op.data ?? null }, call, deps);
}

/** `StepError`: an attempt of a step has failed. */
export async function tryStep(op: Op, call: CallWithResponse, deps: OperationDeps): Promise<Failure | undefined> {
  if (!call.mayRetry || op.error?.noRetry === true) return failStep(op, call, deps);
  return { kind: 'failed', error: errorOf(op), retriable: true };
}

/** `StepFailed`: a step has failed permanently. */
export async function failStep(op: Op, call: CallWithResponse, deps: OperationDeps): Promise<Failure | undefined> {
  return finishStep(op, failureMemo(op), call, deps);
}

/** `StepNotFound`: the function no longer has the step that was called. */
export async function stepNotFound(op: Op, { loaded }: CallWithResponse): Promise<Failure | undefined> {
  return retriableFailure(
    'StepNotFound',
    `the function no longer has the step "${stepName(op)}"; has its code changed? (run of event ${loaded.event.name})`,
  );
}

export async function finishStep(
  op: Op,
  memo: Memo,
  { loaded: { run }, race }: CallWithResponse,
  { transitions }: OperationDeps,
): Promise<Failure | undefined> {
  const failure = tooLarge(op, JSON.stringify(memo));
  if (failure) return failure;
  await transitions.finishStep(run.env, run.id, op.id, memo, { race: race || asksForRace(op) });
  return undefined;
}

/** The failure of the attempt, if the step's memo is too large.
 *  @param memo JSON text */
export function tooLarge(op: Op, memo: string): Failure | undefined {
  const bytes = Buffer.byteLength(memo);
  if (bytes <= MAX_STEP_BYTES) return undefined;
  const message = `the output of step "${stepName(op)}" has ${bytes} bytes, more than ${MAX_STEP_BYTES}; store large data elsewhere and return a reference`;
  return retriableFailure('OutputTooLarge', message);
}

/** Stores the step as pending. @returns undefined if it is already finished, or its run has ended */
export async function startStep(
  op: Op,
  call: CallWithResponse,
  { steps }: OperationDeps,
  step: StartingStep,
): Promise<Pending | Failure | undefined> {
  const started = call.begun?.has(op.id)
    ? call.begun.get(op.id)
    : await steps.begin(call.loaded.run, op.id, pendingStep(op, call, step));
  return started === 'steps' ? stateFailure('steps') : started;
}

/** The failure of a run whose steps are too many, or together too large. */
export function stateFailure(limit: StateLimit): Failure {
  return { kind: 'failed', error: STATE_ERRORS[limit], retriable: false };
}

export function pendingStep(op: Op, { startedAt, race, group }: CallWithResponse, step: StartingStep): Pending {
  return {
    ...step,
    since: startedAt,
    ...((race || asksForRace(op)) && { race: true }),
    ...(group !== undefined && { group }),
  };
}

export function plannedStep(op: Op): StartingStep {
  return { op: 'StepPlanned', name: stepName(op) };
}

/** A step that waits for an event or signal with this name. */
export function waitingStep(kind: 'WaitForEvent' | 'WaitForSignal', op: Op, waitsFor: string): StartingStep {
  const name = stepName(op) || waitsFor;
  return { op: kind, name, ...(name !== waitsFor && { waitsFor }) };
}

/** Plans a step. Its call is enqueued together with the calls of the other planned steps. */
export async function planStep(
  op: Op,
  call: CallWithResponse,
  deps: OperationDeps,
  planned: CallToSchedule[],
): Promise<Failure | undefined> {
  const step = await startStep(op, call, deps, plannedStep(op));
  if (step && 'kind' in step) return step;
  if (step) planned.push({ ref: call.ref, stepId: op.id, retries: call.retries });
  return undefined;
}

export async function enqueueWake(
  op: Op,
  { ref, nowMs }: CallWithResponse,
  { scheduler }: OperationDeps,
  wake: { untilMs: number; eventName?: string },
): Promise<void> {
  await scheduler.enqueueWake({ ref, stepId: op.id, nowMs, ...wake });
}
