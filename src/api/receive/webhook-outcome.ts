/** The outcome of a webhook request: decided here by a pure function, committed by process-webhook.ts, and turned into the response and the
 *  log entry here again. */
import { ServiceError } from '../../errors.ts';
import type { AccessListMatcher } from '../../model/auth/allow-lists.ts';
import type { Event } from '../../model/events/event.ts';
import { rejectFarFuture, requireData, validateEvents } from '../../model/events/sent-event.ts';
import { translateAway } from '../../store/redis/connection.ts';
import type { HeldReason } from '../../store/webhooks/held-events.ts';
import type { LogSummary } from '../../store/webhooks/webhook-log.ts';
import type { Received, Resolution } from './resolve-environment.ts';

/** What Tidegate does with a request that it does not reject. */
export type Decision =
  | { outcome: 'accepted'; event: Event; env: string }
  /** The event goes to the holding page. */
  | { outcome: 'held'; event: Event; reason: HeldReason; selection: string | undefined }
  /** The webhook's list of event names rejects the event. */
  | { outcome: 'filtered'; event: Event }
  /** The transform returned null. */
  | { outcome: 'ignored' };

export type WebhookOutcome = Decision | { outcome: 'rejected'; error: unknown };

type ConsoleLines = LogSummary['console'];

export interface WebhookResult {
  decided: WebhookOutcome;
  /** Internal ID of the event, once it is committed. */
  ids: string[];
  /** What the transform logged. */
  console: ConsoleLines;
}

export interface DecisionInput {
  /** What the transform returned, as a value and as JSON. */
  returned: unknown;
  text: string;
  allowList: AccessListMatcher;
  selection: string | undefined;
  resolution: Resolution;
  /** Unix milliseconds. */
  receivedAt: number;
  eventMaxFutureMs: number;
}

/** @throws ServiceError transform_failed when the transform returned an invalid event */
export function decide(input: DecisionInput): Decision {
  const { returned, text, allowList, selection, resolution, receivedAt, eventMaxFutureMs } = input;
  if (returned === null) return { outcome: 'ignored' };
  const event = eventOfTransform(returned, text, receivedAt, eventMaxFutureMs);
  if (!allowList.allowsName(event.name)) return { outcome: 'filtered', event };
  if ('held' in resolution) return { outcome: 'held', event, reason: resolution.held, selection };
  return { outcome: 'accepted', event, env: resolution.env };
}

/** @throws ServiceError transform_failed when the transform returned an invalid event */
export function eventOfTransform(returned: unknown, text: string, nowMs: number, maxFutureMs: number): Event {
  try {
    const events = validateEvents(returned, text);
    requireData(returned);
    rejectFarFuture(events, nowMs, maxFutureMs);
    return events[0] as Event;
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    // The message about a reserved name is for senders; its detail names the field.
    const explained = typeof error.facts?.detail === 'string' ? `: ${error.facts.detail}` : error.message;
    const detail = explained.replace(/^.*?: event 0,? ?/, '');
    throw new ServiceError('transform_failed', {
      detail: `it returned an invalid event: ${detail}`,
      cause: error,
    });
  }
}

/** A request that failed at any stage. The error of a transform has its log lines. */
export function rejected(error: unknown): WebhookResult {
  const logs = error instanceof ServiceError ? (error.facts?.logs as ConsoleLines | undefined) : undefined;
  return { decided: { outcome: 'rejected', error }, ids: [], console: logs ?? [] };
}

/** The response to the provider.
 *  @throws the error of a rejected request */
export function responseOf({ decided, ids }: WebhookResult): Received {
  if (decided.outcome === 'rejected') throw decided.error;
  return { ids, env: decided.outcome === 'accepted' ? decided.env : undefined };
}

type ResultFields = Pick<LogSummary, 'outcome' | 'status' | 'reason' | 'message' | 'eventName' | 'ids' | 'console'>;

/** The part of the log entry that tells the result. */
export function logFieldsOf({ decided, ids, console }: WebhookResult): ResultFields {
  const { outcome } = decided;
  switch (outcome) {
    case 'accepted':
      return { outcome, status: 200, eventName: decided.event.name, ids, console };
    case 'held':
      return { outcome, status: 200, reason: decided.reason, eventName: decided.event.name, ids, console };
    case 'filtered':
      return { outcome, status: 200, reason: 'event_refused', eventName: decided.event.name, ids, console };
    case 'ignored':
      return { outcome, status: 200, ids, console };
    case 'rejected':
      return { outcome, ...errorFields(decided.error), ids, console };
  }
}

function errorFields(thrown: unknown): Pick<LogSummary, 'status' | 'reason' | 'message'> {
  const error = translateAway(thrown);
  if (!(error instanceof ServiceError)) return { status: 500, reason: 'internal' };
  return { status: error.status, reason: error.code, message: error.message };
}
