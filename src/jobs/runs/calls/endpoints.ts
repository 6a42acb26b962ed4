/** Runs of endpoints: the handler of a client's request executes the steps and stores them here. At an operation that cannot be part of a
 *  request, such as a sleep, the service takes the run over and calls the endpoint again. */

import { orNotFound, ServiceError } from '../../../errors.ts';
import type { AppFunction } from '../../../model/apps/app.ts';
import { type Envelope, type Event, toEnvelope } from '../../../model/events/event.ts';
import { HANDLER_END } from '../../../model/runs/endpoint.ts';
import { resultOfEndpoint } from '../../../model/runs/endpoint-response.ts';
import { MAX_STEP_BYTES } from '../../../model/runs/memo.ts';
import { errorOf, isReturned, type Op } from '../../../model/runs/operation.ts';
import { retryDelayMs } from '../../../model/runs/retry.ts';
import { hasEnded, type Run, type RunError } from '../../../model/runs/run.ts';
import { Composed } from '../../../model/values/composed.ts';
import { DAY_MS } from '../../../model/values/time.ts';
import { ENDPOINT } from '../../../store/runs/checkpoints.ts';
import type { Store } from '../../../store/store.ts';
import type { FunctionTables } from '../../functions/function-tables.ts';
import { toRunRef } from '../../queues/queues.ts';
import type { Telemetry } from '../../telemetry/telemetry.ts';
import { stepHistory } from '../attempt-history.ts';
import { applyEach } from '../operations/apply-operations.ts';
import { entriesOf, finishedStepsOf, isFinished } from '../operations/finished-steps.ts';
import type { CallWithResponse, OperationDeps } from '../operations/operation-context.ts';
import { STATE_ERRORS } from '../state-transitions.ts';
import { ended, superseded } from './checkpoints.ts';

export interface EndpointsDeps extends OperationDeps, Pick<Store, 'ids' | 'events'> {
  functions: FunctionTables;
  telemetry: Telemetry;
  /** A handler that has stored no step for this long is considered dead. */
  callTimeoutMs: number;
  /** Setting RETRY_SCALE. */
  retryScale: number;
}

export interface EndpointRun {
  env: string;
  runId: string;
  fn: AppFunction;
  event: Event;
  requestId: string;
}

/** Operations that only ask for a call, immediately or after a failed attempt. */
const CALL_REQUESTS: ReadonlySet<Op['op']> = new Set(['DiscoveryRequest', 'StepError']);

export class Endpoints extends Composed<EndpointsDeps> {
  /** Creates the run, whose ID the app has chosen. Idempotent.
   *  @throws ServiceError input_invalid if another run has the ID */
  async start({ env, runId, fn, event, requestId }: EndpointRun, nowMs: number): Promise<void> {
    const { ids, events, runs, telemetry, callTimeoutMs } = this.deps;
    const envelope: Envelope = toEnvelope(event, {
      internalId: ids.derivedEvent(runId, 'request'),
      env,
      receivedAt: nowMs,
      source: 'service',
      requestId,
      index: 0,
    });
    const stored = await events.storeNew([envelope]);
    const run = { id: runId, env, functionId: fn.id, eventId: envelope.internalId, requestId, queuedAt: nowMs };
    // The event is indexed before the run exists, so that the client need not repeat its request for it.
    await events.markIngested(stored, nowMs);
    await runs.create([{ ...run, owner: ENDPOINT, reconcileAt: nowMs + callTimeoutMs }]);
    const there = await runs.read(env, runId);
    if (there?.functionId !== fn.id || there.eventId !== envelope.internalId) {
      throw new ServiceError('input_invalid', { detail: `the ID "${runId}" is of another run` });
    }
    telemetry.recordIngested(stored, nowMs);
    telemetry.publishRun(there, 'Running');
  }

  /** Stores what the handler reports. Idempotent.
   *  @throws ServiceError not_found, run_ended, call_superseded */
  async store(env: string, runId: string, ops: readonly Op[]): Promise<void> {
    const { runs, checkpoints, functions, telemetry, callTimeoutMs, transitions } = this.deps;
    const nowMs = this.deps.clock();
    const run = orNotFound(await runs.readToChange(env, runId), 'run', runId);
    const retries = (await functions.find(env, run.functionId))?.retries ?? 0;
    const reported = reportOf(ops, retries > 0);
    // The handler repeats a request whose response was lost.
    if (hasEnded(run)) return reported.isLast ? undefined : Promise.reject(ended(runId));
    // Earlier times come from an app with a wrong clock.
    const during = { startedAt: nowMs - DAY_MS, endedAt: nowMs };
    const { steps, tooLarge } = finishedStepsOf(reported.finished, (op) => stepHistory(op, 0, during, nowMs));
    const stored = await checkpoints.store(env, runId, steps, { name: ENDPOINT, reconcileAt: nowMs + callTimeoutMs });
    switch (stored.outcome) {
      case 'steps':
      case 'bytes':
        return this.#fail(run, STATE_ERRORS[stored.outcome]);
      case 'stored':
        break;
      default:
        if (reported.isLast) return;
        throw superseded(runId, 'the service has taken it over from the request that started it');
    }
    telemetry.recordHistory(run, entriesOf(steps));
    telemetry.publishRun(run, 'Running');
    if (tooLarge) return this.#fail(run, tooLarge.error);
    if (reported.failure) return transitions.fail(run, { error: reported.failure });
    if (reported.output !== undefined) return this.#complete(run, reported.output);
    if (reported.isLast) await this.#takeOver(run, reported, retries);
  }

  async #complete(run: Run, output: string): Promise<void> {
    const result = resultOfEndpoint(output);
    const bytes = Buffer.byteLength(result.output);
    if (bytes <= MAX_STEP_BYTES) return void (await this.deps.transitions.complete(run, result));
    const message = `the response has ${bytes} bytes, more than ${MAX_STEP_BYTES}`;
    await this.deps.transitions.fail(run, { error: { name: 'OutputTooLarge', message } });
  }

  /** The service takes the run over, and calls the endpoint. */
  async #takeOver(run: Run, { rest, failed }: Report, retries: number): Promise<void> {
    const { events, steps, checkpoints, scheduler, transitions, retryScale, clock } = this.deps;
    const { env, id } = run;
    const event = await events.record(env, run.eventId);
    if (!event)
      return transitions.fail(run, { error: { name: 'EventGone', message: 'the request is no longer stored' } });
    const ref = toRunRef(run);
    const loaded: CallWithResponse['loaded'] = { run, event, stack: [], memos: {}, pending: 0, planOnly: false };
    const times = { startedAt: run.startedAt ?? run.queuedAt, nowMs: clock() };
    const call = { loaded, ref, retries, mayRetry: retries > 0, ...times, race: false };
    const failure = await applyEach(rest, call, this.deps);
    if (failure?.retriable === false) return transitions.fail(run, failure, event);
    const { pending } = await steps.progress(env, id);
    if (failed) await this.deps.runs.recordError(env, id, errorOf(failed));
    const finishedSteps = await checkpoints.handOver(env, id, ENDPOINT);
    // A step that has ended in the meantime has scheduled the next call.
    if (finishedSteps === undefined) return;
    if (failed) {
      const delayMs = retryDelayMs(1, Math.random(), retryScale);
      await scheduler.enqueueCall({ ref, finishedSteps, retries, attemptsBefore: 1, delayMs });
    } else if (pending.size === 0) await scheduler.enqueueCall({ ref, finishedSteps, retries });
    else await this.deps.runs.recordAnswered(env, id, finishedSteps);
  }

  /** @throws ServiceError run_ended */
  async #fail(run: Run, error: RunError): Promise<never> {
    await this.deps.transitions.fail(run, { error });
    throw ended(run.id, `${error.name}: ${error.message}`);
  }
}

/** A handler's report, by effect. */
interface Report {
  finished: Op[];
  /** JSON text of the response. */
  output?: string;
  /** Set if the handler failed permanently. */
  failure?: RunError;
  /** Operation that reports a failed attempt of the handler or of a step. */
  failed?: Op | undefined;
  /** Steps to start. */
  rest: Op[];
  /** Whether this is the last report of the handler. */
  isLast: boolean;
}

function reportOf(ops: readonly Op[], mayRetry: boolean): Report {
  const ofHandler = ops.find(({ op, id }) => id === HANDLER_END && (op === 'StepFailed' || op === 'StepError'));
  const steps = ops.filter((op) => op !== ofHandler);
  const finished = steps.filter((op) => isFinished(op, { mayRetry }));
  const complete = ops.find(({ op }) => op === 'RunComplete');
  const others = steps.filter((op) => !finished.includes(op) && op !== complete);
  const failsForGood = ofHandler && (ofHandler.op === 'StepFailed' || !mayRetry);
  const onlyRan = ops.every(isReturned);
  return {
    finished,
    ...(complete && { output: JSON.stringify(complete.data ?? null) }),
    ...(failsForGood && { failure: errorOf(ofHandler) }),
    failed: failsForGood ? undefined : (ofHandler ?? others.find(({ op }) => op === 'StepError')),
    rest: others.filter(({ op }) => !CALL_REQUESTS.has(op)),
    // A permanently failed step also ends the request: the service calls the endpoint, which may catch the error.
    isLast: !onlyRan,
  };
}
