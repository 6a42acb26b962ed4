/** `Idempotency-Key` (draft-ietf-httpapi-idempotency-key-header): for 24 hours, a POST that is repeated with the same key gets the response to the
 *  first request and is not executed again. Responses to rejected and failed requests are not kept: such a request may be repeated with the same
 *  key. */
import type { Next } from 'koa';
import { type ErrorCode, ServiceError } from '../../errors.ts';
import { digestOf } from '../../model/auth/secret.ts';
import {
  type Claim,
  type Claimed,
  type IdempotentResponses,
  RENEW_EVERY_MS,
} from '../../store/auth/idempotent-responses.ts';
import { environmentOf } from '../auth/guard.ts';
import { principalOf } from '../auth/principals.ts';
import { dialectOfRequest } from '../http/dialect.ts';
import type { RouteContext } from '../http/router.ts';
import type { Route } from './route.ts';

const IDEMPOTENCY_KEY = 'idempotency-key';
export const IDEMPOTENCY_ERRORS = [
  'idempotency_key_in_use',
  'idempotency_key_reused',
  'idempotency_response_gone',
] as const satisfies ErrorCode[];

/** Visible characters; the draft's quotes are not part of the key. */
const KEY = /^[\x21-\x7e]{1,255}$/;
/** Maximum size of a stored body; most have less than 2 KB. */
const KEPT_MAX_BYTES = 65_536;
const RETRY_AFTER_SECONDS = 1;

/** Runs after the access check and after reading the body. */
export function respondOnce(route: Route, responses: IdempotentResponses) {
  return async (ctx: RouteContext, next: Next): Promise<void> => {
    const given = ctx.get(IDEMPOTENCY_KEY);
    if (given === '') return next();
    const claimed = await responses.claim(digestOfKey(ctx, route, keyIn(given)), digestOfRequest(ctx));
    if ('claim' in claimed) return carryOut(ctx, next, claimed.claim, responses);
    const { status, body } = responseOf(claimed);
    ctx.set('idempotent-replayed', 'true');
    ctx.status = status;
    if (body === '') return;
    ctx.type = 'json';
    ctx.body = body;
  };
}

async function carryOut(ctx: RouteContext, next: Next, claim: Claim, responses: IdempotentResponses): Promise<void> {
  const renewal = setInterval(() => void responses.renew(claim).catch(() => {}), RENEW_EVERY_MS);
  try {
    await next();
  } catch (error) {
    // If Redis is down, the claim expires.
    await responses.release(claim).catch(() => {});
    throw error;
  } finally {
    clearInterval(renewal);
  }
  const { status, body } = ctx;
  const text = body === undefined || body === null ? '' : typeof body === 'string' ? body : JSON.stringify(body);
  const isTooLarge = Buffer.byteLength(text) > KEPT_MAX_BYTES;
  // The request was executed, so the client gets its response even if Redis is down.
  await responses.keep(claim, { status, body: isTooLarge ? null : text }).catch(() => {});
}

/** @throws ServiceError input_invalid */
function keyIn(given: string): string {
  const key = /^"(.*)"$/.exec(given)?.[1] ?? given;
  if (KEY.test(key)) return key;
  throw new ServiceError('input_invalid', {
    detail: `header "${IDEMPOTENCY_KEY}": expected 1 to 255 visible ASCII characters, such as a UUID`,
    facts: { field: IDEMPOTENCY_KEY },
  });
}

/** Separates the keys of principals, environments and routes. */
function digestOfKey(ctx: RouteContext, { scope, path }: Route, key: string): string {
  const { kind, id } = principalOf(ctx);
  const env = scope === 'environment' ? environmentOf(ctx) : null;
  return digestOf(JSON.stringify([kind, id, env, path, ctx.params, key]));
}

/** The dialect is included because it decides what a response means. */
function digestOfRequest(ctx: RouteContext): string {
  return digestOf(JSON.stringify([ctx.querystring, dialectOfRequest(ctx), ctx.request.body ?? null]));
}

/** @throws ServiceError idempotency_key_in_use, idempotency_key_reused, idempotency_response_gone */
function responseOf(claimed: Exclude<Claimed, { claim: Claim }>): { status: number; body: string } {
  if ('conflict' in claimed) {
    if (claimed.conflict === 'in-progress') {
      throw new ServiceError('idempotency_key_in_use', { retryAfterSeconds: RETRY_AFTER_SECONDS });
    }
    if (claimed.conflict === 'other-request') {
      throw new ServiceError('idempotency_key_reused', { detail: 'its parameters or its body differ; use a new key' });
    }
    throw new ServiceError('idempotency_response_gone', { detail: 'it is encrypted with another SECRET_KEY' });
  }
  const { status, body } = claimed.response;
  if (body !== null) return { status, body };
  const detail = `the first request was carried out with status ${status}; its response has more than ${KEPT_MAX_BYTES} bytes`;
  throw new ServiceError('idempotency_response_gone', { detail });
}
