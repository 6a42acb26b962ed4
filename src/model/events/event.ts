/** What an event is: the shape senders post, the rules it must meet, and what is known of one that was accepted. */
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

const TS_MIN = Date.UTC(1980, 0);
const TS_MAX = Date.UTC(2100, 0);

const nameRule = 'a string of 1 to 256 characters';
const idRule = 'a string of 1 to 512 characters, or no such field';
const tsRule = 'integer milliseconds since 1970, within 1980 to 2100, or no such field';

/** docs/events.md#fields. Every message is what the field takes; what it got is added where the error is made. */
export const eventSchema = z
  .object({
    name: z
      .string(nameRule)
      .min(1, nameRule)
      .max(256, nameRule)
      .refine(
        (name) => !RESERVED_PREFIXES.some((prefix) => name.startsWith(prefix)),
        `a name that does not begin with ${RESERVED_PREFIXES.join(' or ')}, which the service keeps for itself`,
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
      .string('a string, or no such field')
      .optional()
      .meta({ description: 'Version of the payload, passed through' }),
  })
  .meta({ id: 'Event', description: 'An event as it is sent' });

export type Event = z.infer<typeof eventSchema>;

/** Where an event came from: an event key (one of a setting has no ID), a webhook, somebody by hand, or the service itself.
 *  `event:<internal ID>`: it is that one, sent again. */
export type Source = 'event-key' | `event-key:${string}` | `webhook:${string}` | `event:${string}` | 'api' | 'service';

/** `<id>` of the source `<kind>:<id>`; undefined for a source of another kind, or without an ID. */
export function subjectOf(source: Source, kind: 'event-key' | 'webhook'): string | undefined {
  return source.startsWith(`${kind}:`) ? source.slice(kind.length + 1) : undefined;
}

/** Whether the event came from there: `webhook` means all webhooks, `webhook:<id>` one. */
export function isFrom(source: string, wanted: string): boolean {
  return source === wanted || source.startsWith(`${wanted}:`);
}

/** An event in full: what was sent, and how it came. `request_id` and `index` name the send that made it, by which a
 *  job that runs twice is told from an event that was sent twice. */
export interface EventRecord extends Event {
  internal_id: string;
  ts: number;
  received_at: number;
  request_id: string;
  index: number;
}

/** An accepted event on its way to the store. `payload` is what was sent, an Event as JSON text: it is written once and passed on as
 *  it is. */
export interface Envelope {
  internalId: string;
  env: string;
  name: string;
  /** The sender's deduplication ID. */
  id?: string;
  /** Another event with that ID came before, for certain: this one is counted and nothing else. */
  repeat?: true;
  /** The event's own time, Unix milliseconds: its functions run no sooner. */
  ts: number;
  receivedAt: number;
  source: Source;
  requestId: string;
  index: number;
  /** The span that it was sent in, where that is recorded (tracing/carrier.ts). */
  trace?: string;
  payload: string;
}

/** What makes an EventRecord. */
export type RecordParts = Pick<Envelope, 'internalId' | 'receivedAt' | 'requestId' | 'index' | 'payload'>;

/** Checks every event of a request; one bad event refuses them all.
 *  @param text JSON that `body` was read from
 *  @throws ServiceError event_invalid, naming index and field, what it got and what it takes */
export function validateEvents(body: unknown, text: string): Event[] {
  refuseDeep(body, text);
  const list = Array.isArray(body) ? body : [body];
  return list.map(validateEvent);
}

/** @throws ServiceError event_invalid when it nests deeper than every later writer of it can write */
export function refuseDeep(value: unknown, text?: string): void {
  if (isShallow(value, text)) return;
  throw new ServiceError('event_invalid', { detail: `nested deeper than ${MAX_DEPTH} levels; flatten the data` });
}

const DAY_MS = 86_400_000;

/** An event that is dated ahead runs its functions then, and is kept for them: not for decades.
 *  @throws ServiceError event_invalid, naming index and field, what it got and what it takes */
export function refuseFarFuture(events: readonly Event[], nowMs: number, maxFutureMs: number): void {
  for (const [index, { ts }] of events.entries()) {
    if (ts === undefined || ts - nowMs <= maxFutureMs) continue;
    const days = maxFutureMs / DAY_MS;
    const latest = new Date(nowMs + maxFutureMs).toISOString();
    throw invalid(index, 'ts', ts, `a time no more than ${days} days ahead (EVENT_MAX_FUTURE_DAYS), now ${latest}`);
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

function invalid(index: number, field: string | undefined, got: unknown, takes: string): ServiceError {
  const place = field === undefined ? `event ${index}` : `event ${index}, field "${field}"`;
  return new ServiceError('event_invalid', {
    detail: `${place}: got ${describe(got)}; it takes ${takes}`,
    facts: { index, ...(field !== undefined && { field }) },
  });
}

/** The payload is JSON text in which no digit of the event's data is lost. */
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
    // Fields that are undefined are not written.
    payload: JSON.stringify({ name, data, id, ts, user, v }),
  };
}

/** @param parse reads the payload: JSON.parse, or parseExact where no digit may be lost */
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

/** A stored event to be sent once more: an event of its own, of this moment, that no deduplication ID holds back. */
export function sentAgain({ name, data, user, v }: Event): Event {
  return { name, data, ...(user !== undefined && { user }), ...(v !== undefined && { v }) };
}

/** What a function is given of an event (docs/protocol.md#calls). */
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
