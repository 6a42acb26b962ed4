/** Events: their records with payloads, the indexes and counts behind lists, and claims on deduplication IDs. */
import type { StoreContext } from '../store-context.ts';
import { ArchivableEvents } from './archivable-events.ts';
import { Deduplication } from './deduplication.ts';
import { EventCounts } from './event-counts.ts';
import { EventLists } from './event-lists.ts';
import { EventRecords } from './event-records.ts';
import { EventSources } from './event-sources.ts';
import { Events } from './events.ts';
import { EventsByMinute } from './events-by-minute.ts';
import { EventsInUse } from './events-in-use.ts';
import { QueuedEvents } from './queued-events.ts';

export function createEventStore({ redis, keys, config: { hotTtlMs: retentionMs } }: StoreContext) {
  const records = new EventRecords(redis, keys, { sources: new EventSources(redis, keys), retentionMs });
  const eventsByMinute = new EventsByMinute(redis, keys, { retentionMs });
  const events = new Events(redis, keys, { records, eventsByMinute, retentionMs });
  return {
    deduplication: new Deduplication(redis, keys),
    events,
    eventLists: new EventLists(redis, keys, { events, records, eventsByMinute, retentionMs }),
    eventsInUse: new EventsInUse(redis, keys),
    queuedEvents: new QueuedEvents(redis, keys),
    archivableEvents: new ArchivableEvents(redis, keys, { records }),
    eventCounts: new EventCounts(redis, keys, { eventsByMinute, retentionMs }),
  };
}
