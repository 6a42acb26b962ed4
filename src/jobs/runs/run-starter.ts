/** Starts runs: creates their records, stores their cancel triggers, and enqueues their first calls, in this order, so
 *  that no event in between is missed. */
import type { AppFunction } from '../../model/apps/app.ts';
import type { Envelope } from '../../model/events/event.ts';
import type { FrozenKeys } from '../../model/flow-control/options.ts';
import type { Invoker } from '../../model/runs/run.ts';
import { SLACK_MS } from '../../store/events/event-location.ts';
import type { Events } from '../../store/events/events.ts';
import type { Runs } from '../../store/runs/runs.ts';
import type { Tracing } from '../../tracing/tracing.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';
import type { CancelTriggers } from './cancel-triggers.ts';
import type { RunScheduler } from './run-scheduler.ts';

/** The fields that a run needs of the event that triggered it. */
export type CausingEvent = Pick<Envelope, 'env' | 'internalId' | 'requestId' | 'receivedAt'>;

export interface RunToStart {
  id: string;
  fn: AppFunction;
  event: CausingEvent;
  /** The event's own time, Unix milliseconds: the run starts no sooner. */
  dueAt: number;
  invoker?: Invoker;
  /** The run that this one re-runs. */
  retryOf?: string;
  /** What its limits need of the event. */
  keys?: FrozenKeys;
  /** IDs of all events, of a run of a batch. */
  batch?: readonly string[];
  /** Parent span of the run's jobs; none: the active span. */
  trace?: string | undefined;
}

export interface RunStarterDeps {
  events: Events;
  runs: Runs;
  cancelTriggers: CancelTriggers;
  scheduler: RunScheduler;
  telemetry: Telemetry;
  /** A run that is idle for so long after it is due is reconciled. */
  reconcileAfterMs: number;
  tracing: Tracing | undefined;
}

export class RunStarter {
  readonly #deps: RunStarterDeps;

  constructor(deps: RunStarterDeps) {
    this.#deps = deps;
  }

  async start(toStart: readonly RunToStart[], nowMs: number): Promise<void> {
    const { runs, cancelTriggers, scheduler, telemetry, reconcileAfterMs, tracing } = this.#deps;
    const activeSpan = tracing?.serializeSpan();
    await this.#keepFutureEvents(toStart, nowMs);
    await runs.create(
      toStart.map(({ id, fn, event, invoker, retryOf, keys, batch, dueAt, trace = activeSpan }) => ({
        id,
        env: event.env,
        functionId: fn.id,
        eventId: event.internalId,
        requestId: event.requestId,
        ...(invoker && { invoker }),
        ...(retryOf && { retryOf }),
        ...(keys && { keys }),
        ...(batch && { batch }),
        ...(trace && { trace }),
        queuedAt: nowMs,
        reconcileAt: Math.max(dueAt, nowMs) + reconcileAfterMs,
      })),
    );
    await cancelTriggers.watch(toStart, nowMs);
    await scheduler.enqueueCalls(
      toStart.map(({ id, fn, event, dueAt, trace = activeSpan }) => ({
        ref: {
          env: event.env,
          runId: id,
          eventId: event.internalId,
          requestId: event.requestId,
          functionId: fn.id,
          trace,
        },
        at: 0,
        retries: fn.retries,
        delayMs: dueAt - nowMs,
      })),
    );
    for (const { id, fn, event } of toStart) {
      telemetry.publishRun({ env: event.env, id, functionId: fn.id, eventId: event.internalId }, 'Queued');
    }
  }

  /** An event with a future timestamp is kept past its retention only for the runs that start then. */
  async #keepFutureEvents(toStart: readonly RunToStart[], nowMs: number): Promise<void> {
    const { events } = this.#deps;
    const aheadMs = new Map<string, { env: string; id: string; ms: number }>();
    for (const { event, dueAt, batch = [event.internalId] } of toStart) {
      if (dueAt - nowMs <= SLACK_MS) continue;
      for (const id of batch) aheadMs.set(`${event.env}/${id}`, { env: event.env, id, ms: dueAt - nowMs });
    }
    await Promise.all([...aheadMs.values()].map(({ env, id, ms }) => events.extendRetention(env, id, ms)));
  }
}
