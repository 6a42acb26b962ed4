/** Keys of the events room, and constants for its scripts (redis/scripts.ts). */
import type { KeyDeclaration } from './key-declaration.ts';

/** Leading characters of a ULID that the events of a bucket share: 1.024 seconds. */
export const SLICE_LENGTH = 8;

export const eventKeys = (prefix: string) => ({
  eventBucket: (env: string, slice: string) => `${prefix}:event-bucket:${env}:${slice}`,
  overflowEvent: (env: string, eventId: string) => `${prefix}:overflow-event:${env}:${eventId}`,
  duplicates: (env: string, eventId: string) => `${prefix}:duplicates:${env}:${eventId}`,
  eventIndex: (env: string, eventName: string) => `${prefix}:events:${env}:${eventName}`,
  eventsByMinute: (env: string, minute: number) => `${prefix}:events-by-minute:${env}:${minute}`,
  eventMinutes: (env: string) => `${prefix}:event-minutes:${env}`,
  eventNames: (env: string) => `${prefix}:event-names:${env}`,
  eventById: (env: string, id: string) => `${prefix}:event-by-id:${env}:${id}`,
  deduplication: (env: string, id: string) => `${prefix}:dedup:${env}:${id}`,
  eventsInUse: `${prefix}:events-in-use`,
});

/** Keys that all partitions share. */
export const eventSourceKeys = (prefix: string) => ({
  eventSources: (env: string) => `${prefix}:event-sources:${env}`,
});

export const EVENT_KEY_DECLARATIONS = {
  eventBucket: {
    pattern: 'event-bucket:<env>:<slice>',
    type: 'hash',
    owner: 'events/event-location.ts',
    ttl: 'retention + 1 h',
    size: '1 field per event of 1.024 s',
    description:
      'Rest of the event ID → event as text (`model/events/event-encoding.ts`); empty if the overflow key has it. `<slice>`: first 8 characters of the event IDs.',
  },
  overflowEvent: {
    pattern: 'overflow-event:<env>:<event ID>',
    type: 'string',
    owner: 'events/event-location.ts',
    ttl: 'retention; longer while its run waits',
    size: '1 event',
    description: 'Event that outlives its bucket, or whose ID is over a day from its receipt.',
  },
  eventSources: {
    pattern: 'event-sources:<env>',
    type: 'hash',
    owner: 'events/event-sources.ts',
    ttl: 'none',
    size: '1 field per event key and webhook',
    description: 'Source → its number in stored events.',
  },
  duplicates: {
    pattern: 'duplicates:<env>:<event ID>',
    type: 'string',
    owner: 'events/events.ts',
    ttl: 'retention',
    size: 'a number',
    description: 'Number of repeats received.',
  },
  eventIndex: {
    pattern: 'events:<env>:<event name>',
    type: 'zset',
    owner: 'events/events-by-minute.ts',
    ttl: 'retention, renewed and trimmed',
    size: '1 entry per event',
    description: 'IDs of ingested events by receipt (ms).',
  },
  eventsByMinute: {
    pattern: 'events-by-minute:<env>:<minute>',
    type: 'hash',
    owner: 'events/events-by-minute.ts',
    ttl: 'retention',
    size: '1 field per event name',
    description: 'Event name → events received in that minute (ms); field "" is the total.',
  },
  eventMinutes: {
    pattern: 'event-minutes:<env>',
    type: 'zset',
    owner: 'events/events-by-minute.ts',
    ttl: 'retention, renewed',
    size: '1 entry per minute',
    description: 'Minutes that have an `events-by-minute` key, by start (ms).',
  },
  eventNames: {
    pattern: 'event-names:<env>',
    type: 'zset',
    owner: 'events/events-by-minute.ts',
    ttl: 'retention, renewed',
    size: '1 entry per event name',
    description: 'Event names by last receipt (ms).',
  },
  eventById: {
    pattern: 'event-by-id:<env>:<id>',
    type: 'string',
    owner: 'events/events.ts',
    ttl: 'retention',
    size: '26 bytes',
    description: "Sender's event ID → newest event with it.",
  },
  deduplication: {
    pattern: 'dedup:<env>:<id>',
    type: 'string',
    owner: 'events/deduplication.ts',
    ttl: '24 h',
    size: '27 bytes',
    description: 'Deduplication ID → first event with it; `+` follows once it is enqueued.',
  },
  eventsInUse: {
    pattern: 'events-in-use',
    type: 'zset',
    owner: 'events/events-in-use.ts',
    ttl: 'none',
    size: '1 entry per event',
    description: 'Archived events copied back for a run: `<env>/<event ID>` by next check (ms).',
  },
} as const satisfies Record<keyof (ReturnType<typeof eventKeys> & ReturnType<typeof eventSourceKeys>), KeyDeclaration>;
