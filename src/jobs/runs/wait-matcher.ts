/** Events meet what waits for them: a step that goes on, or a run that is cancelled.
 *
 *  A wait is stored first and then looks back over the index; an event enters the index first and then looks for waits. So
 *  one of the two always sees the other, however close they come. */
import { payloadOf, recordOf } from '../../model/events/event.ts';
import { canMatch, expressionOf, type Wait } from '../../model/runs/wait.ts';
import type { Events, NamedEvent } from '../../store/events/events.ts';
import type { StoredWait, Waits } from '../../store/runs/waits.ts';
import type { ExpressionEvaluator } from '../ingestion/expression-evaluator.ts';
import type { RunTransitions } from './state-transitions.ts';

/** Events that a wait looks back over at most; between a call and its wait there are milliseconds. */
const LOOK_BACK_MAX = 1_000;
/** Causes of waits that are read at once. */
const CAUSES_AT_ONCE = 20;
/** Runs that are moved at once. */
const MOVED_AT_ONCE = 50;

type Payload = ReturnType<typeof payloadOf>;

/** An event, read when somebody asks for it, and once. */
interface Arrival {
  id: string;
  name: string;
  receivedAt: number;
  payload(): Payload;
}

interface Meeting {
  wait: StoredWait;
  arrival: Arrival;
}

export class WaitMatcher {
  readonly #events: Events;
  readonly #waits: Waits;
  readonly #life: RunTransitions;
  readonly #judge: ExpressionEvaluator;

  constructor(events: Events, waits: Waits, life: RunTransitions, judge: ExpressionEvaluator) {
    this.#events = events;
    this.#waits = waits;
    this.#life = life;
    this.#judge = judge;
  }

  /** Events that are in the index look for what waits for them. */
  async meetWaits(events: readonly NamedEvent[]): Promise<void> {
    for (const [env, ofEnv] of Map.groupBy(events, (event) => event.env)) {
      const arrivals = ofEnv.map(toArrival);
      for await (const found of this.#waits.candidates(env, arrivals, (arrival) => arrival.payload())) {
        await this.#meet(env, found.waits, found.events);
      }
    }
  }

  /** Waits of one name that have been stored look for events that came since. */
  async lookBack(env: string, name: string, waits: readonly StoredWait[], sinceMs: number): Promise<void> {
    if (waits.length === 0) return;
    let open = waits;
    for await (const some of this.#events.since(env, name, sinceMs, LOOK_BACK_MAX)) {
      const met = await this.#meet(env, open, some.map(toArrival));
      open = open.filter((wait) => !met.has(wait));
      if (open.length === 0) return;
    }
  }

  /** @returns those that were met */
  async #meet(env: string, waits: readonly StoredWait[], arrivals: readonly Arrival[]): Promise<Set<StoredWait>> {
    const met = new Set<StoredWait>();
    if (arrivals.length === 0) return met;
    for (const some of portions(waits)) {
      for (const wait of await this.#meetSome(env, some, arrivals)) met.add(wait);
    }
    return met;
  }

  async #meetSome(env: string, waits: readonly StoredWait[], arrivals: readonly Arrival[]): Promise<StoredWait[]> {
    const causes = await this.#causesOf(env, waits);
    const met: Meeting[] = [];
    this.#judge.begin();
    for (const wait of waits) {
      const arrival = await this.#first(env, wait.wait, causes.get(wait.wait.eventId), arrivals);
      if (arrival) met.push({ wait, arrival });
    }
    await this.#judge.tell();
    for (let i = 0; i < met.length; i += MOVED_AT_ONCE) {
      await Promise.all(met.slice(i, i + MOVED_AT_ONCE).map((meeting) => this.#move(env, meeting)));
    }
    return met.map(({ wait }) => wait);
  }

  async #first(env: string, wait: Wait, caused: unknown, arrivals: readonly Arrival[]): Promise<Arrival | undefined> {
    const { functionId, expression: source } = wait;
    const judged = source && { env, functionId, source, expression: expressionOf(wait) };
    const now = Date.now();
    for (const arrival of arrivals) {
      if (!canMatch(wait, arrival, now)) continue;
      if (!judged) return arrival;
      if (this.#judge.isMet(judged, { event: wait.caused ?? caused, async: arrival.payload() })) return arrival;
      if (this.#judge.mustRest) await this.#judge.rest();
    }
    return undefined;
  }

  /** The events that caused the runs of waits that have not brought what their expressions read of them. */
  async #causesOf(env: string, waits: readonly StoredWait[]): Promise<Map<string, Payload>> {
    const ids = new Set(waits.filter(hasLargeCause).map(({ wait }) => wait.eventId));
    const records = await this.#events.records(env, [...ids]);
    return new Map(records.flatMap((record) => (record ? [[record.internal_id, payloadOf(record)]] : [])));
  }

  async #move(env: string, { wait: { key, wait }, arrival }: Meeting): Promise<void> {
    if (wait.stepId === undefined) await this.#life.cancel(env, wait.runId);
    else await this.#life.finishStep(env, wait.runId, wait.stepId, arrival.payload());
    // Last: should this process die before, the event is met again, and the first memo stands.
    await this.#waits.remove(env, key);
  }
}

/** An event that caused its run has to be read, with all its half a megabyte. */
function hasLargeCause({ wait }: StoredWait): boolean {
  return Boolean(wait.expression) && wait.caused === undefined;
}

/** So many waits that few such events are read at once. */
function* portions(waits: readonly StoredWait[]): Generator<StoredWait[]> {
  let portion: StoredWait[] = [];
  let causes = 0;
  for (const wait of waits) {
    portion.push(wait);
    if (!hasLargeCause(wait) || ++causes < CAUSES_AT_ONCE) continue;
    yield portion;
    portion = [];
    causes = 0;
  }
  if (portion.length > 0) yield portion;
}

function toArrival(event: NamedEvent): Arrival {
  let read: Payload | undefined;
  return {
    id: event.internalId,
    name: event.name,
    receivedAt: event.receivedAt,
    payload: () => {
      read ??= payloadOf(recordOf(event));
      return read;
    },
  };
}
