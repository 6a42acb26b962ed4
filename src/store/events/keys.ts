/** Keys of the events room, and what the scripts have to know of them (redis/scripts.ts). */
import type { KeyDeclaration } from '../redis/key-declaration.ts';

/** Leading characters of a ULID that a bucket's events share: 1.024 seconds. */
export const SLICE_LENGTH = 8;

export const MINUTE_MS = 60_000;

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

/** Of all partitions. */
export const eventSourceKeys = (prefix: string) => ({
  eventSources: (env: string) => `${prefix}:event-sources:${env}`,
});

export const EVENT_KEY_DECLARATIONS = {
  eventBucket: {
    pattern: 'event-bucket:<env>:<slice>',
    type: 'hash',
    owner: 'events/event-location.ts',
    ttl: 'retention + 1 h',
    size: '1 field per event of the slice (1.024 s)',
    description:
      'Rest of the event ID → the event as text (`model/events/event-encoding.ts`); empty where the overflow key holds it. `<slice>`: the first 8 characters of the event IDs.',
  },
  overflowEvent: {
    pattern: 'overflow-event:<env>:<event ID>',
    type: 'string',
    owner: 'events/event-location.ts',
    ttl: 'retention; longer while a step of its run waits',
    size: '1 event',
    description: 'An event that outlives its bucket, or whose ID is more than a day away from its receipt.',
  },
  eventSources: {
    pattern: 'event-sources:<env>',
    type: 'hash',
    owner: 'events/event-sources.ts',
    ttl: 'none',
    size: '1 field per event key and webhook',
    description: 'Source → the number that stands for it in stored events.',
  },
  duplicates: {
    pattern: 'duplicates:<env>:<event ID>',
    type: 'string',
    owner: 'events/events.ts',
    ttl: 'retention',
    size: 'a number',
    description: 'How many repeats of the event were received.',
  },
  eventIndex: {
    pattern: 'events:<env>:<event name>',
    type: 'zset',
    owner: 'events/events-by-minute.ts',
    ttl: 'retention, renewed and trimmed with each entry',
    size: '1 entry per event',
    description: 'Event IDs by time of receipt (ms). An event is here when it is completely ingested.',
  },
  eventsByMinute: {
    pattern: 'events-by-minute:<env>:<minute>',
    type: 'hash',
    owner: 'events/events-by-minute.ts',
    ttl: 'retention after the minute',
    size: '1 field per event name',
    description: 'Event name → number of events received in that minute (ms); the field "" is the total.',
  },
  eventMinutes: {
    pattern: 'event-minutes:<env>',
    type: 'zset',
    owner: 'events/events-by-minute.ts',
    ttl: 'retention, renewed',
    size: '1 entry per minute',
    description: 'The minutes that have an `events-by-minute` key, by their start (ms).',
  },
  eventNames: {
    pattern: 'event-names:<env>',
    type: 'zset',
    owner: 'events/events-by-minute.ts',
    ttl: 'retention, renewed',
    size: '1 entry per event name',
    description: 'Event names by the last time of receipt (ms).',
  },
  eventById: {
    pattern: 'event-by-id:<env>:<id>',
    type: 'string',
    owner: 'events/events.ts',
    ttl: 'retention',
    size: '26 bytes',
    description: "Sender's event ID → internal ID of the newest event that has it.",
  },
  deduplication: {
    pattern: 'dedup:<env>:<id>',
    type: 'string',
    owner: 'events/deduplication.ts',
    ttl: '24 h',
    size: '27 bytes at most',
    description:
      'Deduplication ID → internal ID of the first event that has it, followed by "+" once that event is enqueued.',
  },
  eventsInUse: {
    pattern: 'events-in-use',
    type: 'zset',
    owner: 'events/events-in-use.ts',
    ttl: 'none',
    size: '1 entry per archived event that a run needs',
    description:
      'Archived events of which a copy stays in Redis while a run needs it: `<env>/<event ID>` by the time of the next check (ms).',
  },
} as const satisfies Record<keyof (ReturnType<typeof eventKeys> & ReturnType<typeof eventSourceKeys>), KeyDeclaration>;
