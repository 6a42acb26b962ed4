/** The call job: calls a function for its run and applies the outcome to the run. Each failed call is an attempt of the
 *  job, which BullMQ repeats after the delay that the failure asks for. */
import { UnrecoverableError } from 'bullmq';
import type { FunctionClient } from '../../functions/function-client.ts';
import { type Failure, type Outcome, permanentFailure } from '../../functions/interpret-response.ts';
import { MAX_STEP_BYTES } from '../../model/runs/memo.ts';
import type { Loaded, Runs } from '../../store/runs/runs.ts';
import type { ConnectCaller } from '../connect/connect-caller.ts';
import type { FunctionTables } from '../ingestion/function-tables.ts';
import { type CallJob, type JobAttempts, toRunRef } from '../queues/queues.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';
import { applyAside, applyOperations } from './apply-operations.ts';
import type { AnsweredCall, OperationDeps } from './operations/operation-context.ts';
import { attemptHistory, type CallAttempt, needsNoHistory } from './run-history.ts';
import { AttemptFailed, isJobOutcome, retryStoreWrites, withServiceErrors } from './service-errors.ts';

export interface CallDeps extends OperationDeps {
  runs: Runs;
  functions: FunctionTables;
  functionClient: FunctionClient;
  connectCaller: Pick<ConnectCaller, 'finish'>;
  telemetry: Telemetry;
  /** A run that is idle for so long is reconciled. */
  reconcileAfterMs: number;
}

/** @throws AttemptFailed when another attempt follows, UnrecoverableError when the run has failed; Redis's error when
 *    it refuses commands: then the attempt has no outcome and must be repeated */
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
  const loaded = await deps.runs.load(
    { env, runId, eventId, at, stepId },
    attempts.made,
    startedAt,
    startedAt + deps.reconcileAfterMs,
  );
  if (!loaded) return;
  if ('ended' in loaded) return deps.transitions.notifyInvoker(loaded.ended);
  recordStart(loaded, startedAt, deps.telemetry);
  const failure = await attempt({ job, loaded, attempts, startedAt, queuedAt }, deps);
  if (!failure) return;
  if (failure.retriable && attempts.made + 1 < attempts.max) {
    await retryStoreWrites(() => deps.runs.recordError(env, runId, failure.error));
    deps.telemetry.publishRun(loaded.run, 'Running');
    throw new AttemptFailed(failure.error, failure.retryAfterMs);
  }
  await retryStoreWrites(() => deps.transitions.fail(loaded.run, failure.error, loaded.event));
  throw new UnrecoverableError(`${failure.error.name}: ${failure.error.message}`);
}

/** For the first call of a run. A re-run is due since it was created, any other run since its event. */
function recordStart({ run, event }: Loaded, startedAt: number, telemetry: Telemetry): void {
  if (run.startedAt !== startedAt) return;
  const dueAt = run.retryOf || !event ? run.queuedAt : Math.max(event.received_at, event.ts);
  telemetry.recordRunStart(run, Math.max(0, startedAt - dueAt));
}

/** Calls the function, adds the attempt to the run's history, and applies the outcome.
 *  @returns the failure, if the attempt failed */
async function attempt(one: CallAttempt, deps: CallDeps): Promise<Failure | undefined> {
  const { job, loaded, attempts } = one;
  try {
    const outcome = await callFunction(loaded, job, attempts, deps);
    const failure = outcome.kind === 'failed' ? outcome : tooLarge(outcome);
    if (!needsNoHistory(loaded, outcome, attempts.made)) {
      const entries = attemptHistory(failure ?? outcome, one);
      await retryStoreWrites(() => deps.runs.appendHistory(job.env, job.runId, entries));
    }
    const aside = outcome.kind === 'steps' ? [] : (outcome.ops ?? []);
    const asideFailure =
      aside.length > 0 ? await retryStoreWrites(() => applyAside(aside, toAnsweredCall(one), deps)) : undefined;
    return failure ?? asideFailure ?? (await retryStoreWrites(() => applyOutcome(outcome, one, deps)));
  } finally {
    const { at } = job;
    if (loaded.planOnly && at !== undefined)
      await retryStoreWrites(() => deps.runs.donePlanning(job.env, job.runId, at));
  }
}

async function callFunction(
  loaded: Loaded,
  { stepId, at }: CallJob,
  attempts: JobAttempts,
  deps: CallDeps,
): Promise<Outcome> {
  const { run, event, stack, memos, planOnly } = loaded;
  const fn = await deps.functions.find(run.env, run.functionId);
  if (!fn) return permanentFailure('FunctionGone', `the function ${run.functionId} is not registered`);
  if (!event) return permanentFailure('EventGone', `the event ${run.eventId} is no longer stored`);
  // Only the official SDKs defer functions; they defer again what they are not told of.
  const defers = run.defers === undefined ? undefined : await deps.defers.ids(run.env, run.id);
  const calledAt = performance.now();
  const outcome = await deps.functionClient.call(fn, {
    run: { ...run, attempt: attempts.made },
    event,
    maxAttempts: attempts.max,
    at,
    stepId,
    stack,
    memos,
    planOnly: planOnly && stepId === undefined,
    defers,
  });
  deps.telemetry.recordCall(outcome, performance.now() - calledAt);
  return outcome;
}

/** Idempotent.
 *  @returns the failure, if an operation fails the attempt */
async function applyOutcome(outcome: Outcome, attempt: CallAttempt, deps: CallDeps): Promise<Failure | undefined> {
  const { job, loaded } = attempt;
  if (outcome.kind === 'completed') {
    await deps.transitions.complete(loaded.run, outcome.output);
    return undefined;
  }
  if (outcome.kind !== 'steps') return undefined;
  const failure = await applyOperations(outcome.ops, toAnsweredCall(attempt), deps);
  deps.telemetry.publishRun(loaded.run, 'Running');
  if (failure) return { ...failure, retryAfterMs: outcome.retryAfterMs };
  if (job.at !== undefined) await deps.runs.recordAnswered(job.env, job.runId, job.at);
  return undefined;
}

function tooLarge(outcome: Outcome): Failure | undefined {
  if (outcome.kind !== 'completed' || Buffer.byteLength(outcome.output) <= MAX_STEP_BYTES) return undefined;
  return permanentFailure(
    'OutputTooLarge',
    `the function's output is larger than ${MAX_STEP_BYTES} bytes; store large data elsewhere and return a reference`,
  );
}

function toAnsweredCall({ loaded, attempts, startedAt }: CallAttempt): AnsweredCall {
  return {
    loaded: loaded as AnsweredCall['loaded'],
    ref: toRunRef(loaded.run),
    retries: attempts.max - 1,
    mayRetry: attempts.made + 1 < attempts.max,
    startedAt,
  };
}
