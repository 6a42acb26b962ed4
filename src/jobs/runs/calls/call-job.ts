/** The call job: finds the run in the state that the call is for, calls its function, and commits the outcome (call-decision.ts,
 *  call-writes.ts). Each failed call is an attempt of the job, which BullMQ repeats after the delay that the failure asks for. */
import type { CallContext } from '../../../functions/call-request.ts';
import type { FunctionClient } from '../../../functions/function-client.ts';
import { type Outcome, permanentFailure } from '../../../functions/interpret-response.ts';
import { type AppFunction, onExhaustedOf } from '../../../model/apps/app.ts';
import type { EventRecord } from '../../../model/events/event.ts';
import { flowOptionsOf } from '../../../model/flow-control/function-options.ts';
import type { Run } from '../../../model/runs/run.ts';
import { withStepInput } from '../../../model/runs/step-input.ts';
import type { Events } from '../../../store/events/events.ts';
import type { JobEnd } from '../../../store/redis/job-lists.ts';
import type { Loaded, LoadedState } from '../../../store/runs/loaded-run.ts';
import type { ConnectCaller } from '../../connect/connect-caller.ts';
import type { FunctionTables } from '../../functions/function-tables.ts';
import { callJobId } from '../../queues/call-ref.ts';
import type { CallJob, JobAttempts } from '../../queues/queues.ts';
import type { Telemetry } from '../../telemetry/telemetry.ts';
import type { TimeoutTimers } from '../ends/timeout-timers.ts';
import { isTooLate, watchStart } from '../ends/timeouts.ts';
import { attemptsAt, type CallAttempt } from './call-attempt.ts';
import { type CallWritesDeps, commit } from './call-writes.ts';
import { mayArrive, missingEvent } from './missing-event.ts';
import { FunctionPaused, isJobOutcome, retryStoreWrites, withServiceErrors } from './service-errors.ts';

export interface CallDeps extends CallWritesDeps {
  functions: FunctionTables;
  events: Events;
  functionClient: Pick<FunctionClient, 'call'>;
  timeoutTimers: TimeoutTimers;
  connectCaller: Pick<ConnectCaller, 'finish'>;
  /** A run idle for this long is reconciled. */
  reconcileAfterMs: number;
}

export interface CallOptions {
  /** Ends the job together with the writes of the call; undefined: the job ends by itself. */
  jobEnd?: JobEnd | undefined;
  /** The state that the call has loaded, if it started as its run was created. */
  started?: Loaded | undefined;
  /** Makes the call instead of `CallDeps.functionClient`. */
  functionClient?: Pick<FunctionClient, 'call'> | undefined;
}

/** @throws AttemptFailed when another attempt follows, UnrecoverableError when the run has failed or is paused; Redis's error when it rejects
 *  commands, or FunctionPaused: then the attempt has no outcome and must be repeated */
export async function call(
  job: CallJob,
  queuedAt: number,
  attempts: JobAttempts,
  deps: CallDeps,
  options: CallOptions = {},
): Promise<void> {
  const { runId, finishedSteps, stepId } = job;
  const finish = () => deps.connectCaller.finish({ runId, finishedSteps, stepId, attempt: attempts.made });
  try {
    await withServiceErrors(job, attempts, deps, () => callOnce(job, queuedAt, attempts, deps, options));
  } catch (error) {
    if (isJobOutcome(error)) await finish();
    throw error;
  }
  await finish();
}

async function callOnce(
  job: CallJob,
  queuedAt: number,
  attempts: JobAttempts,
  deps: CallDeps,
  { jobEnd, started, functionClient = deps.functionClient }: CallOptions,
): Promise<void> {
  const startedAt = started?.run.startedAt ?? deps.clock();
  const fn = await deps.functions.find(job.env, job.functionId);
  if (!started && (await isTooLate(job, fn, startedAt, deps))) return;
  const load = () => deps.runs.load(job, attempts.made, startedAt, startedAt + deps.reconcileAfterMs);
  let loaded: LoadedState = started ? { state: 'due', ...started } : await load();
  if (loaded.state === 'sleeps' && job.sleep !== undefined) {
    await deps.transitions.finishStep(job.env, job.runId, job.sleep, null);
    loaded = await load();
  }
  switch (loaded.state) {
    case 'sleeps':
    case 'superseded':
      return;
    case 'ended':
      return deps.transitions.repeatEnd(loaded.run);
    case 'held':
      throw new FunctionPaused(loaded.run);
    case 'paused':
      return deps.transitions.repeatPause(loaded.run);
    case 'nextCallDue':
      return deps.transitions.scheduleNextCall(loaded.run, loaded.finishedSteps);
    case 'due':
  }
  await watchStart(job, fn, loaded, attempts, startedAt, deps);
  recordStart(loaded, startedAt, deps.telemetry);
  const attempt = {
    job,
    jobEnd,
    loaded,
    attempts: attemptsAt(job, loaded.stack.length, attempts),
    startedAt,
    queuedAt,
    pauses: onExhaustedOf(fn) === 'pause',
  };
  try {
    const called = loaded.run.pin ? await deps.functions.ofRun(loaded.run) : fn;
    await commit(await callFunction(called, attempt, functionClient, deps), attempt, deps);
  } finally {
    const { env, runId, finishedSteps } = job;
    if (loaded.planOnly && finishedSteps !== undefined)
      await retryStoreWrites(() => deps.runs.donePlanning(env, runId, finishedSteps));
  }
}

/** Records how long the first call of a run was due: since a time after the run's creation if it says so, since its creation for other re-runs
 *  and batches, otherwise since its event. */
function recordStart({ run, event }: Loaded, startedAt: number, telemetry: Telemetry): void {
  if (run.startedAt !== startedAt) {
    // Shows watchers that the run no longer sleeps, waits, or is about to be retried.
    telemetry.publishRun(run, 'Running');
    return;
  }
  const createdAt = run.retryOf || run.batch || !event ? run.queuedAt : Math.max(event.received_at, event.ts);
  const dueAt = run.dueAt ?? createdAt;
  telemetry.recordRunStart(run, Math.max(0, startedAt - dueAt));
}

async function callFunction(
  fn: AppFunction | undefined,
  { job: { finishedSteps, stepId }, loaded, attempts, startedAt, pauses }: CallAttempt,
  functionClient: Pick<FunctionClient, 'call'>,
  deps: CallDeps,
): Promise<Outcome> {
  const { run, stack, memos, omitsMemos, planOnly } = loaded;
  if (!fn) return functionGone(run);
  const events = run.batch && (await batchOf(run.env, run.batch, deps.events));
  const event = events ? events[0] : loaded.event;
  if (!event || (events && events.length < (run.batch?.length ?? 0) && mayArrive(run, startedAt))) {
    return missingEvent(run, startedAt);
  }
  // Only the official SDKs defer functions; they defer again every function that the call does not list.
  const defers = run.defers === undefined ? undefined : await deps.defers.ids(run.env, run.id);
  const calledAt = performance.now();
  const context = {
    run: { ...run, attempt: attempts.made },
    event,
    events,
    // Official SDKs report the failure of a last attempt as permanent, and no attempt is the last of a run that pauses.
    maxAttempts: attempts.max + (pauses && fn.dialect === 'inngest' ? 1 : 0),
    finishedSteps,
    executions: attempts.executions,
    jobId: callJobId(run.id, finishedSteps, stepId),
    startedAt,
    stepId,
    stack,
    memos: withStepInput(memos, run.fromStep),
    omitsMemos,
    planOnly: planOnly && stepId === undefined,
    defers,
  };
  const outcome = await countedCall(fn, context, functionClient, deps.telemetry);
  deps.telemetry.recordCall(outcome, performance.now() - calledAt);
  return outcome;
}

/** Calls the function, and counts the call in flight if the function has flow control. */
function countedCall(
  fn: AppFunction,
  context: CallContext,
  functionClient: Pick<FunctionClient, 'call'>,
  telemetry: Telemetry,
): Promise<Outcome> {
  const outcome = functionClient.call(fn, context);
  if (!flowOptionsOf(fn)) return outcome;
  const { env } = context.run;
  telemetry.recordCallInFlight(env, fn.id, 1);
  return outcome.finally(() => telemetry.recordCallInFlight(env, fn.id, -1));
}

function functionGone({ functionId, pin }: Run): Outcome {
  if (!pin) return permanentFailure('FunctionGone', `the function ${functionId} is not registered`);
  const { app, version } = pin;
  const message = `the version ${version} of the app ${app}, with ${functionId}, is no longer known`;
  return { ...permanentFailure('VersionGone', message), isVersionUnknown: true };
}

/** Returns the events of a batch that are still stored, and keeps them as long as the run needs them. */
async function batchOf(env: string, ids: readonly string[], events: Events): Promise<EventRecord[]> {
  await Promise.all(ids.map((id) => events.extendRetention(env, id)));
  return (await events.records(env, ids)).filter((event) => event !== undefined);
}
