/** The run job: one call of a function for a run, and what its answer makes of the run. One job is one run's calls: each failed
 *  call is an attempt of the job, which BullMQ repeats after the delay that the failure asks for. */
import { UnrecoverableError } from 'bullmq';
import type { Outcome } from '../functions/answer.ts';
import type { FunctionCaller } from '../functions/caller.ts';
import { type EventRecord, FUNCTION_FAILED, payloadOf } from '../model/event.ts';
import { derivedId } from '../model/ids.ts';
import type { Run, RunError } from '../model/run.ts';
import type { Runs } from '../store/runs.ts';
import type { Acceptor } from './accept.ts';
import type { FunctionTables } from './function-tables.ts';
import type { RunJob, RunQueue } from './queues.ts';

export interface RunToEnqueue {
  id: string;
  env: string;
  eventId: string;
  requestId: string;
  functionId: string;
  /** Tries after the first. */
  retries: number;
}

export type EnqueueRuns = (runs: readonly RunToEnqueue[]) => Promise<void>;

/** Enqueues a run's first call under the run's ID: a run that is in the queue is not enqueued again. */
export function runEnqueuer(queue: RunQueue): EnqueueRuns {
  return async (runs) => {
    if (runs.length === 0) return;
    await queue.addBulk(
      runs.map(({ id, env, eventId, requestId, functionId, retries }) => ({
        name: functionId,
        data: { env, runId: id, eventId, requestId },
        opts: { jobId: id, attempts: retries + 1 },
      })),
    );
  };
}

export interface RunDeps {
  runs: Runs;
  functions: FunctionTables;
  caller: FunctionCaller;
  acceptor: Acceptor;
}

/** How often the job has been tried before, and may be tried in all. */
export interface Tries {
  before: number;
  max: number;
}

/** An attempt failed and another is to come. */
export class AttemptFailed extends Error {
  override name = 'AttemptFailed';
  /** The delay that the app asked for; none: the schedule's. */
  readonly retryAfterMs: number | undefined;

  constructor({ name, message }: RunError, retryAfterMs: number | undefined) {
    super(`${name}: ${message}`);
    this.retryAfterMs = retryAfterMs;
  }
}

/** @throws AttemptFailed when another attempt is due, UnrecoverableError when the run has failed for good */
export async function callForRun({ env, runId, eventId }: RunJob, tries: Tries, deps: RunDeps): Promise<void> {
  const attempt = await deps.runs.startAttempt(env, runId, eventId, tries.before, Date.now());
  if (!attempt) return;
  const { run, event } = attempt;
  const outcome = await outcomeOf(run, event, tries.max, deps);
  if (outcome.kind === 'completed') {
    await deps.runs.end(env, runId, { status: 'Completed', output: outcome.output }, Date.now());
  } else if (outcome.retriable && tries.before + 1 < tries.max) {
    await deps.runs.noteFailure(env, runId, outcome.error);
    throw new AttemptFailed(outcome.error, outcome.retryAfterMs);
  } else {
    await fail(run, event, outcome.error, deps);
    throw new UnrecoverableError(`${outcome.error.name}: ${outcome.error.message}`);
  }
}

async function outcomeOf(
  run: Run,
  event: EventRecord | undefined,
  maxAttempts: number,
  deps: RunDeps,
): Promise<Outcome> {
  const fn = (await deps.functions.of(run.env)).find(run.functionId);
  if (!fn) return failedForGood('FunctionGone', `the function ${run.functionId} is not registered`);
  if (!event) return failedForGood('EventGone', `the event ${run.eventId} is no longer stored`);
  return deps.caller.call(fn, { run, event, maxAttempts });
}

function failedForGood(name: string, message: string): Outcome {
  return { kind: 'failed', error: { name, message }, retriable: false };
}

/** The word of the failure goes out first: should this process die between the two, doing both again changes nothing. */
async function fail(run: Run, event: EventRecord | undefined, error: RunError, deps: RunDeps): Promise<void> {
  // A handler of failures that fails is not itself announced: nothing would end that.
  if (event && event.name !== FUNCTION_FAILED) await announceFailure(run, event, error, deps.acceptor);
  await deps.runs.end(run.env, run.id, { status: 'Failed', error }, Date.now());
}

async function announceFailure(run: Run, event: EventRecord, error: RunError, acceptor: Acceptor): Promise<void> {
  const payload = payloadOf(event);
  const data = { function_id: run.functionId, run_id: run.id, error, event: payload, events: [payload] };
  await acceptor.acceptOwn({ name: FUNCTION_FAILED, data }, derivedId(run.id, 'failed'), {
    env: run.env,
    source: 'service',
    requestId: run.requestId,
    receivedAt: Date.now(),
  });
}
