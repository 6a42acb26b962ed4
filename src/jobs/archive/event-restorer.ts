/** Restores archived events to Redis, where runs read their events. */
import type { History } from '../../history/history.ts';
import { writeEvent } from '../../model/events/event-encoding.ts';
import { timeOf } from '../../model/ids.ts';
import { Composed } from '../../model/values/composed.ts';
import type { EventsInUse } from '../../store/events/events-in-use.ts';

/** Maximum time between this request and the creation of the run. Shorter if HOT_HOURS is short. */
const FIRST_CHECK_MS = 60_000;
const FIRST_CHECK_MIN_MS = 1_000;
/** An event that becomes due for archiving within this time could leave Redis before its run is created. */
const SOON_MS = 600_000;

export interface EventRestorer {
  /** Ensures that Redis has each of these events for the next minute, and then as long as one of its runs is active. Deleted events are
   *  not restored.
   *  @throws ServiceError archive_unavailable */
  ensure(env: string, eventIds: readonly string[]): Promise<void>;
}

/** Used without an archive. */
export const NOTHING_ARCHIVED: EventRestorer = { ensure: async () => {} };

export class ArchivedEventRestorer
  extends Composed<{
    eventsInUse: Pick<EventsInUse, 'keep' | 'add'>;
    events: Pick<History['events'], 'envelopes'>;
    /** Age at which events are archived. */
    hotMs: number;
  }>
  implements EventRestorer
{
  async ensure(env: string, eventIds: readonly string[], nowMs = Date.now()): Promise<void> {
    const { eventsInUse, events, hotMs } = this.deps;
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
