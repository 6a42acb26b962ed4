/** What a call's operations do to its run (docs/protocol.md#operations). */
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
  life: RunTransitions;
  steps: Steps;
  waits: Waits;
  arrivals: WaitMatcher;
  invocations: Invocations;
  schedule: RunScheduler;
}

/** The call that was answered. */
export interface AnsweredCall {
  loaded: Loaded & { event: NonNullable<Loaded['event']> };
  ref: TracedRunRef;
  /** Tries after the first that a step of its own may have. */
  retries: number;
  /** Another attempt at this call may follow. */
  mayRetry: boolean;
  startedAt: number;
}

/** Does what each operation says.
 *  @returns how the attempt failed, when one of them says so */
export async function applyOperations(
  ops: readonly Op[],
  call: AnsweredCall,
  deps: ApplyOperationsDeps,
): Promise<Failure | undefined> {
  let failure: Failure | undefined;
  for (const op of ops) {
    failure = (await applyOp(op, call, deps)) ?? failure;
    // The run is about to end: nothing more is begun for it.
    if (failure?.retriable === false) return failure;
  }
  return failure ?? standstill(ops, call);
}

/** An answer after which nothing would ever happen to the run. */
function standstill(ops: readonly Op[], { loaded: { pending, memos } }: AnsweredCall): Failure | undefined {
  if (pending > 0 || ops.some(({ id }) => !Object.hasOwn(memos, id))) return undefined;
  const [repeated] = ops;
  return retriableFailure(
    'AppError',
    repeated
      ? `the app began step "${stepName(repeated)}" again, which is done; does it read the steps that a large call leaves out (use_api)?`
      : 'the app answered that nothing is left to do and that the function is not done',
  );
}

async function applyOp(op: Op, call: AnsweredCall, deps: ApplyOperationsDeps): Promise<Failure | undefined> {
  const { run, event } = call.loaded;
  switch (op.op) {
    case 'Step':
    case 'StepRun':
      return finish(run, op, { data: op.data ?? null }, deps);
    case 'StepFailed':
      return finish(run, op, failureMemo(op), deps);
    case 'StepError':
      if (call.mayRetry) return { kind: 'failed', error: errorOf(op), retriable: true };
      return finish(run, op, failureMemo(op), deps);
    case 'StepPlanned':
      return plan(op, call, deps);
    case 'Sleep':
      return sleep(op, call, deps);
    case 'WaitForEvent':
      return wait(op, call, deps);
    case 'InvokeFunction':
      return invoke(op, call, deps);
    case 'RunComplete':
      // Taken for the completion that it is where the answer was interpreted.
      return undefined;
    case 'StepNotFound':
      return retriableFailure(
        'StepNotFound',
        `the function has no step "${stepName(op)}" any more; has its code changed? (run of event ${event.name})`,
      );
  }
}

async function finish(run: Run, op: Op, memo: Memo, { life }: ApplyOperationsDeps): Promise<Failure | undefined> {
  const bytes = Buffer.byteLength(JSON.stringify(memo));
  if (bytes > MAX_STEP_BYTES) {
    const message = `the output of step "${stepName(op)}" has ${bytes} bytes, more than ${MAX_STEP_BYTES}; keep large data elsewhere and return where it is`;
    return permanentFailure('OutputTooLarge', message);
  }
  await life.finishStep(run.env, run.id, op.id, memo);
  return undefined;
}

/** Notes that the step has begun; undefined when it is done, or its run has ended. */
async function begin(
  op: Op,
  call: AnsweredCall,
  { steps }: ApplyOperationsDeps,
  step: Omit<Pending, 'since'>,
): Promise<Pending | Failure | undefined> {
  const begun = await steps.begin(call.loaded.run, op.id, { ...step, since: call.startedAt });
  if (begun !== 'steps') return begun;
  return permanentFailure(
    'TooManySteps',
    `the run has more than ${MAX_STEPS} steps; hand parts of it to other functions`,
  );
}

async function plan(op: Op, call: AnsweredCall, deps: ApplyOperationsDeps): Promise<Failure | undefined> {
  const planned = await begin(op, call, deps, { op: 'StepPlanned', name: stepName(op) });
  if (planned && 'kind' in planned) return planned;
  if (planned) await deps.schedule.call({ ref: call.ref, stepId: op.id, retries: call.retries });
}

async function sleep(op: Op, call: AnsweredCall, deps: ApplyOperationsDeps): Promise<Failure | undefined> {
  const text = op.opts?.duration ?? op.name ?? '';
  const until = momentMs(text, Date.now());
  if (until === undefined)
    return permanentFailure(
      'InvalidSleep',
      `step "${stepName(op)}" sleeps for ${JSON.stringify(text)}, which is no time string and no ISO date`,
    );
  if (isTooFar(until)) return tooFar('SleepTooLong', `step "${stepName(op)}" sleeps for ${JSON.stringify(text)}`);
  const asleep = await begin(op, call, deps, { op: 'Sleep', name: stepName(op), until });
  if (asleep && 'kind' in asleep) return asleep;
  if (asleep?.until !== undefined) await deps.schedule.wake(call.ref, op.id, asleep.until, Date.now());
  return undefined;
}

async function wait(op: Op, call: AnsweredCall, deps: ApplyOperationsDeps): Promise<Failure | undefined> {
  const { run, event } = call.loaded;
  const eventName = op.opts?.event ?? op.name ?? '';
  const expression = op.opts?.if ?? undefined;
  const problem = eventName === '' ? 'names no event' : expression && problemOf(expression);
  if (problem) return permanentFailure('InvalidWait', `step "${stepName(op)}" ${problem}`);
  const until = untilOf(op);
  if (until && 'kind' in until) return until;
  const waiting = await begin(op, call, deps, { op: 'WaitForEvent', name: eventName, ...until });
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
  // Before the wait can be met: whatever meets it removes the wake job.
  if (waiting.until !== undefined) await deps.schedule.wake(call.ref, op.id, waiting.until, Date.now(), eventName);
  const stored = await deps.waits.add(run.env, [added], Date.now());
  await deps.arrivals.lookBack(run.env, eventName, stored, call.startedAt);
  return undefined;
}

async function invoke(op: Op, call: AnsweredCall, deps: ApplyOperationsDeps): Promise<Failure | undefined> {
  const until = untilOf(op);
  if (until && 'kind' in until) return until;
  const begun = await begin(op, call, deps, { op: 'InvokeFunction', name: stepName(op), ...until });
  if (!begun || 'kind' in begun) return begun;
  if (begun.until !== undefined) await deps.schedule.wake(call.ref, op.id, begun.until, Date.now());
  await deps.invocations.invoke(call.loaded.run, op);
  return undefined;
}

/** When the step gives up, from its `timeout`; or what is wrong with that. */
function untilOf(op: Op): { until?: number } | Failure {
  const timeout = op.opts?.timeout;
  if (timeout === undefined || timeout === null) return {};
  const until = momentMs(timeout, Date.now());
  if (until !== undefined && isTooFar(until)) {
    return tooFar('TimeoutTooLong', `step "${stepName(op)}" has the time-out ${JSON.stringify(timeout)}`);
  }
  if (until !== undefined) return { until };
  return permanentFailure(
    'InvalidTimeout',
    `step "${stepName(op)}" has the time-out ${JSON.stringify(timeout)}, which is no time string and no ISO date`,
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
    return `waits with an "if" that is refused: ${(error as Error).message}`;
  }
}
