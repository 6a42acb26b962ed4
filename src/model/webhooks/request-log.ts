/** Requests to webhooks as the request log has them. */
import type { IncomingHttpHeaders } from 'node:http';

/** `accepted`: an event was created; `ignored`: the transform returned no event; `filtered`: dropped by the filter or the list of event
 *  names; `held`: the event waits for an environment; `handshake`: the provider checked the URL; `rejected`: the provider got an error. */
export const LOG_OUTCOMES = ['accepted', 'ignored', 'filtered', 'held', 'handshake', 'rejected'] as const;
export type LogOutcome = (typeof LOG_OUTCOMES)[number];

export const VERIFICATION_RESULTS = ['verified', 'failed', 'skipped'] as const;
export type VerificationResult = (typeof VERIFICATION_RESULTS)[number];

export interface LogSummary {
  /** Request ID: a ULID, also in the response's `x-request-id`. */
  id: string;
  /** Unix milliseconds. */
  receivedAt: number;
  method: string;
  ip: string;
  outcome: LogOutcome;
  /** HTTP status of the response. */
  status: number;
  /** Error code, the reason why the event is held, or event_refused; absent on success. */
  reason?: string | undefined;
  message?: string | undefined;
  eventName?: string | undefined;
  ids: string[];
  console: { level: string; text: string }[];
  durationMs: number;
  /** Bytes of the body; absent if it was not read completely and is not stored. */
  bodyBytes?: number | undefined;
  /** For a large body: ID of the request with which it is kept, instead of in the log. */
  storedBody?: string | undefined;
  /** ID of the logged request that this request repeats. */
  rerunOf?: string | undefined;
  /** The request was not received, but fetched from the provider's list of sent requests. */
  recovered?: boolean | undefined;
  /** Version of the webhook that handled it; absent for requests that predate versions. */
  version?: number | undefined;
  /** Absent if the webhook had no provider, or the request failed earlier. `skipped`: `verify` was false. */
  verification?: { result: VerificationResult; reason?: string | undefined; secretId?: string | undefined } | undefined;
}

export interface LoggedRequest {
  summary: LogSummary;
  headers: IncomingHttpHeaders;
  /** The query string. */
  search: string;
  /** Absent if it was not read completely. */
  body?: Buffer | undefined;
}

/** Statistics of a log. */
export interface LogStats {
  /** Receipt of the last request, Unix milliseconds; undefined if the log is empty. */
  lastAt: number | undefined;
  requests: number;
  rejected: number;
  /** Dropped by the filter or by the list of event names. */
  filtered: number;
  /** Rejected because verification failed. */
  unverified: number;
}

/** Selects requests of a log. */
export interface LogFilter {
  /** Absent: all. */
  outcomes?: readonly LogOutcome[] | undefined;
  verification?: VerificationResult | undefined;
  /** Receipt, Unix milliseconds, inclusive. */
  after?: number | undefined;
  /** Exclusive. */
  before?: number | undefined;
}

export interface LogQuery extends LogFilter {
  limit: number;
  /** ID of the last request of the previous page. */
  cursor?: string | undefined;
}

export interface LogPage {
  requests: LogSummary[];
  /** ID after which the next page begins; undefined on the last page. */
  next?: string | undefined;
  /** Why the page is shorter than its limit. */
  stoppedEarly?: 'archive_unavailable' | 'time' | undefined;
}

export interface LogCounts {
  /** Statistics in the order of the IDs. */
  stats: LogStats[];
  stoppedEarly?: LogPage['stoppedEarly'];
}
