/** What becomes of a webhook's request: its transform makes an event, which is accepted, filtered or held (spec 4.2, 7). The same
 *  for one that just came in and one that is put through again. */
import type { IncomingHttpHeaders } from 'node:http';
import type { Config } from '../../config.ts';
import { ServiceError } from '../../errors.ts';
import type { Acceptor } from '../../jobs/ingestion/acceptor.ts';
import type { Telemetry } from '../../jobs/telemetry/telemetry.ts';
import { type Event, rejectFarFuture, validateEvents } from '../../model/events/event.ts';
import { newId } from '../../model/ids.ts';
import type { Environments } from '../../store/environments/environments.ts';
import { translateAway } from '../../store/redis/connection.ts';
import type { HeldEvents, HeldReason } from '../../store/webhooks/held-events.ts';
import type { WebhookInUse } from '../../store/webhooks/webhook-directory.ts';
import type { LogSummary } from '../../store/webhooks/webhook-log.ts';
import type { Transforms } from '../../transforms/transforms.ts';
import { selectionOf } from '../http/environment-selection.ts';
import { parseFields } from '../http/urlencoded.ts';
import { placeOf } from './resolve-environment.ts';
import { toTransformRequest } from './webhook-request.ts';

export interface ProcessWebhookDeps {
  config: Pick<Config, 'eventMaxFutureMs'>;
  environments: Environments;
  transforms: Transforms;
  acceptor: Acceptor;
  heldEvents: HeldEvents;
  reports: Telemetry;
}

export interface WebhookRequest {
  requestId: string;
  /** Unix milliseconds. */
  receivedAt: number;
  headers: IncomingHttpHeaders;
  /** The query string. */
  search: string;
  body: Buffer;
}

export interface Taken extends Pick<LogSummary, 'ids' | 'console'> {
  outcome: 'accepted' | 'ignored' | 'filtered' | 'held';
  reason?: 'event_refused' | HeldReason;
  event: Event | null;
  /** Where the event was accepted. */
  env?: string;
}

/** @param dry to say what would become of it, and do nothing
 *  @throws ServiceError environment_archived, transform_failed, transform_quarantined, overloaded, unavailable */
export async function take(
  webhook: WebhookInUse,
  request: WebhookRequest,
  { config, environments, transforms, acceptor, heldEvents, reports }: ProcessWebhookDeps,
  dry = false,
): Promise<Taken> {
  const { headers, search, requestId, receivedAt } = request;
  const selection = selectionOf(headers, search === '' ? {} : parseFields(search, 'the query string'));
  const place = await placeOf(webhook.env, selection, environments);
  const { id, version, transform: code } = webhook;
  const given = await toTransformRequest(request.body, headers, search);
  const { event: returned, text, logs: console } = await transforms.run({ id, version, code }, given);
  if (returned === null) return { outcome: 'ignored', event: null, ids: [], console };
  const event = eventOfTransform(returned, text, receivedAt, config.eventMaxFutureMs);
  if (!webhook.gate.allowsName(event.name)) {
    return { outcome: 'filtered', reason: 'event_refused', event, ids: [], console };
  }
  if ('held' in place) {
    const ids = dry ? [] : [await hold(place.held)];
    return { outcome: 'held', reason: place.held, event, ids, console };
  }
  const arrival = { env: place.env, source: `webhook:${id}` as const, requestId, receivedAt };
  const ids = dry ? [] : await acceptor.accept([event], arrival);
  return { outcome: 'accepted', event, ids, console, env: place.env };

  async function hold(reason: HeldReason): Promise<string> {
    const internalId = newId(receivedAt);
    const timed = { ...(event as Event), ts: event?.ts ?? receivedAt };
    const held = { internalId, webhookId: id, selection, reason, event: timed, receivedAt, requestId };
    await acceptor.safely(() => heldEvents.hold(held));
    reports.held(internalId);
    return internalId;
  }
}

/** @throws ServiceError transform_failed when what the transform returned is no valid event */
export function eventOfTransform(returned: unknown, text: string, nowMs: number, maxFutureMs: number): Event {
  try {
    const events = validateEvents(returned, text);
    rejectFarFuture(events, nowMs, maxFutureMs);
    return events[0] as Event;
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    const detail = error.message.replace(/^.*?: event 0,? ?/, '');
    throw new ServiceError('transform_failed', {
      detail: `it returned an event that is not valid: ${detail}`,
      cause: error,
    });
  }
}

/** An error, as a log tells of it. */
export function reasonOf(thrown: unknown): Pick<LogSummary, 'status' | 'reason' | 'message' | 'console'> {
  const error = translateAway(thrown);
  if (!(error instanceof ServiceError)) return { status: 500, reason: 'internal', console: [] };
  const { status, code, message, facts } = error;
  return { status, reason: code, message, console: (facts?.logs as LogSummary['console'] | undefined) ?? [] };
}
