/** Brings archived events back into Redis, where runs read their events. */
import type { History } from '../../history/history.ts';
import { writeEvent } from '../../model/events/event-encoding.ts';
import type { EventsInUse } from '../../store/events/events-in-use.ts';

/** A run is created this long after its event was restored at most. */
const FIRST_CHECK_MS = 60_000;

export interface EventRestorer {
  /** Redis has each of these events for the next minute, and then for as long as one of its runs is active. Events that are gone stay so.
   *  @throws ServiceError archive_unavailable */
  ensure(env: string, eventIds: readonly string[]): Promise<void>;
}

/** Where Redis has everything. */
export const NOTHING_ARCHIVED: EventRestorer = { ensure: async () => {} };

export class ArchivedEventRestorer implements EventRestorer {
  readonly #eventsInUse: EventsInUse;
  readonly #events: Pick<History['events'], 'envelopes'>;

  constructor(eventsInUse: EventsInUse, events: Pick<History['events'], 'envelopes'>) {
    this.#eventsInUse = eventsInUse;
    this.#events = events;
  }

  async ensure(env: string, eventIds: readonly string[], nowMs = Date.now()): Promise<void> {
    const dueAt = nowMs + FIRST_CHECK_MS;
    const isThere = await this.#eventsInUse.keep(env, eventIds, dueAt);
    const missing = eventIds.filter((_, i) => !isThere[i]);
    if (missing.length === 0) return;
    const archived = await this.#events.envelopes(env, missing);
    for (const [id, event] of archived) {
      await this.#eventsInUse.add(env, id, writeEvent(event, event.source), dueAt);
    }
  }
}
