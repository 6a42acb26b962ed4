/** One logical send: a request, tried again until the service has taken it, refused it, or five tries have failed.
 *  Every try carries the same seed, so events that did arrive are not stored twice. */
import { randomBytes } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { SendError } from './errors.ts';
import { HEADERS, SDK } from './headers.ts';
import { parseObject, reasonOf } from './response.ts';
import { parseRetryAfterMs } from './retry-after.ts';
import type { Settings } from './settings.ts';

const MAX_TRIES = 5;
const TRY_TIMEOUT_MS = 30_000;
const MAX_RETRY_AFTER_MS = 30_000;
const FIRST_BACKOFF_MS = 200;

export interface SendResult {
  /** One per event, in order. */
  ids: string[];
}

export interface Clock {
  nowMs(): number;
  /** From 0 to 1. */
  random(): number;
  sleep(ms: number): Promise<unknown>;
}

const realClock: Clock = { nowMs: Date.now, random: Math.random, sleep: wait };

type Failure = { error: SendError; retriable: boolean; retryAfter?: string | null };

/** @throws SendError, ConfigError */
export async function sendEvents(
  events: readonly unknown[],
  settings: Settings,
  clock: Clock = realClock,
): Promise<SendResult> {
  const post = preparePost(events, settings, clock.nowMs());
  for (let tries = 1; ; tries++) {
    const outcome = await post();
    if ('ids' in outcome) return outcome;
    if (!outcome.retriable || tries === MAX_TRIES) throw outcome.error;
    await clock.sleep(delayMs(outcome, tries, clock));
  }
}

function preparePost(events: readonly unknown[], settings: Settings, nowMs: number) {
  const { baseUrl, eventKey, env, fetch } = settings;
  const url = `${baseUrl}/e/${encodeURIComponent(eventKey)}`;
  const body = JSON.stringify(events);
  const headers = new Headers({
    'content-type': 'application/json',
    [HEADERS.sdk]: SDK,
    [HEADERS.eventIdSeed]: `${nowMs},${randomBytes(10).toString('base64')}`,
    ...(env && { [HEADERS.env]: env }),
  });
  return async (): Promise<SendResult | Failure> => {
    try {
      const signal = AbortSignal.timeout(TRY_TIMEOUT_MS);
      const response = await fetch(url, { method: 'POST', headers, body, signal });
      return readAnswer(response, await response.text());
    } catch (cause) {
      // The address without its path: the key in it is a secret.
      const error = new SendError(`The service at ${baseUrl} could not be reached: ${reasonOf(cause)}`, { cause });
      return { error, retriable: true };
    }
  };
}

function readAnswer(response: Response, text: string): SendResult | Failure {
  const { status } = response;
  const { ids, error, code } = parseObject(text);
  if (response.ok && Array.isArray(ids)) return { ids };
  const message = response.ok
    ? `The answer (${status}) has no ids, so it did not come from the service`
    : typeof error === 'string'
      ? error
      : `The service answered ${status}`;
  return {
    error: new SendError(message, {
      status,
      code: typeof code === 'string' ? code : undefined,
      requestId: response.headers.get(HEADERS.requestId) ?? undefined,
    }),
    retriable: status === 408 || status === 429 || status >= 500,
    retryAfter: response.headers.get(HEADERS.retryAfter),
  };
}

/** What the service asks for; otherwise exponential backoff with full jitter. */
function delayMs({ retryAfter = null }: Failure, tries: number, { nowMs, random }: Clock): number {
  const askedMs = parseRetryAfterMs(retryAfter, nowMs());
  if (askedMs !== undefined) return Math.min(askedMs, MAX_RETRY_AFTER_MS);
  return random() * FIRST_BACKOFF_MS * 2 ** (tries - 1);
}
