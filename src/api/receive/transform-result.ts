/** Result of a transform (docs/transforms.md#what-a-transform-returns): null, an event, a list of events, or an object with `events` and
 *  `response`. All of it must be valid, or the request fails. */
import { ServiceError } from '../../errors.ts';
import type { Event } from '../../model/events/event.ts';
import { rejectFarFuture, requireData, validateEvents } from '../../model/events/sent-event.ts';
import { describe, isJsonObject } from '../../model/values/json.ts';
import type { CustomResponse } from './resolve-environment.ts';
import { responseOfTransform } from './transform-response.ts';

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
