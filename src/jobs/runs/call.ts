/** The call job: one call of a function for its run, and what the answer makes of the run. Each failed call is an attempt of the job,
 *  which BullMQ repeats after the delay that the failure asks for. */
import { UnrecoverableError } from 'bullmq';
import type { FunctionClient } from '../../functions/function-client.ts';
import { type Failure, type Outcome, permanentFailure } from '../../functions/interpret-response.ts';
import { MAX_STEP_BYTES } from '../../model/runs/memo.ts';
import type { Loaded, Runs } from '../../store/runs/runs.ts';
import type { FunctionTables } from '../ingestion/function-tables.ts';
import { type CallJob, refOf } from '../queues/queues.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';
import { type AnsweredCall, type ApplyOperationsDeps, applyOperations } from './apply-operations.ts';
import { historyOf, isPlain } from './run-history.ts';
import { AttemptFailed, type Tries, withServiceErrors } from './service-errors.ts';
import { retryStoreWrites } from './store-retries.ts';

export interface CallDeps extends ApplyOperationsDeps {
  runs: Runs;
  functions: FunctionTables;
  caller: FunctionClient;
  reports: Telemetry;
  /** A run that is not heard of for so long is looked after. */
  lookAfterMs: number;
}

/** @throws AttemptFailed when another attempt is due, UnrecoverableError when the run has failed for good; what Redis said when it refused:
 *    then nothing has become of the attempt, and it is to be made again */
export async function call(job: CallJob, queuedAt: number, tries: Tries, deps: CallDeps): Promise<void> {
  await withServiceErrors(job, tries, deps, () => callOnce(job, queuedAt, tries, deps));
}

async function callOnce(job: CallJob, queuedAt: number, tries: Tries, deps: CallDeps): Promise<void> {
  const startedAt = Date.now();
  const { env, runId, eventId, at, stepId } = job;
  const loaded = await deps.runs.load(
    { env, runId, eventId, at, stepId },
    tries.before,
    startedAt,
    startedAt + deps.lookAfterMs,
  );
  if (!loaded) return;
  if ('ended' in loaded) return deps.life.tellInvoker(loaded.ended);
  reportStart(loaded, startedAt, deps.reports);
  const failure = await attempt({ job, loaded, tries, startedAt, queuedAt }, deps);
  if (!failure) return;
  if (failure.retriable && tries.before + 1 < tries.max) {
    await retryStoreWrites(() => deps.runs.recordError(env, runId, failure.error));
    deps.reports.moved(loaded.run, 'Running');
    throw new AttemptFailed(failure.error, failure.retryAfterMs);
  }
  await retryStoreWrites(() => deps.life.fail(loaded.run, failure.error, loaded.event));
  throw new UnrecoverableError(`${failure.error.name}: ${failure.error.message}`);
}

/** Of a run's first call. A run that is done again could have been called since it was made, and not since its event came. */
function reportStart({ run, event }: Loaded, startedAt: number, reports: Telemetry): void {
  if (run.startedAt !== startedAt) return;
  const dueAt = run.retryOf || !event ? run.queuedAt : Math.max(event.received_at, event.ts);
  reports.started(run, Math.max(0, startedAt - dueAt));
}

/** Calls, writes the attempt into the run's history, and does what the answer says.
 *  @returns how it failed, if it did */
async function attempt(one: Attempt, deps: CallDeps): Promise<Failure | undefined> {
  const { job, loaded, tries } = one;
  try {
    const outcome = await outcomeOf(loaded, job, tries, deps);
    const failure = outcome.kind === 'failed' ? outcome : tooLarge(outcome);
    if (!isPlain(loaded, outcome, tries.before)) {
      const entries = historyOf(failure ?? outcome, one);
      await retryStoreWrites(() => deps.runs.appendHistory(job.env, job.runId, entries));
    }
    return failure ?? (await retryStoreWrites(() => settle(outcome, one, deps)));
  } finally {
    const { at } = job;
    if (loaded.planOnly && at !== undefined)
      await retryStoreWrites(() => deps.runs.donePlanning(job.env, job.runId, at));
  }
}

async function outcomeOf(loaded: Loaded, { stepId }: CallJob, tries: Tries, deps: CallDeps): Promise<Outcome> {
  const { run, event, stack, memos, planOnly } = loaded;
  const fn = await deps.functions.find(run.env, run.functionId);
  if (!fn) return permanentFailure('FunctionGone', `the function ${run.functionId} is not registered`);
  if (!event) return permanentFailure('EventGone', `the event ${run.eventId} is no longer stored`);
  const calledAt = performance.now();
  const outcome = await deps.caller.call(fn, {
    run: { ...run, attempt: tries.before },
    event,
    maxAttempts: tries.max,
    stepId,
    stack,
    memos,
    planOnly: planOnly && stepId === undefined,
  });
  deps.reports.called(outcome, performance.now() - calledAt);
  return outcome;
}

interface Attempt {
  job: CallJob;
  loaded: Loaded;
  tries: Tries;
  queuedAt: number;
  startedAt: number;
}

/** Does what the answer says. Done again, it changes nothing.
 *  @returns how the attempt failed, if it did */
async function settle(outcome: Outcome, attempt: Attempt, deps: CallDeps): Promise<Failure | undefined> {
  const { job, loaded } = attempt;
  if (outcome.kind === 'completed') {
    await deps.life.complete(loaded.run, outcome.output);
    return undefined;
  }
  if (outcome.kind !== 'steps') return undefined;
  const failed = await applyOperations(outcome.ops, answered(attempt), deps);
  deps.reports.moved(loaded.run, 'Running');
  if (failed) return { ...failed, retryAfterMs: outcome.retryAfterMs };
  if (job.at !== undefined) await deps.runs.recordAnswered(job.env, job.runId, job.at);
  return undefined;
}

function tooLarge(outcome: Outcome): Failure | undefined {
  if (outcome.kind !== 'completed' || Buffer.byteLength(outcome.output) <= MAX_STEP_BYTES) return undefined;
  return permanentFailure(
    'OutputTooLarge',
    `the function's output is larger than ${MAX_STEP_BYTES} bytes; keep large data elsewhere`,
  );
}

function answered({ loaded, tries, startedAt }: Attempt): AnsweredCall {
  return {
    loaded: loaded as AnsweredCall['loaded'],
    ref: refOf(loaded.run),
    retries: tries.max - 1,
    mayRetry: tries.before + 1 < tries.max,
    startedAt,
  };
}
