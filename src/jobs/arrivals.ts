/** Events meet what waits for them: a step that goes on, or a run that is cancelled.
 *
 *  A wait is stored first and then looks back over the index; an event enters the index first and then looks for waits. So
 *  one of the two always sees the other, however close they come. */
import { payloadOf, type RecordParts, recordOf } from '../model/event.ts';
import { meets } from '../model/wait.ts';
import type { Events, NamedEvent } from '../store/events.ts';
import type { StoredWait, Waits } from '../store/waits.ts';
import type { RunLife } from './run-life.ts';

/** Events that a wait looks back over at most; between a call and its wait there are milliseconds. */
const LOOK_BACK_MAX = 1_000;

export class Arrivals {
  readonly #events: Events;
  readonly #waits: Waits;
  readonly #life: RunLife;

  constructor(events: Events, waits: Waits, life: RunLife) {
    this.#events = events;
    this.#waits = waits;
    this.#life = life;
  }

  /** Events that are in the index look for what waits for them. */
  async meetWaits(arrivals: readonly NamedEvent[]): Promise<void> {
    for (const [env, ofEnv] of Map.groupBy(arrivals, (arrival) => arrival.env)) {
      const byName = Map.groupBy(ofEnv, ({ name }) => name);
      const waits = await this.#waits.of(env, [...byName.keys()]);
      for (const [i, [name, arrived]] of [...byName].entries()) {
        for (const wait of waits[i] ?? []) await this.#meetFirst(env, name, wait, arrived);
      }
    }
  }

  /** A wait that has been stored looks for events that came since. */
  async lookBack(env: string, name: string, wait: StoredWait, sinceMs: number): Promise<void> {
    await this.#meetFirst(env, name, wait, await this.#events.since(env, name, sinceMs, LOOK_BACK_MAX));
  }

  async #meetFirst(
    env: string,
    name: string,
    { key, wait }: StoredWait,
    arrived: readonly NamedEvent[],
  ): Promise<void> {
    if (arrived.length === 0) return;
    const caused = wait.expression ? await this.#events.record(env, wait.eventId) : undefined;
    const now = Date.now();
    const first = arrived.find((event) =>
      meets(wait, { id: event.internalId, read: () => payload(event) }, caused && payloadOf(caused), now),
    );
    if (!first) return;
    if (wait.stepId === undefined) await this.#life.cancel(env, wait.runId);
    else await this.#life.finishStep(env, wait.runId, wait.stepId, payload(first));
    // Last: should this process die before, the event is met again, and the first memo stands.
    await this.#waits.remove(env, name, key);
  }
}

function payload(event: RecordParts) {
  return payloadOf(recordOf(event));
}
