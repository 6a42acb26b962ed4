/** Events: the schema that senders use, its validation, and the data of accepted events (docs/events.md). */
import { z } from 'zod';
import { ServiceError } from '../../errors.ts';
import { describe, isJsonObject, isShallow, MAX_DEPTH } from '../values/json.ts';

const jsonObject = (field: string) =>
  z
    .custom<Record<string, unknown>>(isJsonObject, 'a JSON object')
    .meta({ type: 'object', additionalProperties: true, description: field });

export const RESERVED_PREFIXES = ['inngest/', 'service/internal.'] as const;
export const FUNCTION_FAILED = 'inngest/function.failed';
export const FUNCTION_INVOKED = 'inngest/function.invoked';
/** Triggers deferred functions; the official SDKs expect this name. */
export const FUNCTION_DEFERRED = 'inngest/deferred.schedule';

const TS_MIN = Date.UTC(1980, 0);
const TS_MAX = Date.UTC(2100, 0);

const nameRule = 'a string of 1 to 256 characters';
const idRule = 'a string of 1 to 512 characters, or omit the field';
const tsRule = 'integer milliseconds since 1970, within 1980 to 2100, or omit the field';

/** docs/events.md#fields. Messages say what is expected; `invalid` adds what was received. */
export const eventSchema = z
  .object({
    name: z
      .string(nameRule)
      .min(1, nameRule)
      .max(256, nameRule)
      .refine(
        (name) => !RESERVED_PREFIXES.some((prefix) => name.startsWith(prefix)),
        `a name that does not start with ${RESERVED_PREFIXES.join(' or ')}, which are reserved`,
      )
      .meta({ description: 'Event name', examples: ['order/paid'] }),
    data: jsonObject('Arbitrary user data'),
    id: z.string(idRule).min(1, idRule).max(512, idRule).optional().meta({
      description: 'Deduplication ID: within 24 hours, an event with an ID already seen is ignored whatever its name',
    }),
    ts: z
      .int(tsRule)
      .min(TS_MIN, tsRule)
      .max(TS_MAX, tsRule)
      .optional()
      .meta({ description: 'Event time in Unix milliseconds; absent: the time of receipt' }),
    user: jsonObject('Passed through to functions').optional(),
    v: z
      .string('a string, or omit the field')
      .optional()
      .meta({ description: 'Version of the payload, passed through' }),
  })
  .meta({ id: 'Event', description: 'An event to send' });

export type Event = z.infer<typeof eventSchema>;

/** Source of an event: an event key (keys of settings have no ID), a webhook, a user through the API, or the service itself.
 *  `event:<internal ID>`: a copy of that event. */
export type Source = 'event-key' | `event-key:${string}` | `webhook:${string}` | `event:${string}` | 'api' | 'service';

/** `<id>` of the source `<kind>:<id>`; undefined for a source of another kind, or without an ID. */
export function subjectOf(source: Source, kind: 'event-key' | 'webhook'): string | undefined {
  return source.startsWith(`${kind}:`) ? source.slice(kind.length + 1) : undefined;
}

/** Whether the source matches a filter: `webhook` means all webhooks, `webhook:<id>` one. */
export function isFrom(source: string, filter: string): boolean {
  return source === filter || source.startsWith(`${filter}:`);
}

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
  /** A certain duplicate: an earlier event has this ID. The event is only counted. */
  repeat?: true;
  /** The event's own time, Unix milliseconds: its functions run no earlier. */
  ts: number;
  receivedAt: number;
  source: Source;
  requestId: string;
  index: number;
  /** The span of its request, if recorded (tracing/carrier.ts). */
  trace?: string;
  payload: string;
}

/** The parts of an EventRecord. */
export type RecordParts = Pick<Envelope, 'internalId' | 'receivedAt' | 'requestId' | 'index' | 'payload'>;

/** Validates every event of a request; one invalid event rejects all.
 *  @param text the JSON text of `body`
 *  @throws ServiceError event_invalid with index, field, received and expected value */
export function validateEvents(body: unknown, text: string): Event[] {
  rejectDeep(body, text);
  const list = Array.isArray(body) ? body : [body];
  return list.map(validateEvent);
}

/** @throws ServiceError event_invalid if it is nested too deeply for later serializers */
export function rejectDeep(value: unknown, text?: string): void {
  if (isShallow(value, text)) return;
  throw new ServiceError('event_invalid', { detail: `nested deeper than ${MAX_DEPTH} levels; flatten the data` });
}

const DAY_MS = 86_400_000;

/** Bounds `ts`, because the service keeps an event with a future `ts` until its functions run.
 *  @throws ServiceError event_invalid with index, field, received and expected value */
export function rejectFarFuture(events: readonly Event[], nowMs: number, maxFutureMs: number): void {
  for (const [index, { ts }] of events.entries()) {
    if (ts === undefined || ts - nowMs <= maxFutureMs) continue;
    const days = maxFutureMs / DAY_MS;
    const latest = new Date(nowMs + maxFutureMs).toISOString();
    throw invalid(index, 'ts', ts, `a time at most ${days} days in the future (EVENT_MAX_FUTURE_DAYS), now ${latest}`);
  }
}

function validateEvent(candidate: unknown, index: number): Event {
  if (!isJsonObject(candidate)) {
    throw invalid(index, undefined, candidate, 'a JSON object with name and data');
  }
  const { success, data, error } = eventSchema.safeParse(candidate);
  if (success) return data;
  const { path, message } = error.issues[0] as z.core.$ZodIssue;
  const field = String(path[0]);
  throw invalid(index, field, candidate[field], message);
}

function invalid(index: number, field: string | undefined, got: unknown, expected: string): ServiceError {
  const location = field === undefined ? `event ${index}` : `event ${index}, field "${field}"`;
  return new ServiceError('event_invalid', {
    detail: `${location}: got ${describe(got)}; expected ${expected}`,
    facts: { index, ...(field !== undefined && { field }) },
  });
}

/** The payload is JSON text that preserves every digit of the event's data. */
export function toEnvelope(
  { name, data, id, ts, user, v }: Event,
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
    // Omits undefined fields.
    payload: JSON.stringify({ name, data, id, ts, user, v }),
  };
}

/** @param parse JSON.parse, or parseExact to preserve every digit */
export function recordOf(event: RecordParts, parse: (text: string) => unknown = JSON.parse): EventRecord {
  const sent = parse(event.payload) as Event;
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

/** Copies a stored event for a new send, without its time and its deduplication ID. */
export function copyToResend({ name, data, user, v }: Event): Event {
  return { name, data, ...(user !== undefined && { user }), ...(v !== undefined && { v }) };
}

/** The event that a function receives (docs/protocol.md#calls). */
export function payloadOf(record: EventRecord): Event & { ts: number } {
  const { name, data, id, ts, user, v, internal_id } = record;
  return {
    name,
    data,
    id: id ?? internal_id,
    ts,
    ...(user !== undefined && { user }),
    ...(v !== undefined && { v }),
  };
}
