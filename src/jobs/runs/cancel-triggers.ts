/** The `cancel` triggers of functions: events that cancel a run. */
import { setImmediate } from 'node:timers/promises';
import type { AppFunction, CancelTrigger } from '../../model/apps/app.ts';
import { type Envelope, expressionEventOf } from '../../model/events/event.ts';
import { waitKey } from '../../model/runs/wait.ts';
import { indexWait } from '../../model/runs/wait-index.ts';
import { chunksOf } from '../../model/values/chunks.ts';
import { Composed } from '../../model/values/composed.ts';
import { durationMs } from '../../model/values/time.ts';
import type { Events } from '../../store/events/events.ts';
import type { NewWait, Waits } from '../../store/runs/waits.ts';
import type { WaitMatcher } from './steps/wait-matcher.ts';

/** Number of runs whose waits are stored at once. */
const STORED_AT_ONCE = 100;
/** Maximum time for which compiling expressions may occupy the event loop: each trigger may have its own expression. */
const TURN_MS = 10;

export interface StartingRun {
  id: string;
  fn: AppFunction;
  event: Pick<Envelope, 'env' | 'internalId' | 'receivedAt'>;
}

export class CancelTriggers extends Composed<{ waits: Waits; events: Events; waitMatcher: WaitMatcher }> {
  /** Stores the cancel triggers of runs as waits, and matches them with events that were received while the runs were created. */
  async watch(runs: readonly StartingRun[], nowMs: number): Promise<void> {
    const watched = runs.filter(({ fn }) => fn.cancel.length > 0);
    for (const [env, ofEnv] of Map.groupBy(watched, ({ event }) => event.env)) {
      for (const some of chunksOf(ofEnv, STORED_AT_ONCE)) await this.#watch(env, some, nowMs);
    }
  }

  async #watch(env: string, runs: readonly StartingRun[], nowMs: number): Promise<void> {
    const withExpressions = runs.filter(({ fn }) => fn.cancel.some(({ expression }) => expression));
    // One event may have triggered all runs.
    const ids = [...new Set(withExpressions.map(({ event }) => event.internalId))];
    const records = await this.deps.events.records(env, ids);
    const payloads = new Map(
      records.flatMap((record) => (record ? [[record.internal_id, expressionEventOf(record)]] : [])),
    );
    const waits: NewWait[] = [];
    let turnStartedAt = performance.now();
    for (const run of runs) {
      const payload = payloads.get(run.event.internalId);
      waits.push(...run.fn.cancel.map((trigger, i) => cancelWait(trigger, i, run, { nowMs, payload })));
      if (performance.now() - turnStartedAt <= TURN_MS) continue;
      await setImmediate();
      turnStartedAt = performance.now();
    }
    const stored = await this.deps.waits.add(env, waits, nowMs);
    const since = Math.min(...runs.map(({ event }) => event.receivedAt));
    for (const [name, ofName] of Map.groupBy(stored, ({ eventName }) => eventName)) {
      await this.deps.waitMatcher.matchPastEvents(env, name, ofName, since);
    }
  }
}

/** @param payload payload of the event that triggered the run; undefined if no expression needs it */
export function cancelWait(
  { event: eventName, expression, timeout }: CancelTrigger,
  ordinal: number,
  { id: runId, fn, event: { internalId: eventId, receivedAt } }: StartingRun,
  { nowMs, payload }: { nowMs: number; payload: unknown },
): NewWait {
  const duration = timeout === undefined ? undefined : durationMs(timeout);
  const wait = {
    runId,
    functionId: fn.id,
    eventId,
    ...(expression && { expression }),
    // An event older than the run's own event concerns another run.
    since: receivedAt,
    ...(duration !== undefined && { until: nowMs + duration }),
  };
  return { key: waitKey(wait, ordinal), eventName, ...indexWait(wait, payload) };
}
