/** Brings archived events back into Redis, where runs read their events. */
import type { History } from '../../history/history.ts';
import { writeEvent } from '../../model/events/event-encoding.ts';
import { timeOf } from '../../model/ids.ts';
import type { EventsInUse } from '../../store/events/events-in-use.ts';

/** A run is created this long after its event was asked for at most. Where little time makes an event old, the time is shorter. */
const FIRST_CHECK_MS = 60_000;
const FIRST_CHECK_MIN_MS = 1_000;
/** An event that will be archived in this time could leave Redis before its run is created. */
const SOON_MS = 600_000;

export interface EventRestorer {
  /** Redis has each of these events for the next minute, and then for as long as one of its runs is active. Events that are gone stay so.
   *  @throws ServiceError archive_unavailable */
  ensure(env: string, eventIds: readonly string[]): Promise<void>;
}

/** Where Redis has everything. */
export const NOTHING_ARCHIVED: EventRestorer = { ensure: async () => {} };

export interface EventRestorerDeps {
  eventsInUse: Pick<EventsInUse, 'keep' | 'add'>;
  events: Pick<History['events'], 'envelopes'>;
  /** Events that are older than this are archived. */
  hotMs: number;
}

export class ArchivedEventRestorer implements EventRestorer {
  readonly #deps: EventRestorerDeps;

  constructor(deps: EventRestorerDeps) {
    this.#deps = deps;
  }

  async ensure(env: string, eventIds: readonly string[], nowMs = Date.now()): Promise<void> {
    const { eventsInUse, events, hotMs } = this.#deps;
    const dueAt = nowMs + Math.min(FIRST_CHECK_MS, Math.max(hotMs, FIRST_CHECK_MIN_MS));
    const locations = await eventsInUse.keep(env, eventIds, dueAt);
    const leaving = eventIds.filter((id, i) => {
      return locations[i] === 'gone' || (locations[i] === 'bucket' && timeOf(id) < nowMs - hotMs + SOON_MS);
    });
    if (leaving.length === 0) return;
    for (const [id, event] of await events.envelopes(env, leaving)) {
      await eventsInUse.add(env, id, writeEvent(event, event.source), dueAt);
    }
  }
}
