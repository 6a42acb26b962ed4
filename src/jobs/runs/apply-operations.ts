/** Applies the operations of an app's response to the run (docs/protocol.md#operations). */
import type { Failure } from '../../functions/interpret-response.ts';
import { permanentFailure, retriableFailure } from '../../functions/interpret-response.ts';
import { payloadOf } from '../../model/events/event.ts';
import { compileWait } from '../../model/expressions/expression.ts';
import { MAX_STEP_BYTES, MAX_STEPS, type Memo, type Pending } from '../../model/runs/memo.ts';
import { errorOf, failureMemo, type Op, stepName } from '../../model/runs/operation.ts';
import type { Run } from '../../model/runs/run.ts';
import { waitKey } from '../../model/runs/wait.ts';
import { indexWait } from '../../model/runs/wait-index.ts';
import { MAX_WAIT_MS, momentMs } from '../../model/values/duration.ts';
import type { Loaded } from '../../store/runs/runs.ts';
import type { Steps } from '../../store/runs/steps.ts';
import type { Waits } from '../../store/runs/waits.ts';
import type { TracedRunRef } from '../queues/queues.ts';
import type { Invocations } from './invocations.ts';
import type { RunScheduler } from './run-scheduler.ts';
import type { RunTransitions } from './state-transitions.ts';
import type { WaitMatcher } from './wait-matcher.ts';

export interface ApplyOperationsDeps {
  transitions: RunTransitions;
  steps: Steps;
  waits: Waits;
  waitMatcher: WaitMatcher;
  invocations: Invocations;
  scheduler: RunScheduler;
}

/** A call and its context, once the app has answered. */
export interface AnsweredCall {
  loaded: Loaded & { event: NonNullable<Loaded['event']> };
  ref: TracedRunRef;
  /** Retries of a planned step. */
  retries: number;
  /** Whether another attempt of this call may follow. */
  mayRetry: boolean;
  startedAt: number;
}

/** @returns the failure of the attempt, if an operation fails it */
export async function applyOperations(
  ops: readonly Op[],
  call: AnsweredCall,
  deps: ApplyOperationsDeps,
): Promise<Failure | undefined> {
  let failure: Failure | undefined;
  for (const op of ops) {
    failure = (await applyOp(op, call, deps)) ?? failure;
    // The run is about to end: no further step starts.
    if (failure?.retriable === false) return failure;
  }
  return failure ?? withoutProgress(ops, call);
}

/** Fails a response after which the run would never continue. */
function withoutProgress(ops: readonly Op[], { loaded: { pending, memos } }: AnsweredCall): Failure | undefined {
  if (pending > 0 || ops.some(({ id }) => !Object.hasOwn(memos, id))) return undefined;
  const [repeated] = ops;
  return retriableFailure(
    'AppError',
    repeated
      ? `the app started step "${stepName(repeated)}" again, which is finished; does it fetch the steps that a large call omits (use_api)?`
      : 'the app returned no operation for a function that is not finished',
  );
}

async function applyOp(op: Op, call: AnsweredCall, deps: ApplyOperationsDeps): Promise<Failure | undefined> {
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
    case 'InvokeFunction':
      return startInvocation(op, call, deps);
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

async function finishStep(
  run: Run,
  op: Op,
  memo: Memo,
  { transitions }: ApplyOperationsDeps,
): Promise<Failure | undefined> {
  const bytes = Buffer.byteLength(JSON.stringify(memo));
  if (bytes > MAX_STEP_BYTES) {
    const message = `the output of step "${stepName(op)}" has ${bytes} bytes, more than ${MAX_STEP_BYTES}; store large data elsewhere and return a reference`;
    return permanentFailure('OutputTooLarge', message);
  }
  await transitions.finishStep(run.env, run.id, op.id, memo);
  return undefined;
}

/** Stores the step as pending. @returns undefined when it is finished already, or its run has ended */
async function startStep(
  op: Op,
  call: AnsweredCall,
  { steps }: ApplyOperationsDeps,
  step: Omit<Pending, 'since'>,
): Promise<Pending | Failure | undefined> {
  const started = await steps.begin(call.loaded.run, op.id, { ...step, since: call.startedAt });
  if (started !== 'steps') return started;
  return permanentFailure(
    'TooManySteps',
    `the run has more than ${MAX_STEPS} steps; split the function, and invoke its parts`,
  );
}

async function planStep(op: Op, call: AnsweredCall, deps: ApplyOperationsDeps): Promise<Failure | undefined> {
  const planned = await startStep(op, call, deps, { op: 'StepPlanned', name: stepName(op) });
  if (planned && 'kind' in planned) return planned;
  if (planned) await deps.scheduler.enqueueCall({ ref: call.ref, stepId: op.id, retries: call.retries });
}

async function startSleep(op: Op, call: AnsweredCall, deps: ApplyOperationsDeps): Promise<Failure | undefined> {
  const text = op.opts?.duration ?? op.name ?? '';
  const until = momentMs(text, Date.now());
  if (until === undefined)
    return permanentFailure(
      'InvalidSleep',
      `step "${stepName(op)}" sleeps for ${JSON.stringify(text)}, which is neither a time string nor an ISO date`,
    );
  if (isTooFar(until)) return tooFar('SleepTooLong', `step "${stepName(op)}" sleeps for ${JSON.stringify(text)}`);
  const sleeping = await startStep(op, call, deps, { op: 'Sleep', name: stepName(op), until });
  if (sleeping && 'kind' in sleeping) return sleeping;
  if (sleeping?.until !== undefined) await enqueueWake(op, call, deps, { untilMs: sleeping.until });
  return undefined;
}

async function startWait(op: Op, call: AnsweredCall, deps: ApplyOperationsDeps): Promise<Failure | undefined> {
  const { run, event } = call.loaded;
  const eventName = op.opts?.event ?? op.name ?? '';
  const expression = op.opts?.if ?? undefined;
  const problem = eventName === '' ? 'waits for an event without a name' : expression && problemOf(expression);
  if (problem) return permanentFailure('InvalidWait', `step "${stepName(op)}" ${problem}`);
  const until = untilOf(op);
  if (until && 'kind' in until) return until;
  const waiting = await startStep(op, call, deps, { op: 'WaitForEvent', name: eventName, ...until });
  if (!waiting || 'kind' in waiting) return waiting;
  const described = {
    runId: run.id,
    functionId: run.functionId,
    eventId: run.eventId,
    stepId: op.id,
    ...(expression && { expression }),
    ...until,
  };
  const added = { key: waitKey(described), eventName, ...indexWait(described, payloadOf(event)) };
  // Before an event can match the wait: a match removes the wake job.
  if (waiting.until !== undefined) await enqueueWake(op, call, deps, { untilMs: waiting.until, eventName });
  const stored = await deps.waits.add(run.env, [added], Date.now());
  await deps.waitMatcher.matchPastEvents(run.env, eventName, stored, call.startedAt);
  return undefined;
}

async function startInvocation(op: Op, call: AnsweredCall, deps: ApplyOperationsDeps): Promise<Failure | undefined> {
  const until = untilOf(op);
  if (until && 'kind' in until) return until;
  const invoking = await startStep(op, call, deps, { op: 'InvokeFunction', name: stepName(op), ...until });
  if (!invoking || 'kind' in invoking) return invoking;
  if (invoking.until !== undefined) await enqueueWake(op, call, deps, { untilMs: invoking.until });
  await deps.invocations.invokeFromStep(call.loaded.run, op);
  return undefined;
}

async function enqueueWake(
  op: Op,
  { ref }: AnsweredCall,
  { scheduler }: ApplyOperationsDeps,
  wake: { untilMs: number; eventName?: string },
): Promise<void> {
  await scheduler.enqueueWake({ ref, stepId: op.id, nowMs: Date.now(), ...wake });
}

/** When the step times out, from its `timeout`; a failure if that is invalid. */
function untilOf(op: Op): { until?: number } | Failure {
  const timeout = op.opts?.timeout;
  if (timeout === undefined || timeout === null) return {};
  const until = momentMs(timeout, Date.now());
  if (until !== undefined && isTooFar(until)) {
    return tooFar('TimeoutTooLong', `step "${stepName(op)}" has the timeout ${JSON.stringify(timeout)}`);
  }
  if (until !== undefined) return { until };
  return permanentFailure(
    'InvalidTimeout',
    `step "${stepName(op)}" has the timeout ${JSON.stringify(timeout)}, which is neither a time string nor an ISO date`,
  );
}

function isTooFar(untilMs: number): boolean {
  return untilMs - Date.now() > MAX_WAIT_MS;
}

function tooFar(name: string, what: string): Failure {
  return permanentFailure(
    name,
    `${what}, which ends more than ${MAX_WAIT_MS / 86_400_000} days from now; use a shorter time`,
  );
}

function problemOf(expression: string): string | undefined {
  try {
    compileWait(expression);
    return undefined;
  } catch (error) {
    return `has an invalid "if": ${(error as Error).message}`;
  }
}
