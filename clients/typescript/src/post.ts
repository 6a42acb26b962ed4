/** Sends one request with events, with up to five attempts. */
import { setTimeout as wait } from 'node:timers/promises';
import { HEADERS, SDK } from './headers.ts';
import { hintIfRefused, unreachable } from './hints.ts';
import type { ServiceResponse } from './request.ts';
import { parseObject } from './response.ts';
import { parseRetryAfterMs } from './retry-after.ts';
import type { Settings } from './settings.ts';

const MAX_TRIES = 5;
const TRY_TIMEOUT_MS = 30_000;
const MAX_RETRY_AFTER_MS = 30_000;
const FIRST_BACKOFF_MS = 200;

export interface Clock {
  nowMs(): number;
  /** A random number from 0 to 1. */
  random(): number;
  /** Can reject when the signal aborts. */
  sleep(ms: number, signal: AbortSignal | undefined): Promise<unknown>;
}

export const realClock: Clock = {
  nowMs: Date.now,
  random: Math.random,
  sleep: (ms, signal) => wait(ms, undefined, signal && { signal }),
};

export interface PostRequest {
  /** A JSON array of events. */
  body: string;
  seed: string;
  signal: AbortSignal | undefined;
}

export interface Failure {
  message: string;
  status?: number | undefined;
  code?: string | undefined;
  requestId?: string | undefined;
  cause?: unknown;
  retriable?: boolean;
  retryAfter?: string | undefined;
  /** The size limit of a request, as the service states it. */
  limitBytes?: number | undefined;
}

/** Every attempt has the same seed and body, so that retries create no duplicates.
 *  @throws ConfigError */
export async function postEvents(
  request: PostRequest,
  settings: Settings,
  clock: Clock,
): Promise<{ ids: string[] } | Failure> {
  for (let tries = 1; ; tries++) {
    const outcome = await tryOnce(request, settings);
    if ('ids' in outcome || !outcome.retriable || tries === MAX_TRIES) return outcome;
    await clock.sleep(delayMs(outcome, tries, clock), request.signal).catch(() => {});
    if (request.signal?.aborted) return abandoned(request.signal, outcome);
  }
}

async function tryOnce({ body, seed, signal }: PostRequest, settings: Settings): Promise<{ ids: string[] } | Failure> {
  const { mode, baseUrl, eventKey, env, request } = settings;
  const url = `${baseUrl}/e/${encodeURIComponent(eventKey)}`;
  const headers = {
    'content-type': 'application/json',
    [HEADERS.sdk]: SDK,
    [HEADERS.eventIdSeed]: seed,
    ...(env && { [HEADERS.env]: env }),
  };
  const tryEnds = AbortSignal.timeout(TRY_TIMEOUT_MS);
  try {
    const either = signal ? AbortSignal.any([signal, tryEnds]) : tryEnds;
    return readAnswer(await request(url, { method: 'POST', headers, body, signal: either }), mode);
  } catch (cause) {
    if (signal?.aborted) return abandoned(signal);
    // The URL without the path, which contains the secret key.
    return { message: unreachable(cause, baseUrl, mode), cause, retriable: true };
  }
}

/** @param before the failure of the previous attempt, if any */
export function abandoned({ reason }: AbortSignal, before?: Failure): Failure {
  const timedOut = reason instanceof Error && reason.name === 'TimeoutError';
  const what = timedOut ? 'The send was not done in time' : 'The send was aborted';
  const { status, requestId } = before ?? {};
  const message = before ? `${what}. Until then: ${before.message}` : what;
  return { message, code: timedOut ? 'timeout' : 'aborted', status, requestId, cause: reason };
}

function readAnswer(response: ServiceResponse, mode: Settings['mode']): { ids: string[] } | Failure {
  const { ok, status, text } = response;
  const { ids, error, code, limit_bytes: limitBytes } = parseObject(text);
  if (ok && Array.isArray(ids)) return { ids };
  const message = ok
    ? `The response (${status}) has no ids, so it did not come from the service`
    : typeof error === 'string'
      ? error
      : `The service answered ${status}`;
  return {
    message: `${message}${hintIfRefused(status, mode)}`,
    status,
    code: typeof code === 'string' ? code : undefined,
    requestId: response.header(HEADERS.requestId),
    retriable: status === 408 || status === 429 || status >= 500,
    retryAfter: response.header(HEADERS.retryAfter),
    limitBytes: typeof limitBytes === 'number' ? limitBytes : undefined,
  };
}

/** The service's `retry-after`, or exponential backoff with full jitter. */
function delayMs({ retryAfter }: Failure, tries: number, { nowMs, random }: Clock): number {
  const askedMs = parseRetryAfterMs(retryAfter ?? null, nowMs());
  if (askedMs !== undefined) return Math.min(askedMs, MAX_RETRY_AFTER_MS);
  return random() * FIRST_BACKOFF_MS * 2 ** (tries - 1);
}
