/** Finishes, plans and starts steps of a run. */
import type { Failure } from '../../../functions/interpret-response.ts';
import { permanentFailure, retriableFailure } from '../../../functions/interpret-response.ts';
import { MAX_STEP_BYTES, MAX_STEPS, type Memo, type Pending } from '../../../model/runs/memo.ts';
import { errorOf, failureMemo, type Op, stepName } from '../../../model/runs/operation.ts';
import type { Run } from '../../../model/runs/run.ts';
import type { AnsweredCall, OperationDeps } from './operation-context.ts';

/** `StepRun`, and `Step` of earlier versions: a finished step. */
export async function runStep(op: Op, call: AnsweredCall, deps: OperationDeps): Promise<Failure | undefined> {
  return finishStep(call.loaded.run, op, { data: op.data ?? null }, deps);
}

/** `StepError`: an attempt of a step has failed. */
export async function tryStep(op: Op, call: AnsweredCall, deps: OperationDeps): Promise<Failure | undefined> {
  if (!call.mayRetry || op.error?.noRetry === true) return failStep(op, call, deps);
  return { kind: 'failed', error: errorOf(op), retriable: true };
}

/** `StepFailed`: a step has failed for good. */
export async function failStep(op: Op, call: AnsweredCall, deps: OperationDeps): Promise<Failure | undefined> {
  return finishStep(call.loaded.run, op, failureMemo(op), deps);
}

/** `StepNotFound`: the function no longer has the step that was called. */
export async function stepNotFound(op: Op, { loaded }: AnsweredCall): Promise<Failure | undefined> {
  return retriableFailure(
    'StepNotFound',
    `the function no longer has the step "${stepName(op)}"; has its code changed? (run of event ${loaded.event.name})`,
  );
}

export async function finishStep(
  run: Run,
  op: Op,
  memo: Memo,
  { transitions }: OperationDeps,
): Promise<Failure | undefined> {
  const bytes = Buffer.byteLength(JSON.stringify(memo));
  if (bytes > MAX_STEP_BYTES) {
    const message = `the output of step "${stepName(op)}" has ${bytes} bytes, more than ${MAX_STEP_BYTES}; store large data elsewhere and return a reference`;
    return retriableFailure('OutputTooLarge', message);
  }
  await transitions.finishStep(run.env, run.id, op.id, memo);
  return undefined;
}

/** Stores the step as pending. @returns undefined when it is finished already, or its run has ended */
export async function startStep(
  op: Op,
  call: AnsweredCall,
  { steps }: OperationDeps,
  step: Omit<Pending, 'since'>,
): Promise<Pending | Failure | undefined> {
  const started = await steps.begin(call.loaded.run, op.id, { ...step, since: call.startedAt });
  if (started !== 'steps') return started;
  return permanentFailure(
    'TooManySteps',
    `the run has more than ${MAX_STEPS} steps; split the function, and invoke its parts`,
  );
}

export async function planStep(op: Op, call: AnsweredCall, deps: OperationDeps): Promise<Failure | undefined> {
  const planned = await startStep(op, call, deps, { op: 'StepPlanned', name: stepName(op) });
  if (planned && 'kind' in planned) return planned;
  if (planned) await deps.scheduler.enqueueCall({ ref: call.ref, stepId: op.id, retries: call.retries });
}

export async function enqueueWake(
  op: Op,
  { ref }: AnsweredCall,
  { scheduler }: OperationDeps,
  wake: { untilMs: number; eventName?: string },
): Promise<void> {
  await scheduler.enqueueWake({ ref, stepId: op.id, nowMs: Date.now(), ...wake });
}
