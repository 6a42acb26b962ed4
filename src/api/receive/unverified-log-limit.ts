/** Limits the logging of unverified requests: anybody who knows the URL of a webhook can send any number of them, and the archive keeps them
 *  for long. The limit lets all requests of a provider with a wrong secret into the log, but only a sample of a flood. */
import { LRUCache } from 'lru-cache';
import type { LoggedRequest, LogSummary } from '../../model/webhooks/request-log.ts';

/** Number of requests logged at once, and per minute afterwards. */
const REQUESTS = { atOnce: 1_000, perMinute: 60 };
/** Total size of their bodies, headers and query strings. */
const BYTES = { atOnce: 16 * 1_048_576, perMinute: 1_048_576 };
const MAX_WEBHOOKS = 1_000;

/** Errors before the transform. Later errors belong to requests that the webhook accepts. */
const UNPROVEN: ReadonlySet<string | undefined> = new Set([
  'verification_failed',
  'verification_unavailable',
  'ip_refused',
  'method_not_allowed',
  'webhook_paused',
  'body_too_large',
  'body_invalid',
  'content_encoding_unsupported',
]);

interface Left {
  requests: number;
  bytes: number;
  at: number;
}

export class UnverifiedLogLimit {
  readonly #left = new LRUCache<string, Left>({ max: MAX_WEBHOOKS });

  /** The part of the request to log: all, all except the body, or nothing. */
  admit(webhookId: string, request: LoggedRequest): LoggedRequest | undefined {
    const { summary, headers, search, body } = request;
    if (!isUnproven(summary)) return request;
    const left = this.#leftOf(webhookId, summary.receivedAt);
    const headBytes = JSON.stringify(headers).length + search.length;
    if (left.requests < 1 || left.bytes < headBytes) return undefined;
    left.requests -= 1;
    left.bytes -= headBytes;
    if (body && left.bytes < body.length) {
      return { summary: { ...summary, bodyBytes: undefined }, headers, search };
    }
    left.bytes -= body?.length ?? 0;
    return request;
  }

  #leftOf(webhookId: string, nowMs: number): Left {
    const known = this.#left.get(webhookId) ?? { requests: REQUESTS.atOnce, bytes: BYTES.atOnce, at: nowMs };
    const minutes = Math.max(0, nowMs - known.at) / 60_000;
    const left = {
      requests: Math.min(REQUESTS.atOnce, known.requests + minutes * REQUESTS.perMinute),
      bytes: Math.min(BYTES.atOnce, known.bytes + minutes * BYTES.perMinute),
      at: Math.max(known.at, nowMs),
    };
    this.#left.set(webhookId, left);
    return left;
  }
}

function isUnproven({ outcome, reason, verification }: LogSummary): boolean {
  if (verification?.result === 'verified') return false;
  return outcome === 'handshake' || (outcome === 'rejected' && UNPROVEN.has(reason));
}
