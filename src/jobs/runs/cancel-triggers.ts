/** The `cancel` triggers of functions: events that end a run. */
import { setImmediate } from 'node:timers/promises';
import type { AppFunction, CancelTrigger } from '../../model/apps/app.ts';
import { type Envelope, payloadOf } from '../../model/events/event.ts';
import { waitKey } from '../../model/runs/wait.ts';
import { indexWait } from '../../model/runs/wait-index.ts';
import { durationMs } from '../../model/values/duration.ts';
import type { Events } from '../../store/events/events.ts';
import type { NewWait, Waits } from '../../store/runs/waits.ts';
import type { WaitMatcher } from './wait-matcher.ts';

/** Runs whose waits are stored at once. */
const STORED_AT_ONCE = 100;
/** How long others wait while expressions are read: each trigger may have another. */
const TURN_MS = 10;

/** A run that is about to start. */
interface StartingRun {
  id: string;
  fn: AppFunction;
  event: Pick<Envelope, 'env' | 'internalId' | 'receivedAt'>;
}

export class CancelTriggers {
  readonly #waits: Waits;
  readonly #events: Events;
  readonly #arrivals: WaitMatcher;

  constructor(waits: Waits, events: Events, arrivals: WaitMatcher) {
    this.#waits = waits;
    this.#events = events;
    this.#arrivals = arrivals;
  }

  /** Watches for what cancels the runs, and looks back: it may have come while the run was being made. */
  async watch(runs: readonly StartingRun[], nowMs: number): Promise<void> {
    const watched = runs.filter(({ fn }) => fn.cancel.length > 0);
    for (const [env, ofEnv] of Map.groupBy(watched, ({ event }) => event.env)) {
      for (let i = 0; i < ofEnv.length; i += STORED_AT_ONCE) {
        await this.#watch(env, ofEnv.slice(i, i + STORED_AT_ONCE), nowMs);
      }
    }
  }

  async #watch(env: string, runs: readonly StartingRun[], nowMs: number): Promise<void> {
    const asking = runs.filter(({ fn }) => fn.cancel.some(({ expression }) => expression));
    // One event may have caused them all.
    const records = await this.#events.records(env, [...new Set(asking.map(({ event }) => event.internalId))]);
    const causes = new Map(records.flatMap((record) => (record ? [[record.internal_id, payloadOf(record)]] : [])));
    const waits: NewWait[] = [];
    let turnBegan = performance.now();
    for (const { id, fn, event } of runs) {
      waits.push(...fn.cancel.map((trigger, i) => toWait(trigger, i, id, fn.id, event, nowMs, causes)));
      if (performance.now() - turnBegan <= TURN_MS) continue;
      await setImmediate();
      turnBegan = performance.now();
    }
    const stored = await this.#waits.add(env, waits, nowMs);
    const since = Math.min(...runs.map(({ event }) => event.receivedAt));
    for (const [name, ofName] of Map.groupBy(stored, ({ eventName }) => eventName)) {
      await this.#arrivals.lookBack(env, name, ofName, since);
    }
  }
}

function toWait(
  { event: eventName, expression, timeout }: CancelTrigger,
  ordinal: number,
  runId: string,
  functionId: string,
  { internalId: eventId, receivedAt }: StartingRun['event'],
  nowMs: number,
  causes: ReadonlyMap<string, unknown>,
): NewWait {
  const duration = timeout === undefined ? undefined : durationMs(timeout);
  const wait = {
    runId,
    functionId,
    eventId,
    ...(expression && { expression }),
    // What came before the run's own event is about another run.
    since: receivedAt,
    ...(duration !== undefined && { until: nowMs + duration }),
  };
  return { key: waitKey(wait, ordinal), eventName, ...indexWait(wait, causes.get(eventId)) };
}
