/** Starts runs: their records, what cancels them, and their first calls; in that order, so that nothing that happens between is lost. */
import type { AppFunction } from '../../model/apps/app.ts';
import type { Envelope } from '../../model/events/event.ts';
import type { Invoker } from '../../model/runs/run.ts';
import { SLACK_MS } from '../../store/events/event-location.ts';
import type { Events } from '../../store/events/events.ts';
import type { Runs } from '../../store/runs/runs.ts';
import type { Tracing } from '../../tracing/tracing.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';
import type { CancelTriggers } from './cancel-triggers.ts';
import type { RunScheduler } from './run-scheduler.ts';

/** What a run needs to know of the event that caused it. */
export type CausingEvent = Pick<Envelope, 'env' | 'internalId' | 'requestId' | 'receivedAt'>;

export interface RunToStart {
  id: string;
  fn: AppFunction;
  event: CausingEvent;
  /** The event's own time, Unix milliseconds: the run begins no sooner. */
  dueAt: number;
  invoker?: Invoker;
  /** The run that this one does again. */
  retryOf?: string;
  /** The span below which work on the run is recorded; none: the active one. */
  trace?: string | undefined;
}

export class RunStarter {
  readonly #events: Events;
  readonly #runs: Runs;
  readonly #cancels: CancelTriggers;
  readonly #schedule: RunScheduler;
  readonly #reports: Telemetry;
  readonly #lookAfterMs: number;
  readonly #tracing: Tracing | undefined;

  /** @param lookAfterMs a run that is not heard of for so long after it is due is looked after */
  constructor(
    events: Events,
    runs: Runs,
    cancels: CancelTriggers,
    schedule: RunScheduler,
    reports: Telemetry,
    lookAfterMs: number,
    tracing?: Tracing,
  ) {
    this.#events = events;
    this.#runs = runs;
    this.#cancels = cancels;
    this.#schedule = schedule;
    this.#reports = reports;
    this.#lookAfterMs = lookAfterMs;
    this.#tracing = tracing;
  }

  async start(runs: readonly RunToStart[], nowMs: number): Promise<void> {
    const active = this.#tracing?.serializeSpan();
    await this.#keepEvents(runs, nowMs);
    await this.#runs.create(
      runs.map(({ id, fn, event, invoker, retryOf, dueAt, trace = active }) => ({
        id,
        env: event.env,
        functionId: fn.id,
        eventId: event.internalId,
        requestId: event.requestId,
        ...(invoker && { invoker }),
        ...(retryOf && { retryOf }),
        ...(trace && { trace }),
        queuedAt: nowMs,
        reconcileAt: Math.max(dueAt, nowMs) + this.#lookAfterMs,
      })),
    );
    await this.#cancels.watch(runs, nowMs);
    await this.#schedule.calls(
      runs.map(({ id, fn, event, dueAt, trace = active }) => ({
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
    for (const { id, fn, event } of runs) {
      this.#reports.moved({ env: event.env, id, functionId: fn.id, eventId: event.internalId }, 'Queued');
    }
  }

  /** An event that is dated ahead is kept past its retention for the runs that begin then, and for nothing else. */
  async #keepEvents(runs: readonly RunToStart[], nowMs: number): Promise<void> {
    const aheadMs = new Map<string, { event: CausingEvent; ms: number }>();
    for (const { event, dueAt } of runs) {
      if (dueAt - nowMs > SLACK_MS) aheadMs.set(`${event.env}/${event.internalId}`, { event, ms: dueAt - nowMs });
    }
    await Promise.all(
      [...aheadMs.values()].map(({ event, ms }) => this.#events.extendRetention(event.env, event.internalId, ms)),
    );
  }
}
