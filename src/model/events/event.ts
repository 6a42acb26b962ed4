/** Events as the service accepts and stores them (docs/events.md). */
import { z } from 'zod';
import { isJsonObject, mayHaveLongIntegers, parseIntegers, parseStored } from '../values/json.ts';
import { EVENT_ORDER, type EventOrder } from '../webhooks/webhook-order.ts';
import { metaSchema } from './sessions.ts';

export { FUNCTION_FAILED, FUNCTION_INVOKED } from './function-events.ts';

export const jsonObject = (field: string) =>
  z
    .custom<Record<string, unknown>>(isJsonObject, 'a JSON object')
    .meta({ type: 'object', additionalProperties: true, description: field });

export const RESERVED_PREFIXES = ['inngest/', 'service/internal.', 'tidegate/'] as const;
/** Triggers deferred functions; the official SDKs expect this name. */
export const FUNCTION_DEFERRED = 'inngest/deferred.schedule';

/** Event of a run that a schedule starts. */
export const SCHEDULED_TIMER = 'inngest/scheduled.timer';

/** Events about issues of webhooks (docs/webhooks.md#issues). */
export const WEBHOOK_FAILING = 'tidegate/webhook.failing';
export const WEBHOOK_RECOVERED = 'tidegate/webhook.recovered';

/** Events about alerts (docs/alerts.md#events). */
export const ALERT_OPENED = 'tidegate/alert.opened';
export const ALERT_RESOLVED = 'tidegate/alert.resolved';

export const EVENT_NAME_MAX = 512;
export const EVENT_ID_MAX = 512;
export const TS_MIN = Date.UTC(1980, 0);
export const TS_MAX = Date.UTC(2100, 0);

/** An accepted event. Senders may omit more fields (sent-event.ts). */
export const eventSchema = z
  .object({
    name: z
      .string()
      .min(1)
      .max(EVENT_NAME_MAX)
      .meta({ description: 'Event name', examples: ['order/paid'] }),
    data: jsonObject('Arbitrary user data'),
    id: z
      .string()
      .min(1)
      .max(EVENT_ID_MAX)
      .optional()
      .describe('Deduplication ID: within 24 hours, an event with an ID already seen is ignored whatever its name'),
    ts: z
      .int()
      .min(TS_MIN)
      .max(TS_MAX)
      .optional()
      .describe('Event time in Unix milliseconds; absent: the time of receipt'),
    user: jsonObject('Passed through to functions').optional(),
    v: z.string().optional().describe('Version of the payload, passed through'),
    meta: metaSchema.optional().describe('Sessions that the event belongs to: IDs by name'),
    verified: z
      .boolean()
      .optional()
      .describe(
        "Of a webhook with a provider: whether the provider's signature of the request was verified. Only the service sets it",
      ),
  })
  .meta({ id: 'Event', description: 'An event' });

export type Event = z.infer<typeof eventSchema>;

/** Source of an event: an event key (keys of settings have no ID), a webhook, the outbox of an app, a user through the
 *  API, or the service itself.
 *  `event:<internal ID>`: a copy of that event. */
export type Source =
  | 'event-key'
  | `event-key:${string}`
  | `webhook:${string}`
  | `event:${string}`
  | 'outbox'
  | 'api'
  | 'service';

/** `<id>` of the source `<kind>:<id>`; undefined for a source of another kind, or without an ID. */
export function subjectOf(source: Source, kind: 'event-key' | 'webhook'): string | undefined {
  return source.startsWith(`${kind}:`) ? source.slice(kind.length + 1) : undefined;
}

/** Prefix of a filter that means all other sources. */
const NOT = '!';

/** The source that a filter means, and whether it means all others. */
export function sourceFilter(filter: string): { wanted: string; isOthers: boolean } {
  const isOthers = filter.startsWith(NOT);
  return { wanted: isOthers ? filter.slice(NOT.length) : filter, isOthers };
}

/** Whether the source matches a filter: `webhook` means all webhooks, `webhook:<id>` one, `!service` all but the service. */
export function isFrom(source: string, filter: string): boolean {
  const { wanted, isOthers } = sourceFilter(filter);
  return (source === wanted || source.startsWith(`${wanted}:`)) !== isOthers;
}

/** The payload with the digits of numbers, by the `data` of a record that may lack some. */
const payloads = new WeakMap<object, string>();

/** A complete event: its payload and its metadata. `request_id` and `index` identify the send, which distinguishes a job that runs twice
 *  from an event that was sent twice. */
export interface EventRecord extends Event {
  internal_id: string;
  ts: number;
  received_at: number;
  request_id: string;
  index: number;
}

/** An accepted event on its way to the store. `payload` is the sent Event as JSON text: serialized once and passed on unchanged. */
export interface Envelope {
  internalId: string;
  env: string;
  name: string;
  /** The sender's deduplication ID. */
  id?: string;
  /** A known duplicate: an earlier event has this deduplication ID, so this event is only counted. */
  repeat?: true;
  /** The event's own time, Unix milliseconds: its functions run no earlier. */
  ts: number;
  receivedAt: number;
  source: Source;
  requestId: string;
  index: number;
  /** Its place in the order of its webhook. */
  order?: EventOrder;
  /** The span of its request, if recorded (tracing/carrier.ts). */
  trace?: string;
  payload: string;
}

export type RecordParts = Pick<Envelope, 'internalId' | 'receivedAt' | 'requestId' | 'index' | 'payload'>;

/** The payload is JSON text that preserves every digit of the event's data. */
export function toEnvelope(
  { name, data, id, ts, user, v, meta, verified, [EVENT_ORDER]: order }: Event & { [EVENT_ORDER]?: EventOrder },
  at: { internalId: string; env: string; receivedAt: number; source: Source; requestId: string; index: number },
): Envelope {
  const { internalId, env, receivedAt, source, requestId, index } = at;
  return {
    internalId,
    env,
    name,
    ...(id !== undefined && { id }),
    ts: ts ?? receivedAt,
    receivedAt,
    source,
    requestId,
    index,
    ...(order && { order }),
    // Omits undefined fields.
    payload: JSON.stringify({ name, data, id, ts, user, v, meta, verified }),
  };
}

/** @param parse JSON.parse, or parseExact to preserve every digit */
export function recordOf(event: RecordParts, parse: (text: string) => unknown = JSON.parse): EventRecord {
  const sent = parse(event.payload) as Event;
  const losesDigits = parse !== JSON.parse || mayHaveLongIntegers(event.payload);
  if (losesDigits && isJsonObject(sent.data)) payloads.set(sent.data, event.payload);
  const { internalId, receivedAt, requestId, index } = event;
  return {
    ...sent,
    internal_id: internalId,
    ts: sent.ts ?? receivedAt,
    received_at: receivedAt,
    request_id: requestId,
    index,
  };
}

/** The record with numbers as expressions compare them. */
export function comparableRecordOf(record: EventRecord): EventRecord {
  return reread(record, parseIntegers);
}

/** The record with numbers as they were sent. */
export function exactRecordOf(record: EventRecord): EventRecord {
  return reread(record, parseStored);
}

function reread(record: EventRecord, parse: (text: string) => unknown): EventRecord {
  const payload = payloads.get(record.data);
  if (payload === undefined) return record;
  const { data, user } = parse(payload) as Event;
  return { ...record, data, ...(user !== undefined && { user }) };
}

/** Copies a stored event for a new send, without its time and its deduplication ID. */
export function copyToResend({ name, data, user, v, meta, verified }: Event): Event {
  return {
    name,
    data,
    ...(user !== undefined && { user }),
    ...(v !== undefined && { v }),
    ...(meta && { meta }),
    ...(verified !== undefined && { verified }),
  };
}

/** An event as sent, with its ID and time. */
export function payloadOf(record: EventRecord): Event & { ts: number } {
  const { name, data, id, ts, user, v, meta, verified, internal_id } = record;
  // In the order of canonical JSON, which calls contain.
  return {
    data,
    id: id ?? internal_id,
    ...(meta && { meta }),
    name,
    ts,
    ...(user !== undefined && { user }),
    ...(v !== undefined && { v }),
    ...(verified !== undefined && { verified }),
  };
}

/** The event as functions receive it: in calls, as the result of a wait, and in events about the end of a run (docs/protocol.md#calls). */
export function receivedEventOf(record: EventRecord): Event & { ts: number } {
  const payload = payloadOf(record);
  return payload.user === undefined ? { ...payload, user: {} } : payload;
}

/** An event as expressions see it (docs/functions.md#expressions): `event` and `async` in the expressions of waits; `id` is the sender's, else the internal ID. */
export function expressionEventOf(record: EventRecord): Record<string, unknown> {
  return { user: {}, v: null, ...payloadOf(comparableRecordOf(record)) };
}

/** `event` in the expressions of triggers, with additional fields that the service knows. */
export function triggerEventOf(record: EventRecord, source: Source): Record<string, unknown> {
  const comparable = comparableRecordOf(record);
  return { ...comparable, source, ...expressionEventOf(comparable) };
}
