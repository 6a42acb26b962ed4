/** Matches events with waits: a match finishes the waiting step, or cancels the run. A wait is stored before past events in the index are
 *  searched; an event enters the index before waits are searched. So one of the two always finds the other, however close in time they are. */

import type { History } from '../../../history/history.ts';
import { expressionEventOf, receivedEventOf, recordOf } from '../../../model/events/event.ts';
import { canMatch, expressionOf, type Wait } from '../../../model/runs/wait.ts';
import { chunksOf } from '../../../model/values/chunks.ts';
import type { Clock } from '../../../model/values/clock.ts';
import { Composed } from '../../../model/values/composed.ts';
import type { NamedEvent } from '../../../store/events/events.ts';
import type { StoredWait } from '../../../store/runs/possible-waits.ts';
import type { Store } from '../../../store/store.ts';
import type { Acceptor } from '../../acceptance/acceptor.ts';
import type { ExpressionEvaluator } from '../../functions/expression-evaluator.ts';
import type { RunTransitions } from '../state-transitions.ts';

/** Maximum number of past events that a wait is matched with; there are milliseconds between a call and its wait. */
const PAST_EVENTS_MAX = 1_000;
/** Number of triggering events read at once. */
const TRIGGERS_AT_ONCE = 20;
const APPLIED_AT_ONCE = 50;

type Payload = ReturnType<typeof receivedEventOf>;

/** An event whose payload is parsed once, when an expression first needs it. */
interface MatchableEvent {
  id: string;
  name: string;
  receivedAt: number;
  payload(): Payload;
  /** The event as expressions see it. */
  scope(): unknown;
}

interface Match {
  wait: StoredWait;
  event: MatchableEvent;
}

export interface WaitMatcherDeps extends Pick<Store, 'waits' | 'possibleWaits'> {
  /** Includes archived events, for waits of offloaded runs. */
  history: Pick<History, 'events' | 'pastEvents'>;
  transitions: RunTransitions;
  afterwards: Acceptor['afterwards'];
  evaluator: ExpressionEvaluator;
  clock: Clock;
}

export class WaitMatcher extends Composed<WaitMatcherDeps> {
  /** @param events events in the index */
  async matchEvents(events: readonly NamedEvent[]): Promise<void> {
    for (const [env, ofEnv] of Map.groupBy(events, (event) => event.env)) {
      const matchable = ofEnv.map(toMatchable);
      for await (const found of this.deps.possibleWaits.of(env, matchable, (event) => event.scope())) {
        await this.#match(env, found.waits, found.events);
      }
    }
  }

  /** @param waits stored waits, all for one event name */
  async matchPastEvents(env: string, name: string, waits: readonly StoredWait[], sinceMs: number): Promise<void> {
    if (waits.length === 0) return;
    let open = waits;
    for await (const page of this.deps.history.pastEvents.since(env, name, sinceMs, PAST_EVENTS_MAX)) {
      const matched = await this.#match(env, open, page.map(toMatchable));
      open = open.filter((wait) => !matched.has(wait));
      if (open.length === 0) return;
    }
  }

  /** @returns the matching waits */
  async #match(env: string, waits: readonly StoredWait[], events: readonly MatchableEvent[]): Promise<Set<StoredWait>> {
    const matched = new Set<StoredWait>();
    if (events.length === 0) return matched;
    for (const batch of batchesOf(waits)) {
      for (const wait of await this.#matchBatch(env, batch, events)) matched.add(wait);
    }
    return matched;
  }

  async #matchBatch(
    env: string,
    waits: readonly StoredWait[],
    events: readonly MatchableEvent[],
  ): Promise<StoredWait[]> {
    const { evaluator } = this.deps;
    const triggers = await this.#readTriggers(env, waits);
    const matches: Match[] = [];
    evaluator.startTurn();
    for (const wait of waits) {
      const event = await this.#firstMatch(env, wait.wait, triggers.get(wait.wait.eventId), events);
      if (event) matches.push({ wait, event });
    }
    await evaluator.reportSkipped();
    for (const some of chunksOf(matches, APPLIED_AT_ONCE)) {
      await Promise.all(some.map((match) => this.#apply(env, match)));
    }
    return matches.map(({ wait }) => wait);
  }

  /** @param trigger payload of the event that triggered the waiting run */
  async #firstMatch(
    env: string,
    wait: Wait,
    trigger: unknown,
    events: readonly MatchableEvent[],
  ): Promise<MatchableEvent | undefined> {
    const { evaluator, clock } = this.deps;
    const { functionId, expression: source } = wait;
    const expression = source && { env, functionId, source, expression: expressionOf(wait) };
    const now = clock();
    for (const event of events) {
      if (!canMatch(wait, event, now)) continue;
      if (!expression) return event;
      if (evaluator.matches(expression, { event: wait.caused ?? trigger, async: event.scope() }, event.receivedAt))
        return event;
      if (evaluator.shouldYield) await evaluator.yieldTurn();
    }
    return undefined;
  }

  /** Reads the triggering events of waits that were stored without the fields that their expressions read. */
  async #readTriggers(env: string, waits: readonly StoredWait[]): Promise<Map<string, unknown>> {
    const ids = new Set(waits.filter(needsTrigger).map(({ wait }) => wait.eventId));
    const records = await this.deps.history.events.records(env, [...ids]);
    return new Map(records.flatMap((record) => (record ? [[record.internal_id, expressionEventOf(record)]] : [])));
  }

  async #apply(env: string, { wait: { key, foundAt, wait }, event }: Match): Promise<void> {
    const { transitions, waits, afterwards } = this.deps;
    if (wait.stepId === undefined) await transitions.cancel(env, wait.runId, { cause: 'event', id: event.id });
    else await transitions.finishStep(env, wait.runId, wait.stepId, event.payload(), { links: { eventId: event.id } });
    // The wait is removed last: if this process dies before, or a failover loses the memo, the event matches again, and the first memo
    // wins.
    await afterwards(() => waits.remove(env, key, foundAt));
  }
}

/** Whether the triggering event must be read, which may have half a megabyte. */
function needsTrigger({ wait }: StoredWait): boolean {
  return Boolean(wait.expression) && wait.caused === undefined;
}

/** Splits waits so that few triggering events are read at once. */
function* batchesOf(waits: readonly StoredWait[]): Generator<StoredWait[]> {
  let batch: StoredWait[] = [];
  let triggers = 0;
  for (const wait of waits) {
    batch.push(wait);
    if (!needsTrigger(wait) || ++triggers < TRIGGERS_AT_ONCE) continue;
    yield batch;
    batch = [];
    triggers = 0;
  }
  if (batch.length > 0) yield batch;
}

function toMatchable(event: NamedEvent): MatchableEvent {
  let parsed: Payload | undefined;
  let scope: unknown;
  return {
    id: event.internalId,
    name: event.name,
    receivedAt: event.receivedAt,
    payload: () => {
      parsed ??= receivedEventOf(recordOf(event));
      return parsed;
    },
    scope: () => {
      scope ??= expressionEventOf(recordOf(event));
      return scope;
    },
  };
}
