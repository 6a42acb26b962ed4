/** Outcome of a webhook request: decided here by a pure function, committed by process-webhook.ts, and converted to the response and the
 *  log entry here. */
import { ServiceError } from '../../errors.ts';
import type { AccessListMatcher } from '../../model/auth/allow-lists.ts';
import type { Event } from '../../model/events/event.ts';
import type { LogSummary } from '../../model/webhooks/request-log.ts';
import type { HandshakeResponse } from '../../providers/handshakes.ts';
import { toServiceError } from '../../store/redis/connection/connection.ts';
import type { HeldReason } from '../../store/webhooks/held-events.ts';
import type { CustomResponse, Received, Resolution } from './resolve-environment.ts';
import { resultOfTransform } from './transform-result.ts';

/** Result for a request that is not rejected. */
export type WebhookDecision =
  | { outcome: 'accepted'; events: readonly Event[]; env: string; response?: CustomResponse | undefined }
  /** The events go to the holding page. */
  | {
      outcome: 'held';
      events: readonly Event[];
      reason: HeldReason;
      selection: string | undefined;
      response?: CustomResponse | undefined;
    }
  /** The webhook's filter dropped the request, or its list of event names dropped all events. */
  | {
      outcome: 'filtered';
      events: readonly Event[];
      reason: 'filter_not_met' | 'event_refused';
      response?: CustomResponse | undefined;
    }
  /** The transform returned no event. */
  | { outcome: 'ignored'; response?: CustomResponse | undefined }
  /** The provider checked the URL. */
  | { outcome: 'handshake'; response: HandshakeResponse };

export type WebhookOutcome = WebhookDecision | { outcome: 'rejected'; error: unknown };

type ConsoleLines = LogSummary['console'];

export interface WebhookResult {
  decided: WebhookOutcome;
  /** Internal IDs of the events, once committed. */
  ids: string[];
  /** Lines that the transform logged. */
  console: ConsoleLines;
  /** undefined if the webhook verifies nothing, or the request failed earlier. */
  verification?: LogSummary['verification'];
  /** The provider's ID of a request that was not rejected, if the webhook is reconciled. */
  providerId?: string;
}

export interface WebhookDecisionInput {
  /** Result of the transform, as a value and as JSON. */
  returned: unknown;
  text: string;
  allowList: AccessListMatcher;
  selection: string | undefined;
  resolution: Resolution;
  /** Unix milliseconds. */
  receivedAt: number;
  eventMaxFutureMs: number;
  /** Default deduplication ID of an event without one. */
  defaultId: () => string | undefined;
  /** undefined if the webhook has no provider. */
  verified: boolean | undefined;
}

/** @throws ServiceError transform_failed if the transform returned an invalid event */
export function decideOutcome(input: WebhookDecisionInput): WebhookDecision {
  const { returned, text, allowList, selection, resolution, receivedAt, eventMaxFutureMs } = input;
  const { events: made, response } = resultOfTransform(returned, text, receivedAt, eventMaxFutureMs);
  const given = response && { response };
  if (made.length === 0) return { outcome: 'ignored', ...given };
  // Completed before filtering by name: a list of event names that changes between two retries must not change the IDs.
  const completed = complete(made, input);
  const events = completed.filter(({ name }) => allowList.allowsName(name));
  if (events.length === 0) return { outcome: 'filtered', events: completed, reason: 'event_refused', ...given };
  if ('held' in resolution) return { outcome: 'held', events, reason: resolution.held, selection, ...given };
  return { outcome: 'accepted', events, env: resolution.env, ...given };
}

/** Adds deduplication IDs, and whether the request was verified. */
function complete(events: readonly Event[], { defaultId, verified }: WebhookDecisionInput): Event[] {
  const base = events.some(({ id }) => id === undefined) ? defaultId() : undefined;
  return events.map((event, index) => ({
    ...event,
    ...(base !== undefined && event.id === undefined && { id: events.length === 1 ? base : `${base}#${index}` }),
    ...(verified !== undefined && { verified }),
  }));
}

/** A request that failed at any stage. The error of a transform includes its log lines. */
export function rejected(error: unknown): WebhookResult {
  const logs = error instanceof ServiceError ? (error.facts?.logs as ConsoleLines | undefined) : undefined;
  return {
    decided: { outcome: 'rejected', error },
    ids: [],
    console: logs ?? [],
    verification: failedVerification(error),
  };
}

/** The response to the provider.
 *  @throws the error of a rejected request */
export function responseOf({ decided, ids }: WebhookResult): Received {
  if (decided.outcome === 'rejected') throw decided.error;
  if (decided.outcome === 'handshake') return { ids, env: undefined, response: decided.response };
  return {
    ids,
    env: decided.outcome === 'accepted' ? decided.env : undefined,
    ...(decided.response && { response: decided.response }),
  };
}

type ResultFields = Pick<
  LogSummary,
  'outcome' | 'status' | 'reason' | 'message' | 'eventName' | 'ids' | 'console' | 'verification'
>;

export function logFieldsOf({ decided, ids, console, verification }: WebhookResult): ResultFields {
  const { outcome } = decided;
  const common = { ids, console, ...(verification && { verification }) };
  switch (outcome) {
    case 'accepted':
      return { outcome, status: statusOf(decided), eventName: firstName(decided), ...common };
    case 'held':
      return { outcome, status: statusOf(decided), reason: decided.reason, eventName: firstName(decided), ...common };
    case 'filtered':
      return { outcome, status: statusOf(decided), reason: decided.reason, eventName: firstName(decided), ...common };
    case 'ignored':
      return { outcome, status: statusOf(decided), ...common };
    case 'handshake':
      return { outcome, status: decided.response.status, message: decided.response.note, ...common };
    case 'rejected':
      return { outcome, ...errorFields(decided.error), ...common };
  }
}

function statusOf({ response }: { response?: CustomResponse | undefined }): number {
  return response?.status ?? 200;
}

function firstName({ events }: { events: readonly Event[] }): string | undefined {
  return events[0]?.name;
}

/** How verification failed, if that was the reason; the log contains it. */
function failedVerification(error: unknown): LogSummary['verification'] {
  if (!(error instanceof ServiceError) || !error.code.startsWith('verification_')) return undefined;
  return { result: 'failed', reason: String(error.facts?.reason) };
}

function errorFields(thrown: unknown): Pick<LogSummary, 'status' | 'reason' | 'message'> {
  const error = toServiceError(thrown);
  if (!(error instanceof ServiceError)) return { status: 500, reason: 'internal' };
  return { status: error.status, reason: error.code, message: error.message };
}
