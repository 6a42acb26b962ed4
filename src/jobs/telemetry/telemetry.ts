/** Telemetry of a process: its heartbeat, its counters, and live updates. Data is collected in memory and sent at
 *  intervals, so that work does not wait for it. A killed process loses unsent data. */
import type { Outcome } from '../../functions/interpret-response.ts';
import type { CallResult, MetricsRecorder } from '../../metrics/recorder.ts';
import { isStepError } from '../../model/errors/failing-step.ts';
import type { Envelope } from '../../model/events/event.ts';
import { headOf } from '../../model/events/gist.ts';
import { shortErrorText } from '../../model/runs/error-text.ts';
import type { Memo } from '../../model/runs/memo.ts';
import type { Ending, HistoryEntry, Run, RunError, RunStatus } from '../../model/runs/run.ts';
import { Composed } from '../../model/values/composed.ts';
import type { IssueKind } from '../../model/webhooks/issue.ts';
import type { LogOutcome, VerificationResult } from '../../model/webhooks/request-log.ts';
import type { Stored } from '../../store/events/events.ts';
import type { Store } from '../../store/store.ts';
import { CounterBuffer, type JobOutcome, type RunCounter } from '../../store/telemetry/counter-buffer.ts';
import { FunctionBuffer } from '../../store/telemetry/function-buffer.ts';
import type { LiveUpdateOf } from '../../store/telemetry/live-updates.ts';

type ChangedRun = Pick<Run, 'env' | 'id' | 'functionId' | 'eventId'> &
  Partial<Pick<Run, 'queuedAt' | 'startedAt' | 'endedAt' | 'replayId' | 'error'>>;

/** Steps whose durations are counted: they execute something, or wait for something. */
const TIMED_STEPS: ReadonlySet<string | undefined> = new Set([
  'Step',
  'StepRun',
  'StepError',
  'StepFailed',
  'WaitForEvent',
  'WaitForSignal',
  'InvokeFunction',
  'Gateway',
  'AIGateway',
]);
const FAILED_STEPS: ReadonlySet<string | undefined> = new Set(['StepError', 'StepFailed']);

const COUNTER_OF: Record<Ending['status'], RunCounter> = {
  Completed: 'completed',
  Failed: 'failed',
  Cancelled: 'cancelled',
};

export interface TelemetryDeps extends Pick<Store, 'metrics' | 'functionSeries' | 'liveUpdates'> {
  recorder: MetricsRecorder;
}

export class Telemetry extends Composed<TelemetryDeps> {
  #counters = new CounterBuffer();
  #functions = new FunctionBuffer();

  /** Records completely ingested events. */
  recordIngested(batch: readonly Stored[], nowMs: number): void {
    for (const { event, repeat, ingested } of batch) {
      const { env, internalId, name, receivedAt, source } = event;
      if (repeat) {
        this.#counters.count(env, 'duplicates');
        this.deps.recorder.duplicateIngested();
      }
      if (ingested || repeat) continue;
      this.#counters.count(env, 'events');
      this.deps.recorder.eventIngested(Math.max(0, nowMs - receivedAt));
      const head = headOf(event.payload);
      this.deps.liveUpdates.publish(env, 'events', { id: internalId, name, receivedAt, source, head });
    }
  }

  /** Records an attempt of a job that ended. */
  recordJob(queue: string, outcome: JobOutcome): void {
    this.#counters.countJob(queue, outcome);
  }

  /** Records the body size of a request that sends events. */
  recordReceived(bytes: number): void {
    this.deps.recorder.eventRequestReceived(bytes);
  }

  /** @param verification undefined if the webhook verifies nothing, or the request failed earlier */
  recordWebhookOutcome(outcome: LogOutcome, verification?: VerificationResult): void {
    this.deps.recorder.webhookRequest(outcome);
    if (verification) this.deps.recorder.webhookVerified(verification);
  }

  /** @param ms from the request that sent the events to its response */
  recordAcknowledgement(env: string, ms: number): void {
    this.#counters.time(env, 'ack', ms);
    this.deps.recorder.eventsAcknowledged(ms);
  }

  /** Records the first call of a run.
   *  @param ms since the run was due */
  recordRunStart(run: ChangedRun, ms: number): void {
    this.#counters.countRun(run.env, run.functionId, 'started');
    this.#functions.count(run.env, run.functionId, 'started');
    this.#counters.time(run.env, 'start', ms);
    this.deps.recorder.runStarted(ms);
    this.publishRun(run, 'Running');
  }

  recordCall(outcome: Outcome, ms: number): void {
    this.deps.recorder.functionCalled(callResultOf(outcome), ms);
  }

  /** Records the start or end of a call of a function with flow control. */
  recordCallInFlight(env: string, functionId: string, by: 1 | -1): void {
    this.deps.recorder.callInFlight(env, functionId, by);
  }

  /** @param error null if its last attempt has not failed */
  recordRunEnd(run: ChangedRun & { endedAt: number }, status: Ending['status'], error: RunError | null): void {
    const { env, functionId, startedAt, endedAt } = run;
    this.#counters.countRun(env, functionId, COUNTER_OF[status]);
    this.#functions.count(env, functionId, COUNTER_OF[status]);
    // The duration of a cancelled run says nothing about its function.
    if (startedAt !== undefined && status !== 'Cancelled') {
      this.#functions.timeRun(env, functionId, Math.max(0, endedAt - startedAt));
    }
    this.deps.recorder.runEnded(status);
    this.publishRun(run, status, error);
  }

  /** Records new entries of a run's history.
   *  @param memos memos of the run before it: the call that a failed step ends does not count as an attempt */
  recordHistory(
    { env, functionId }: Pick<Run, 'env' | 'functionId'>,
    entries: readonly HistoryEntry[],
    memos: Readonly<Record<string, Memo>> = {},
  ): void {
    const failed = entries.some(({ kind, status, op, error }) =>
      kind === 'attempt' ? status === 'Failed' && !isStepError(error, memos) : FAILED_STEPS.has(op),
    );
    if (failed) this.#functions.count(env, functionId, 'attemptsFailed');
    for (const { kind, op, name = '', startedAt, endedAt, status } of entries) {
      if (kind !== 'step' || !TIMED_STEPS.has(op)) continue;
      this.#functions.timeStep(env, functionId, name, Math.max(0, endedAt - startedAt), status === 'Failed');
    }
  }

  /** @param error null if its last attempt has not failed */
  publishRun(run: ChangedRun, status: RunStatus, error: RunError | null = run.error ?? null): void {
    this.deps.liveUpdates.publish(run.env, 'runs', liveRun(run, status, error));
  }

  /** @param event its event; without its text there is no gist */
  publishNewRun(run: ChangedRun, { name, payload }: Partial<Pick<Envelope, 'name' | 'payload'>>): void {
    this.deps.liveUpdates.publish(run.env, 'runs', {
      ...liveRun(run, run.startedAt === undefined ? 'Queued' : 'Running', null),
      created: true,
      ...(name !== undefined && { eventName: name }),
      ...(payload !== undefined && { head: headOf(payload) }),
    });
  }

  publishHeldEvent(id: string): void {
    this.deps.liveUpdates.publish(undefined, 'held-events', { id });
  }

  publishWebhookRequest(request: LiveUpdateOf['webhook-requests']): void {
    this.deps.liveUpdates.publish(undefined, 'webhook-requests', request);
  }

  recordWebhookIssue(kind: IssueKind): void {
    this.deps.recorder.webhookIssueOpened(kind);
  }

  publishWebhookIssue({ id, webhookId, kind, state }: LiveUpdateOf['webhook-issues']): void {
    this.deps.liveUpdates.publish(undefined, 'webhook-issues', { id, webhookId, kind, state });
  }

  /** Adds the counters to Redis. Counts that Redis rejects are part of the next flush. */
  async flush(nowMs: number): Promise<void> {
    const counters = this.#counters;
    this.#counters = new CounterBuffer();
    try {
      await this.deps.metrics.add(counters, nowMs);
    } catch (error) {
      this.#counters.add(counters);
      throw error;
    }
  }

  /** Like `flush`, for the counters of functions. */
  async flushFunctions(nowMs: number): Promise<void> {
    const functions = this.#functions;
    this.#functions = new FunctionBuffer();
    try {
      await this.deps.functionSeries.add(functions, nowMs);
    } catch (error) {
      this.#functions.add(functions);
      throw error;
    }
  }

  /** Also sends pending live updates. */
  async flushAll(nowMs: number): Promise<void> {
    this.deps.liveUpdates.flush();
    await Promise.all([this.flush(nowMs), this.flushFunctions(nowMs)]);
  }
}

function liveRun(run: ChangedRun, status: RunStatus, error: RunError | null): LiveUpdateOf['runs'] {
  const { id, functionId, eventId, queuedAt, startedAt, endedAt, replayId } = run;
  return {
    id,
    functionId,
    eventId,
    status,
    ...(queuedAt !== undefined && { queuedAt }),
    ...(startedAt !== undefined && { startedAt }),
    ...(endedAt !== undefined && { endedAt }),
    ...(replayId !== undefined && { replayId }),
    error: shortErrorText(error),
  };
}

function callResultOf(outcome: Outcome): CallResult {
  if (outcome.kind !== 'failed') return outcome.kind;
  if (outcome.noResponse) return 'no_response';
  return outcome.retriable ? 'failed' : 'failed_permanently';
}
