/** The error handler: turns every error into a response and decides which details a client sees. */
import type { Next } from 'koa';
import { type ErrorCode, ServiceError } from '../../errors.ts';
import type { Backpressure } from '../../jobs/queues/backpressure.ts';
import type { Logger } from '../../log.ts';
import { isOutOfMemory, toServiceError } from '../../store/redis/connection/connection.ts';
import { lingeringBody } from './lingering-close.ts';
import type { Context, Middleware } from './router.ts';

/** Errors with status 5xx that are not logged as faults. Backpressure logs a shortage of memory once, when it begins. */
const NO_FAULTS: ReadonlySet<ErrorCode> = new Set(['memory_short', 'feature_unsupported']);

export function handleErrors(log: Logger, backpressure?: Backpressure): Middleware {
  return async (ctx: Context, next: Next) => {
    try {
      if (ctx.state.hasNoPath) {
        throw new ServiceError('input_invalid', { detail: 'the request target has no path; begin it with "/"' });
      }
      await next();
      if (ctx.status === 404 && ctx.body === undefined && ctx.respond !== false) {
        throw new ServiceError('not_found', { detail: `no route matches ${ctx.method} ${ctx.path}; see /docs` });
      }
      writeJson(ctx);
    } catch (thrown) {
      respondToError(ctx, thrown, log, backpressure);
    }
    logRequest(ctx, log);
  };
}

export function respondToError(ctx: Context, thrown: unknown, log: Logger, backpressure?: Backpressure): void {
  if (isOutOfMemory(thrown)) void backpressure?.refresh();
  respond(ctx, serviceErrorOf(thrown), log);
}

export function serviceErrorOf(thrown: unknown): ServiceError {
  const error = toServiceError(thrown);
  return error instanceof ServiceError ? error : new ServiceError('internal', { cause: thrown });
}

export function logRequest(ctx: Context, log: Logger): void {
  if (!log.isLevelEnabled('debug')) return;
  const { method, status, _matchedRoute: route } = ctx;
  log.debug({ request_id: ctx.state.requestId, method, route, status }, 'request');
}

/** Koa would serialize the body after this handler has returned, where a body that cannot be serialized is no longer caught. */
function writeJson(ctx: Context): void {
  const { body } = ctx;
  if (typeof body !== 'object' || body === null) return;
  const prototype = Object.getPrototypeOf(body);
  if (prototype === Object.prototype || prototype === Array.prototype) ctx.body = JSON.stringify(body);
}

function writeBody(ctx: Context, text: string): void {
  const { complete } = ctx.req;
  ctx.body = complete ? text : lingeringBody(text, ctx.req);
  ctx.type = 'json';
  if (complete) return;
  ctx.length = Buffer.byteLength(text);
  ctx.compress = false;
  // Otherwise the rest of an unread body would be taken for the next request of the connection.
  ctx.set('connection', 'close');
}

function respond(ctx: Context, error: ServiceError, log: Logger): void {
  const { status, code, message, facts, retryAfterSeconds, cause } = error;
  ctx.status = status;
  ctx.state.errorCode = code;
  writeBody(ctx, JSON.stringify({ ...facts, error: message, code, status }));
  if (retryAfterSeconds !== undefined) ctx.set('retry-after', String(retryAfterSeconds));
  if (status >= 500 && !NO_FAULTS.has(code)) {
    const err = code === 'internal' || cause === undefined ? cause : String(cause);
    log.error({ request_id: ctx.state.requestId, code, err }, message);
  } else {
    log.info({ request_id: ctx.state.requestId, code, status }, 'request rejected');
  }
}
