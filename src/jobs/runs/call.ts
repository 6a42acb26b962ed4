/** The call job: calls a function for its run and applies the outcome to the run. Each failed call is an attempt of the
 *  job, which BullMQ repeats after the delay that the failure asks for. */
import { UnrecoverableError } from 'bullmq';
import type { FunctionClient } from '../../functions/function-client.ts';
import { type Failure, type Outcome, permanentFailure, retriableFailure } from '../../functions/interpret-response.ts';
import type { EventRecord } from '../../model/events/event.ts';
import { MAX_STEP_BYTES } from '../../model/runs/memo.ts';
import type { Op } from '../../model/runs/operation.ts';
import { withStepInput } from '../../model/runs/step-input.ts';
import type { Events } from '../../store/events/events.ts';
import type { LeftOver, Loaded } from '../../store/runs/runs.ts';
import type { ConnectCaller } from '../connect/connect-caller.ts';
import type { FunctionTables } from '../ingestion/function-tables.ts';
import { type CallJob, type JobAttempts, toRunRef } from '../queues/queues.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';
import { applyBeside, applyOperations, problemOf } from './apply-operations.ts';
import { callJobId } from './call-ref.ts';
import { countedCall } from './counted-call.ts';
import { attemptsAt, type FailedCallDeps, firstAttempt, retryFromCheckpoint, settle } from './failed-call.ts';
import { mayCome, missingEvent } from './missing-event.ts';
import type { AnsweredCall, OperationDeps } from './operations/operation-context.ts';
import { attemptHistory, type CallAttempt, needsNoHistory } from './run-history.ts';
import { AttemptFailed, isJobOutcome, RunHeld, retryStoreWrites, withServiceErrors } from './service-errors.ts';
import type { TimeoutTimers } from './timeout-timers.ts';
import { isTooLate, watchStart } from './timeouts.ts';

export interface CallDeps extends OperationDeps, FailedCallDeps {
  functions: FunctionTables;
  events: Events;
  functionClient: FunctionClient;
  timeoutTimers: TimeoutTimers;
  connectCaller: Pick<ConnectCaller, 'finish'>;
  telemetry: Telemetry;
  /** A run that is idle for so long is reconciled. */
  reconcileAfterMs: number;
}

/** @throws AttemptFailed when another attempt follows, UnrecoverableError when the run has failed; Redis's error when
 *    it refuses commands, or RunHeld: then the attempt has no outcome and must be repeated */
export async function call(job: CallJob, queuedAt: number, attempts: JobAttempts, deps: CallDeps): Promise<void> {
  const { runId, at, stepId } = job;
  const finish = () => deps.connectCaller.finish({ runId, at, stepId, attempt: attempts.made });
  try {
    await withServiceErrors(job, attempts, deps, () => callOnce(job, queuedAt, attempts, deps));
  } catch (error) {
    if (isJobOutcome(error)) await finish();
    throw error;
  }
  await finish();
}

async function callOnce(job: CallJob, queuedAt: number, attempts: JobAttempts, deps: CallDeps): Promise<void> {
  const startedAt = Date.now();
  const { env, runId, eventId, at, stepId } = job;
  if (await isTooLate(job, startedAt, deps)) return;
  const loaded = await deps.runs.load(
    { env, runId, eventId, at, stepId },
    attempts.made,
    startedAt,
    startedAt + deps.reconcileAfterMs,
  );
  if (!loaded) return;
  if ('ended' in loaded) return deps.transitions.repeatEnd(loaded.ended);
  if ('held' in loaded) throw new RunHeld(loaded.held);
  if ('next' in loaded) return deps.transitions.scheduleNextCall(loaded.next, loaded.finishedSteps);
  await watchStart(job, loaded, attempts, startedAt, deps);
  recordStart(loaded, startedAt, deps.telemetry);
  const counted = attemptsAt(job, loaded.stack.length, attempts);
  const result = await attempt({ job, loaded, attempts: counted, startedAt, queuedAt }, deps);
  if (!result) return;
  const { failure, one } = result;
  if (failure.retriable && one.attempts.made + 1 < attempts.max) {
    await retryStoreWrites(() => deps.runs.recordError(env, runId, failure.error));
    const { continuesAt } = one;
    if (continuesAt === undefined) throw new AttemptFailed(failure.error, failure.retryAfterMs);
    await retryFromCheckpoint({ ...one, continuesAt }, failure, attempts.max, deps);
    return deps.telemetry.publishRun(loaded.run, 'Running', failure.error);
  }
  await retryStoreWrites(() => deps.transitions.fail(loaded.run, failure, loaded.event));
  throw new UnrecoverableError(`${failure.error.name}: ${failure.error.message}`);
}

/** Of the first call of a run, how long it was due. A re-run and the run of a batch are due since they were created, any other run since its event. */
function recordStart({ run, event }: Loaded, startedAt: number, telemetry: Telemetry): void {
  if (run.startedAt !== startedAt) {
    // Who watches the run sees that it no longer sleeps, waits, or is to be retried.
    telemetry.publishRun(run, 'Running');
    return;
  }
  const dueAt = run.retryOf || run.batch || !event ? run.queuedAt : Math.max(event.received_at, event.ts);
  telemetry.recordRunStart(run, Math.max(0, startedAt - dueAt));
}

/** A failed attempt, and the state of the run that it counts for. */
interface FailedAttempt {
  failure: Failure;
  one: CallAttempt;
}

/** Calls the function, adds the attempt to the run's history, and applies the outcome.
 *  @returns the failure, if the attempt failed and counts */
async function attempt(called: CallAttempt, deps: CallDeps): Promise<FailedAttempt | undefined> {
  const { job, loaded } = called;
  try {
    const outcome = await callFunction(called, deps);
    const early = outcome.kind === 'failed' ? outcome : tooLarge(outcome);
    const one = early || hasFailedStep(outcome) ? await settle(called, deps) : called;
    if (!one) return undefined;
    const noHistory = needsNoHistory(loaded, outcome, one.attempts.made);
    const addHistory = async () => {
      const entries = attemptHistory(early ?? outcome, one, problemOf);
      await deps.runs.appendHistory(job.env, job.runId, entries);
      deps.telemetry.recordHistory(loaded.run, entries, loaded.memos);
    };
    if (!noHistory) await retryStoreWrites(addHistory);
    const reported = outcome.kind === 'steps' ? [] : (outcome.ops ?? []);
    const beside =
      reported.length > 0 ? await retryStoreWrites(() => applyBeside(reported, toAnsweredCall(one), deps)) : {};
    const failure = early ?? beside.failure;
    if (failure) return { failure, one: beside.at === undefined ? one : continuing(one, beside.at) };
    const applied = await retryStoreWrites(() => applyOutcome(outcome, one, deps));
    if (applied && 'kind' in applied) return settleFailure(applied, one, deps);
    if (noHistory && applied?.checkpointed) await retryStoreWrites(addHistory);
    return undefined;
  } finally {
    const { at } = job;
    if (loaded.planOnly && at !== undefined)
      await retryStoreWrites(() => deps.runs.donePlanning(job.env, job.runId, at));
  }
}

async function settleFailure(failure: Failure, one: CallAttempt, deps: CallDeps): Promise<FailedAttempt | undefined> {
  if (failure.at !== undefined) return { failure, one: continuing(one, failure.at) };
  const settled = await settle(one, deps);
  return settled && { failure, one: settled };
}

/** The attempt as one of another call, with the steps that were stored before it failed. */
function continuing(one: CallAttempt, finishedSteps: number): CallAttempt {
  if (one.job.at === undefined) return one;
  return { ...one, continuesAt: finishedSteps, attempts: firstAttempt(one.attempts) };
}

/** Whether the outcome may depend on the number of attempts. */
function hasFailedStep(outcome: Outcome): boolean {
  return outcome.kind === 'steps' && outcome.ops.some(({ op }) => op === 'StepError');
}

async function callFunction(
  { job: { at, stepId }, loaded, attempts, startedAt }: CallAttempt,
  deps: CallDeps,
): Promise<Outcome> {
  const { run, stack, memos, planOnly } = loaded;
  const fn = await deps.functions.find(run.env, run.functionId);
  if (!fn) return permanentFailure('FunctionGone', `the function ${run.functionId} is not registered`);
  const events = run.batch && (await batchOf(run.env, run.batch, deps.events));
  const event = events ? events[0] : loaded.event;
  if (!event || (events && events.length < (run.batch?.length ?? 0) && mayCome(run, startedAt))) {
    return missingEvent(run, startedAt);
  }
  // Only the official SDKs defer functions; they defer again what they are not told of.
  const defers = run.defers === undefined ? undefined : await deps.defers.ids(run.env, run.id);
  const calledAt = performance.now();
  const context = {
    run: { ...run, attempt: attempts.made },
    event,
    events,
    maxAttempts: attempts.max,
    at,
    executions: attempts.executions,
    jobId: callJobId(run.id, at, stepId),
    startedAt,
    stepId,
    stack,
    memos: withStepInput(memos, run.fromStep),
    planOnly: planOnly && stepId === undefined,
    defers,
  };
  const outcome = await countedCall(fn, context, deps);
  deps.telemetry.recordCall(outcome, performance.now() - calledAt);
  return outcome;
}

/** The events of a batch that are still stored; they stay as long as the run needs them. */
async function batchOf(env: string, ids: readonly string[], events: Events): Promise<EventRecord[]> {
  await Promise.all(ids.map((id) => events.extendRetention(env, id)));
  return (await events.records(env, ids)).filter((event) => event !== undefined);
}

/** Idempotent.
 *  @returns the failure, if an operation fails the attempt; or what the run left over, if it has completed */
async function applyOutcome(
  outcome: Outcome,
  attempt: CallAttempt,
  deps: CallDeps,
): Promise<Failure | LeftOver | undefined> {
  const { job, loaded } = attempt;
  if (outcome.kind === 'completed') {
    const { output, response } = outcome;
    return deps.transitions.complete(loaded.run, { output, ...(response && { response }) }, loaded.event);
  }
  if (outcome.kind !== 'steps') return undefined;
  const continued = await continueAfterCheckpoint(outcome.ops, attempt, deps);
  const failure = continued ? undefined : await applyOperations(outcome.ops, toAnsweredCall(attempt, outcome), deps);
  deps.telemetry.publishRun(loaded.run, 'Running', null);
  if (failure) return { ...failure, retryAfterMs: outcome.retryAfterMs };
  if (job.at !== undefined) await deps.runs.recordAnswered(job.env, job.runId, job.at);
  return undefined;
}

/** A response without a step of its own is the end of a call that has stored steps (its app limits the time of a call): another call follows.
 *  @returns whether it does */
async function continueAfterCheckpoint(
  ops: readonly Op[],
  { job: { env, runId, at }, loaded, attempts }: CallAttempt,
  { checkpoints, scheduler }: CallDeps,
): Promise<boolean> {
  if (at === undefined || ops.some(({ op }) => op !== 'DiscoveryRequest')) return false;
  const continuesAt = await checkpoints.handOver(env, runId, String(at));
  if (continuesAt === undefined) return false;
  await scheduler.enqueueCall({ ref: toRunRef(loaded.run), at: continuesAt, retries: attempts.max - 1 });
  return true;
}

function tooLarge(outcome: Outcome): Failure | undefined {
  if (outcome.kind !== 'completed' || Buffer.byteLength(outcome.output) <= MAX_STEP_BYTES) return undefined;
  return retriableFailure(
    'OutputTooLarge',
    `the function's output is larger than ${MAX_STEP_BYTES} bytes; store large data elsewhere and return a reference`,
  );
}

function toAnsweredCall(
  { loaded, attempts, startedAt }: CallAttempt,
  { noRetry = false, race = false }: { noRetry?: boolean; race?: boolean } = {},
): AnsweredCall {
  return {
    loaded: loaded as AnsweredCall['loaded'],
    ref: toRunRef(loaded.run),
    retries: attempts.max - 1,
    mayRetry: !noRetry && attempts.made + 1 < attempts.max,
    startedAt,
    race,
  };
}
