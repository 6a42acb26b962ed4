/** Result of a transform (docs/transforms.md#what-a-transform-returns): null, an event, a list of events, or an object with `events` and
 *  `response`. All of it must be valid, or the request fails. */
import { ServiceError } from '../../errors.ts';
import type { Event } from '../../model/events/event.ts';
import { rejectFarFuture, requireData, validateEvents } from '../../model/events/sent-event.ts';
import { describe, isJsonObject } from '../../model/values/json.ts';
import { isHeaderValue, isOwnHeader, MAX_HEADER_CHARS } from '../../model/values/response-headers.ts';
import type { CustomResponse } from './resolve-environment.ts';

export const MAX_EVENTS = 100;

export interface TransformResult {
  events: readonly Event[];
  response?: CustomResponse | undefined;
}

/** @param returned a JSON value
 *  @param text JSON text that contains it
 *  @throws ServiceError transform_failed with index, field, received and expected value */
export function resultOfTransform(
  returned: unknown,
  text: string,
  nowMs: number,
  maxFutureMs: number,
): TransformResult {
  if (!isResultObject(returned)) return { events: eventsOf(returned, text, nowMs, maxFutureMs) };
  const { events, response, ...others } = returned;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) {
    throw failed(`it returned the field ${describe(unknown)} beside "events" and "response"; expected only these`);
  }
  const given = responseOfTransform(response);
  return {
    events: eventsOf(events ?? null, text, nowMs, maxFutureMs),
    ...(given && { response: given }),
  };
}

/** Whether the value is an object with `events` or `response`: a name would make it an event. */
function isResultObject(returned: unknown): returned is Record<string, unknown> {
  if (!isJsonObject(returned) || Object.hasOwn(returned, 'name')) return false;
  return Object.hasOwn(returned, 'events') || Object.hasOwn(returned, 'response');
}

function eventsOf(returned: unknown, text: string, nowMs: number, maxFutureMs: number): Event[] {
  if (returned === null) return [];
  const isList = Array.isArray(returned);
  if (isList && returned.length > MAX_EVENTS) {
    throw failed(`it returned ${returned.length} events; at most ${MAX_EVENTS} are allowed`);
  }
  try {
    const events = validateEvents(returned, text);
    (isList ? returned : [returned]).forEach(requireData);
    rejectFarFuture(events, nowMs, maxFutureMs);
    return events;
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    // The message about a reserved name addresses senders; its detail names the field.
    const explained = typeof error.facts?.detail === 'string' ? `: ${error.facts.detail}` : error.message;
    throw failed(`it returned an invalid event: ${aboutEvent(explained, isList)}`, error);
  }
}

/** Beginning of a message; names the event if there may be several. */
function aboutEvent(message: string, isList: boolean): string {
  const at = message.search(/: event \d/);
  const detail = at === -1 ? message : message.slice(at + ': '.length);
  return isList ? detail : detail.replace(/^event 0[,:] ?/, '');
}

function failed(detail: string, cause?: ServiceError): ServiceError {
  return new ServiceError('transform_failed', { detail, cause });
}

const MAX_HEADERS = 10;
const MAX_BODY_BYTES = 16_384;
const CONTENT_TYPES = ['application/json', 'text/plain', 'text/xml', 'application/xml'];
const CONTENT_TYPE = new RegExp(`^(?:${CONTENT_TYPES.join('|')})(?:; ?charset=utf-8)?$`, 'i');
/** HTTP permits no body with these. */
const WITHOUT_BODY = new Set([204, 205, 304]);
const FIELDS = ['status', 'headers', 'body'];

/** The response that a transform chooses for its provider. It comes from the service's own origin, so only harmless headers are allowed.
 *  @param response `{status, headers, body}`; null or undefined: the usual response
 *  @throws ServiceError transform_failed with what is allowed */
export function responseOfTransform(response: unknown): CustomResponse | undefined {
  if (response === undefined || response === null) return undefined;
  if (!isJsonObject(response)) throw invalid('', response, `an object with ${FIELDS.join(', ')}`);
  const unknown = Object.keys(response).find((key) => !FIELDS.includes(key));
  if (unknown !== undefined) throw invalid('', unknown, `only ${FIELDS.join(', ')}`);
  const status = statusOf(response.status);
  const headers = headersOf(response.headers);
  const body = bodyOf(response.body);
  if (body !== '' && WITHOUT_BODY.has(status)) throw invalid('body', response.body, `none with status ${status}`);
  if (body !== '') {
    headers['content-type'] ??= typeof response.body === 'string' ? 'text/plain; charset=utf-8' : 'application/json';
  }
  return { status, headers, body };
}

function statusOf(status: unknown): number {
  if (status === undefined || status === null) return 200;
  if (typeof status === 'number' && Number.isInteger(status) && status >= 200 && status <= 599) return status;
  throw invalid('status', status, 'an integer from 200 to 599');
}

function headersOf(given: unknown): Record<string, string> {
  if (given === undefined || given === null) return {};
  if (!isJsonObject(given)) throw invalid('headers', given, 'an object of strings');
  const entries = Object.entries(given);
  if (entries.length > MAX_HEADERS) throw invalid('headers', `${entries.length} headers`, `at most ${MAX_HEADERS}`);
  const headers: Record<string, string> = {};
  for (const [givenName, value] of entries) {
    const name = givenName.toLowerCase();
    rejectName(name);
    if (Object.hasOwn(headers, name)) throw invalid('headers', name, 'each name once');
    const text = typeof value === 'number' ? String(value) : value;
    if (!isHeaderValue(text)) {
      throw invalid(`headers.${name}`, value, `at most ${MAX_HEADER_CHARS} visible ASCII characters`);
    }
    if (name === 'content-type' && !CONTENT_TYPE.test(text)) {
      throw invalid('headers.content-type', text, `one of ${CONTENT_TYPES.join(', ')}`);
    }
    headers[name] = text;
  }
  return headers;
}

function rejectName(name: string): void {
  if (name === 'content-type' || name === 'retry-after') return;
  if (isOwnHeader(name)) return;
  throw invalid(
    'headers',
    name,
    'content-type, retry-after, and names that start with x- and mean nothing to browsers and proxies',
  );
}

function bodyOf(body: unknown): string {
  if (body === undefined || body === null) return '';
  const text = typeof body === 'string' ? body.toWellFormed() : JSON.stringify(body);
  const bytes = Buffer.byteLength(text);
  if (bytes > MAX_BODY_BYTES) throw invalid('body', `${bytes} bytes`, `at most ${MAX_BODY_BYTES} bytes`);
  return text;
}

function invalid(field: string, got: unknown, expected: string): ServiceError {
  const where = field === '' ? 'response' : `response, field "${field}"`;
  return new ServiceError('transform_failed', {
    detail: `it returned an invalid ${where}: got ${describe(got)}; expected ${expected}`,
  });
}
