/** Events as senders write them, and their validation (docs/events.md#fields). */
import { z } from 'zod';
import { ServiceError } from '../../errors.ts';
import { describe, isJsonObject, isShallow, MAX_DEPTH } from '../values/json.ts';
import { DAY_MS, iso } from '../values/time.ts';
import { EVENT_ID_MAX, EVENT_NAME_MAX, type Event, jsonObject, RESERVED_PREFIXES, TS_MAX, TS_MIN } from './event.ts';
import { sentMetaSchema } from './sessions.ts';

const nameRule = `a string of 1 to ${EVENT_NAME_MAX} characters`;
const idRule = `a string of up to ${EVENT_ID_MAX} characters`;
const reservedRule = `a name that does not start with ${RESERVED_PREFIXES.join(' or ')}, which are reserved`;
const tsRule = 'integer milliseconds since 1970, within 1980 to 2100';
const vRule = 'a string';

/** Messages say what is expected; `invalid` adds what was received. Encoders of typed languages write fields that
 *  were not set as `null`, an empty ID or the time 0, so these count as absent. */
export const sentEventSchema = z
  .object({
    name: z
      .string(nameRule)
      .min(1, nameRule)
      .max(EVENT_NAME_MAX, nameRule)
      .refine((name) => !RESERVED_PREFIXES.some((prefix) => name.startsWith(prefix)), reservedRule)
      .meta({ description: 'Event name', examples: ['order/paid'] }),
    data: jsonObject('Arbitrary user data; absent or null: an empty object')
      .nullish()
      .transform((data) => data ?? {}),
    id: z
      .string(idRule)
      .max(EVENT_ID_MAX, idRule)
      .describe(
        'Deduplication ID: within 24 hours, an event with an ID already seen is ignored whatever its name. Absent, null or empty: none',
      )
      .nullable()
      .transform((id) => id || undefined)
      .optional(),
    ts: z
      .int(tsRule)
      .refine((ts) => ts === 0 || (ts >= TS_MIN && ts <= TS_MAX), tsRule)
      .meta({
        type: undefined,
        minimum: undefined,
        maximum: undefined,
        anyOf: [{ type: 'integer', minimum: TS_MIN, maximum: TS_MAX }, { const: 0 }],
        description: 'Event time in Unix milliseconds; absent, null or 0: the time of receipt',
      })
      .nullable()
      .transform((ts) => ts || undefined)
      .optional(),
    user: jsonObject('Passed through to functions')
      .nullable()
      .transform((user) => user ?? undefined)
      .optional(),
    v: z
      .string(vRule)
      .describe('Version of the payload, passed through')
      .nullable()
      .transform((v) => v ?? undefined)
      .optional(),
    // Senders may use a field of this name for something else.
    meta: z
      .preprocess((meta) => (isJsonObject(meta) ? meta : undefined), sentMetaSchema.optional())
      .optional()
      .meta({ type: 'object', additionalProperties: true, description: 'Sessions that the event belongs to' }),
  })
  .meta({ id: 'SentEvent', description: 'An event to send' });

/** Validates every event of a request; one invalid event rejects all.
 *  @param text the JSON text of `body`
 *  @throws ServiceError event_invalid with index, field, received and expected value */
export function validateEvents(body: unknown, text: string): Event[] {
  rejectDeep(body, text);
  const list = Array.isArray(body) ? body : [body];
  return list.map(validateEvent);
}

/** A transform that returns no `data` has probably misread the request.
 *  @throws ServiceError event_invalid with index, field, received and expected value */
export function requireData(event: unknown, index = 0): void {
  const data = isJsonObject(event) ? event.data : undefined;
  if (data === undefined || data === null) throw invalid(index, 'data', data, 'a JSON object');
}

/** @throws ServiceError event_invalid for nesting too deep for later serializers */
export function rejectDeep(value: unknown, text?: string): void {
  if (isShallow(value, text)) return;
  throw new ServiceError('event_invalid', { detail: `nested deeper than ${MAX_DEPTH} levels; flatten the data` });
}

/** Bounds `ts`, because the service keeps an event with a future `ts` until its functions run.
 *  @throws ServiceError event_invalid with index, field, received and expected value */
export function rejectFarFuture(events: readonly Event[], nowMs: number, maxFutureMs: number): void {
  for (const [index, { ts }] of events.entries()) {
    if (ts === undefined || ts - nowMs <= maxFutureMs) continue;
    const days = maxFutureMs / DAY_MS;
    const latest = iso(nowMs + maxFutureMs);
    throw invalid(index, 'ts', ts, `a time at most ${days} days in the future (EVENT_MAX_FUTURE_DAYS), now ${latest}`);
  }
}

function validateEvent(candidate: unknown, index: number): Event {
  if (!isJsonObject(candidate)) {
    throw invalid(index, undefined, candidate, 'a JSON object with a name');
  }
  const { success, data, error } = sentEventSchema.safeParse(candidate);
  if (success) return data;
  const { path, message } = error.issues[0] as z.core.$ZodIssue;
  const field = String(path[0]);
  if (message === reservedRule) throw reserved(index, String(candidate.name));
  throw invalid(index, field, candidate[field], message);
}

/** Apps of the official SDKs match this wording. */
function reserved(index: number, name: string): ServiceError {
  const detail = `event ${index}, field "name": got ${describe(name)}; expected ${reservedRule}`;
  const message = `event name is reserved for internal use: ${name}`;
  return new ServiceError('event_invalid', { message, facts: { index, field: 'name', detail } });
}

function invalid(index: number, field: string | undefined, got: unknown, expected: string): ServiceError {
  const location = field === undefined ? `event ${index}` : `event ${index}, field "${field}"`;
  return new ServiceError('event_invalid', {
    detail: `${location}: got ${describe(got)}; expected ${expected}`,
    facts: { index, ...(field !== undefined && { field }) },
  });
}
