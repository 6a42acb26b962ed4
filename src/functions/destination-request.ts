/** The one request of a run of a destination, signed by Standard Webhooks, and what its response means (docs/destinations.md). */
import { createHmac } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Destination } from '../model/apps/destination.ts';
import { type EventRecord, FUNCTION_INVOKED } from '../model/events/event.ts';
import { retryAfterMs } from '../model/runs/retry.ts';
import { machineTime } from '../model/values/clock.ts';
import { iso } from '../model/values/time.ts';
import { mayBeSecret } from '../providers/credential-locations.ts';
import { VERSION } from '../version.ts';
import type { CallContext } from './call-request.ts';
import { isSuccess } from './error-response.ts';
import type { CallResponse } from './http-post.ts';
import { type Failure, type Outcome, permanentFailure, retriableFailure } from './interpret-response.ts';

/** Longest part of a response's body in the output of a run. */
const OUTPUT_CHARS = 16_384;
/** Maximum bytes of a response that are read. */
export const RESPONSE_MAX_BYTES = 65_536;
const EXCERPT_CHARS = 500;
const GONE = 410;
/** Time in which a request may still be missing: if the destination is new, the request is only in the webhook's log, which has it within
 *  seconds after its response. */
const LOGGED_AFTER_MS = 60_000;
const LOGGED_SOON_MS = 1_000;

/** Headers of the connection, or about the former hop. */
const CONNECTION_HEADERS =
  /^(?:host|content-length|connection|keep-alive|transfer-encoding|upgrade|te|trailer|expect|forwarded|(?:proxy|x-forwarded|webhook)-.*)$/;

const JSON_TYPE = 'application/json';
const USER_AGENT = `Tidegate/${VERSION}`;

/** The request of a webhook that made an event. */
export interface OriginalRequest {
  headers: IncomingHttpHeaders;
  body: Buffer;
  /** Releases the memory of a large body. */
  release?: (() => void) | undefined;
}

export interface DestinationSecrets {
  /** `whsec_…`, each signs. */
  signing: readonly string[];
  headers: Readonly<Record<string, string>>;
}

export interface DestinationRequest {
  headers: Record<string, string>;
  body: string | Buffer;
}

/** @param original undefined: the event, or its data, is sent */
export function destinationRequest(
  { body: what, forwardHeaders }: Pick<Destination, 'body' | 'forwardHeaders'>,
  { run, event }: Pick<CallContext, 'run' | 'event'>,
  secrets: DestinationSecrets,
  original: OriginalRequest | undefined,
): DestinationRequest {
  const body = original?.body ?? JSON.stringify(what === 'data' ? event.data : eventBody(event));
  const forwarded = original ? forwardedHeaders(original.headers, forwardHeaders) : { 'content-type': JSON_TYPE };
  const headers = {
    'user-agent': USER_AGENT,
    ...forwarded,
    ...secrets.headers,
    ...standardWebhookHeaders(run.id, body, secrets.signing, machineTime()),
  };
  return { headers, body };
}

/** https://www.standardwebhooks.com: an ID that is the same on all attempts, the time, and a signature for each secret. */
export function standardWebhookHeaders(
  id: string,
  body: string | Buffer,
  secrets: readonly string[],
  nowMs: number,
): Record<string, string> {
  const seconds = String(Math.floor(nowMs / 1_000));
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
    return `v1,${createHmac('sha256', key).update(`${id}.${seconds}.`).update(body).digest('base64')}`;
  });
  return { 'webhook-id': id, 'webhook-timestamp': seconds, 'webhook-signature': signatures.join(' ') };
}

/** The event as `GET /v1/events/:id` shows it. */
function eventBody({ internal_id, id, name, data, ts, user, v, meta, verified, received_at }: EventRecord) {
  const receivedAt = iso(received_at);
  return { internal_id, id: id ?? internal_id, name, data, ts, user, v, meta, verified, received_at: receivedAt };
}

/** A wildcard means no header with credentials. */
function isHarmless(name: string): boolean {
  return !CONNECTION_HEADERS.test(name) && !mayBeSecret('headers', name);
}

function forwardedHeaders(headers: IncomingHttpHeaders, names: readonly string[]): Record<string, string> {
  const isWanted = (name: string) =>
    names.some((wanted) =>
      wanted.endsWith('*') ? isHarmless(name) && name.startsWith(wanted.slice(0, -1)) : name === wanted,
    );
  const wanted = Object.entries(headers).flatMap(([name, value]) =>
    value !== undefined && (name === 'content-type' || isWanted(name)) ? [[name, [value].flat().join(', ')]] : [],
  );
  return Object.fromEntries(wanted);
}

/** The request to send if there is no original one: for an event without a webhook, its data.
 *  @returns a failure if the event had a request, which is gone */
export function withoutOriginal({ name, data, received_at }: EventRecord, nowMs: number): OriginalRequest | Failure {
  // A test, or a step of another function.
  if (name === FUNCTION_INVOKED)
    return { headers: { 'content-type': JSON_TYPE }, body: Buffer.from(JSON.stringify(data)) };
  const message = 'the original request is no longer stored; send the event instead, or keep requests for longer';
  return nowMs - received_at < LOGGED_AFTER_MS
    ? {
        ...retriableFailure('RequestNotStored', 'the original request is not stored yet'),
        retryAfterMs: LOGGED_SOON_MS,
      }
    : permanentFailure('RequestNotStored', message);
}

/** @param nowMs the base for a `retry-after` date */
export function interpretDestinationResponse(url: string, response: CallResponse, nowMs: number): Outcome {
  const { status, body } = response;
  const request = { method: 'POST', origin: new URL(url).origin, status };
  if (!isSuccess(status)) return { ...failureOf(response, nowMs), request };
  const output = JSON.stringify({ status, body: body.slice(0, OUTPUT_CHARS).toWellFormed() });
  return { kind: 'completed', output, request };
}

function failureOf({ status, headers, body }: CallResponse, nowMs: number): Failure {
  const answered = `the destination responded with status ${status}`;
  if (status >= 300 && status < 400) {
    return retriableFailure('RedirectRefused', `${answered}; redirects are not followed: give it the final URL`);
  }
  const excerpt = body.slice(0, EXCERPT_CHARS).toWellFormed();
  const message = excerpt.trim() === '' ? answered : `${answered}: ${excerpt}`;
  if (status === GONE) return permanentFailure('DestinationGone', message);
  return {
    ...retriableFailure('DestinationError', message),
    retryAfterMs: retryAfterMs(headers['retry-after'], nowMs),
  };
}
