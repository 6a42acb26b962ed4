/** Keys of the events room, and constants for its scripts (redis/connection/script-source.ts). */
import { hash, string, zset } from './key-declaration.ts';

/** Leading characters of a ULID that the events of a bucket share: 1.024 seconds. */
export const SLICE_LENGTH = 8;

export const EVENT_KEYS = {
  eventBucket: hash(
    'event-bucket:<env>:<slice>',
    'Rest of the event ID → event as text (`model/events/event-encoding.ts`); empty if the overflow key has it. `<slice>`: first 8 characters of the event IDs.',
    { owner: 'events/event-location.ts', ttl: 'retention + 1 h', size: '1 field per event of 1.024 s' },
  ),
  overflowEvent: string(
    'overflow-event:<env>:<event ID>',
    'Event that outlives its bucket, or has an ID of another day.',
    { owner: 'events/event-location.ts', ttl: 'retention; longer while its run waits', size: '1 event' },
  ),
  duplicates: string('duplicates:<env>:<event ID>', 'Number of repeats received.', {
    owner: 'events/events.ts',
    ttl: 'retention',
    size: 'a number',
  }),
  eventIndex: zset('events:<env>:<event name>', 'IDs of ingested events by receipt (ms).', {
    owner: 'events/events-by-minute.ts',
    ttl: 'retention, renewed and trimmed',
    size: '1 entry per event',
  }),
  eventsByMinute: hash(
    'events-by-minute:<env>:<minute>',
    'Event name → events received in that minute (ms); field "" is the total.',
    { owner: 'events/events-by-minute.ts', ttl: 'retention', size: '1 field per event name' },
  ),
  eventMinutes: zset('event-minutes:<env>', 'Minutes that have an `events-by-minute` key, by start (ms).', {
    owner: 'events/events-by-minute.ts',
    ttl: 'retention, renewed',
    size: '1 entry per minute',
  }),
  eventNames: zset('event-names:<env>', 'Event names by last receipt (ms).', {
    owner: 'events/events-by-minute.ts',
    ttl: 'retention, renewed',
    size: '1 entry per event name',
  }),
  eventById: string('event-by-id:<env>:<id>', "Sender's event ID → newest event with it.", {
    owner: 'events/events.ts',
    ttl: 'retention',
    size: '26 bytes',
  }),
  deduplication: string('dedup:<env>:<id>', 'ID → first event with it; `+` follows once it is enqueued.', {
    owner: 'events/deduplication.ts',
    ttl: '24 h',
    size: '27 bytes',
  }),
  eventsInUse: zset('events-in-use', 'Archived events copied back for a run: `<env>/<event ID>` by next check (ms).', {
    owner: 'events/events-in-use.ts',
    ttl: 'none',
    size: '1 entry per event',
  }),
};

/** Keys that all partitions share. */
export const EVENT_SOURCE_KEYS = {
  eventSources: hash('event-sources:<env>', 'Source → its number in stored events.', {
    owner: 'events/event-sources.ts',
    ttl: 'none',
    size: '1 field per event key and webhook',
  }),
};
