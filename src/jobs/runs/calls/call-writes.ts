/** Executes the writes of a call (call-decision.ts). Each can be repeated. */
import { UnrecoverableError } from 'bullmq';
import type { Failure, Outcome } from '../../../functions/interpret-response.ts';
import { asksForRace } from '../../../model/runs/operation.ts';
import { retryDelayMs } from '../../../model/runs/retry.ts';
import type { Checkpoints } from '../../../store/runs/checkpoints.ts';
import type { HistoryOfEnd } from '../../../store/runs/run-end.ts';
import { toRunRef } from '../../queues/queues.ts';
import type { Telemetry } from '../../telemetry/telemetry.ts';
import { attemptHistory, needsNoHistory } from '../attempt-history.ts';
import { applyOperations, applyReportedSteps, problemOf } from '../operations/apply-operations.ts';
import { finishedStepsOf, memoOf } from '../operations/finished-steps.ts';
import type { CallWithResponse, OperationDeps } from '../operations/operation-context.ts';
import { pendingSleep } from '../operations/sleep.ts';
import { pendingStep, stateFailure } from '../operations/steps.ts';
import type { QueuedRunJobs } from '../scheduling/queued-run-jobs.ts';
import type { RunScheduler } from '../scheduling/run-scheduler.ts';
import { afterReportedSteps, type CallAttempt, continuing, mayRetry } from './call-attempt.ts';
import {
  type Decision,
  decide,
  decideFailure,
  type FailureWrite,
  pauseReasonOf,
  WRITES_OF,
  WRITES_OF_FAILURE,
  type Write,
} from './call-decision.ts';
import { AttemptFailed, retryStoreWrites } from './service-errors.ts';

export interface CallWritesDeps extends OperationDeps {
  checkpoints: Checkpoints;
  scheduler: RunScheduler;
  queuedRunJobs: Pick<QueuedRunJobs, 'isLastExecution'>;
  telemetry: Telemetry;
  /** Setting RETRY_SCALE. */
  retryScale: number;
}

/** The result of a write. 'superseded': another worker's execution counts. `attempt`: the attempt belongs to another
 *  state of the run. `failure`: the attempt has failed. */
type WriteResult = 'superseded' | { attempt?: CallAttempt; failure?: Failure | undefined } | undefined;

type PerformWrite<D = Decision> = (decision: D, attempt: CallAttempt, deps: CallWritesDeps) => Promise<WriteResult>;

/** Writes the consequences of a call's outcome.
 *  @throws AttemptFailed when another attempt follows, UnrecoverableError when the run has failed or is paused; Redis's error when it rejects a
 *  write */
export async function commit(outcome: Outcome, call: CallAttempt, deps: CallWritesDeps): Promise<void> {
  const decision = decide(outcome, call);
  let attempt = call;
  for (const write of WRITES_OF[decision.kind]) {
    const found = await retryStoreWrites(() => WRITES[write](decision, attempt, deps));
    if (found === 'superseded') return;
    attempt = found?.attempt ?? attempt;
    if (found?.failure && decision.kind !== 'failed') return commitFoundFailure(found.failure, attempt, deps);
  }
  if (decision.kind === 'failed') await commitFailure(decision.outcome, attempt, deps);
}

/** Handles a failure found by a write, which the app itself did not report. */
async function commitFoundFailure(failure: Failure, attempt: CallAttempt, deps: CallWritesDeps): Promise<void> {
  if (failure.finishedSteps !== undefined)
    return commitFailure(failure, continuing(attempt, failure.finishedSteps), deps);
  const owned = await retryStoreWrites(() => takeOwnership(attempt, deps));
  if (owned) await commitFailure(failure, owned, deps);
}

async function commitFailure(failure: Failure, attempt: CallAttempt, deps: CallWritesDeps): Promise<void> {
  const decision = decideFailure(failure, attempt);
  for (const write of WRITES_OF_FAILURE[decision]) {
    await retryStoreWrites(() => FAILURE_WRITES[write](failure, attempt, deps));
  }
  if (decision === 'retriedByJob') throw new AttemptFailed(failure.error, failure.retryAfterMs);
  if (decision === 'final' || decision === 'paused')
    throw new UnrecoverableError(`${failure.error.name}: ${failure.error.message}`);
}

const WRITES: Record<Write, PerformWrite> = {
  async ownership(_, attempt, deps) {
    const owned = await takeOwnership(attempt, deps);
    return owned ? { attempt: owned } : 'superseded';
  },
  history: ({ outcome }, attempt, deps) => appendHistory(outcome, attempt, deps),
  async reportedSteps({ outcome }, attempt, deps) {
    const reported = outcome.ops ?? [];
    if (reported.length === 0) return undefined;
    const { failure, finishedSteps } = await applyReportedSteps(reported, toCallWithResponse(attempt, deps), deps);
    return { failure, ...(finishedSteps !== undefined && { attempt: continuing(attempt, finishedSteps) }) };
  },
  async finishedStep({ outcome }, attempt, { transitions, telemetry }) {
    const [op] = outcome.ops ?? [];
    if (outcome.kind !== 'steps' || !op) return undefined;
    const { job, jobEnd, loaded } = attempt;
    const { run, memos, planOnly } = loaded;
    const history = attemptHistory(outcome, attempt, problemOf);
    const race = outcome.race === true || asksForRace(op);
    const nextJob =
      jobEnd && job.finishedSteps !== undefined && !planOnly
        ? await transitions.nextJob(run, job.finishedSteps + 1)
        : undefined;
    const next = jobEnd && nextJob && { job: nextJob, end: jobEnd };
    await transitions.finishStep(run.env, run.id, op.id, memoOf(op), {
      race,
      call: { finishedSteps: job.finishedSteps, history, next },
    });
    telemetry.recordHistory(run, history, memos);
    telemetry.publishRun(run, 'Running', null);
    return undefined;
  },
  begunSleep: ({ outcome }, attempt, deps) => beginSleep(outcome, attempt, deps),
  operations: ({ outcome }, attempt, deps) => applyResponse(outcome, attempt, deps),
  async nextCall({ outcome }, attempt, deps) {
    return (await continueFromCheckpoint(attempt, deps)) ? undefined : applyResponse(outcome, attempt, deps);
  },
  async answered(_, { job: { env, runId, finishedSteps }, loaded }, { runs, telemetry }) {
    telemetry.publishRun(loaded.run, 'Running', null);
    if (finishedSteps !== undefined) await runs.recordAnswered(env, runId, finishedSteps);
    return undefined;
  },
  async end({ kind, outcome }, attempt, deps) {
    if (outcome.kind !== 'completed') return undefined;
    const { run, event, memos, planOnly } = attempt.loaded;
    const { output, response } = outcome;
    const history = kind === 'completedWithOperations' ? undefined : historyOfEnd(outcome, attempt);
    const { steps } = finishedStepsOf(kind === 'completedWithSteps' ? (outcome.ops ?? []) : []);
    const job = planOnly ? undefined : attempt.jobEnd;
    const result = { output, ...(response && { response }) };
    const exceeded = await deps.transitions.complete(run, result, { event, job, history, steps });
    if (exceeded) await appendHistory(outcome, attempt, deps);
    else if (history && steps.length > 0) deps.telemetry.recordHistory(run, history.entries, memos);
    return exceeded && { failure: stateFailure(exceeded) };
  },
};

const FAILURE_WRITES: Record<
  FailureWrite,
  (failure: Failure, attempt: CallAttempt, deps: CallWritesDeps) => Promise<void>
> = {
  error: ({ error }, { job: { env, runId } }, { runs }) => runs.recordError(env, runId, error),
  async nextAttempt({ error, retryAfterMs }, { loaded, continuesAt, attempts }, deps) {
    const delayMs = retryAfterMs ?? retryDelayMs(1, Math.random(), deps.retryScale);
    await deps.scheduler.enqueueCall({
      ref: toRunRef(loaded.run),
      ...(continuesAt !== undefined && { finishedSteps: continuesAt }),
      retries: attempts.max - 1,
      attemptsBefore: 1,
      delayMs,
    });
    deps.telemetry.publishRun(loaded.run, 'Running', error);
  },
  pause: (failure, attempt, { transitions }) =>
    transitions.pause(attempt.loaded.run, pauseReasonOf(failure, attempt) ?? 'exhausted', failure.error),
  failedEnd: (failure, { loaded }, { transitions }) => transitions.fail(loaded.run, failure, loaded.event),
};

/** Ends the ownership of the call, because after a failed attempt it stores no more steps.
 *  @returns the attempt, counted for the current state of the run; undefined: the attempt of another worker counts */
async function takeOwnership(
  attempt: CallAttempt,
  { queuedRunJobs, checkpoints }: CallWritesDeps,
): Promise<CallAttempt | undefined> {
  const { job, attempts, continuesAt } = attempt;
  if (!(await queuedRunJobs.isLastExecution(job, attempts.executions))) return undefined;
  if (job.finishedSteps === undefined || continuesAt !== undefined) return attempt;
  const finishedSteps = await checkpoints.handOver(job.env, job.runId, String(job.finishedSteps));
  return finishedSteps === undefined ? attempt : continuing(attempt, finishedSteps);
}

async function appendHistory(
  outcome: Outcome,
  attempt: CallAttempt,
  { runs, telemetry }: CallWritesDeps,
): Promise<undefined> {
  const entries = attemptHistory(outcome, attempt, problemOf);
  await runs.appendHistory(attempt.job.env, attempt.job.runId, entries);
  telemetry.recordHistory(attempt.loaded.run, entries, attempt.loaded.memos);
}

/** The history of an attempt that completes the run, and of the steps that finished with it. */
function historyOfEnd(outcome: Outcome, attempt: CallAttempt): HistoryOfEnd {
  const onlyAfterCheckpoints = needsNoHistory(attempt.loaded, outcome, attempt.attempts.made);
  return { entries: attemptHistory(outcome, attempt, problemOf), onlyAfterCheckpoints };
}

async function applyResponse(outcome: Outcome, attempt: CallAttempt, deps: CallWritesDeps): Promise<WriteResult> {
  if (outcome.kind !== 'steps') return undefined;
  const counted = afterReportedSteps(attempt, outcome.ops);
  const failure = await applyOperations(outcome.ops, toCallWithResponse(counted, deps, outcome), deps);
  if (!failure) return undefined;
  deps.telemetry.publishRun(attempt.loaded.run, 'Running', null);
  return { failure: { ...failure, retryAfterMs: outcome.retryAfterMs } };
}

/** Begins a sleep of a run that waits for nothing else: the run then needs no job but that of the call after the sleep. */
async function beginSleep(outcome: Outcome, attempt: CallAttempt, deps: CallWritesDeps): Promise<WriteResult> {
  const [op] = outcome.ops ?? [];
  const { job, jobEnd, loaded, attempts } = attempt;
  const { run, memos } = loaded;
  if (outcome.kind !== 'steps' || !op || job.finishedSteps === undefined) return undefined;
  const call = toCallWithResponse(attempt, deps, outcome);
  const sleep = pendingSleep(op, call.nowMs);
  if ('kind' in sleep || sleep.until === undefined) {
    await appendHistory(outcome, attempt, deps);
    return applyResponse(outcome, attempt, deps);
  }
  const history = attemptHistory(outcome, attempt, problemOf);
  const wake = { ref: call.ref, stepId: op.id, untilMs: sleep.until, nowMs: call.nowMs };
  const nextJob = jobEnd && (await deps.scheduler.jobAfterSleep(wake, attempts.max - 1));
  const { begun, isScheduled, nextFinishedSteps } = await deps.steps.beginSleep(
    run,
    op.id,
    pendingStep(op, call, sleep),
    {
      finishedSteps: job.finishedSteps,
      history,
      next: nextJob && { job: nextJob, end: jobEnd },
    },
  );
  deps.telemetry.recordHistory(run, history, memos);
  deps.telemetry.publishRun(run, 'Running', null);
  if (begun === 'steps') return { failure: stateFailure('steps') };
  if (begun?.until !== undefined && !isScheduled) {
    const next =
      nextFinishedSteps === undefined ? undefined : { finishedSteps: nextFinishedSteps, retries: attempts.max - 1 };
    await deps.scheduler.enqueueWake({ ...wake, untilMs: begun.until, next });
  }
  return undefined;
}

/** @returns whether the call had stored steps, with which another call now continues */
async function continueFromCheckpoint(
  { job, loaded, attempts }: CallAttempt,
  { checkpoints, scheduler }: CallWritesDeps,
): Promise<boolean> {
  const finishedSteps = await checkpoints.handOver(job.env, job.runId, String(job.finishedSteps));
  if (finishedSteps === undefined) return false;
  await scheduler.enqueueCall({ ref: toRunRef(loaded.run), finishedSteps, retries: attempts.max - 1 });
  return true;
}

function toCallWithResponse(
  attempt: CallAttempt,
  { clock }: Pick<CallWritesDeps, 'clock'>,
  { noRetry = false, race = false }: { noRetry?: boolean; race?: boolean } = {},
): CallWithResponse {
  const { loaded, attempts, startedAt } = attempt;
  return {
    loaded: loaded as CallWithResponse['loaded'],
    ref: toRunRef(loaded.run),
    retries: attempts.max - 1,
    mayRetry: !noRetry && (mayRetry(attempt) || attempt.pauses === true),
    startedAt,
    nowMs: clock(),
    race,
  };
}
