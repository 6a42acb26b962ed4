/** What every request passes through: its ID, and the one place where answers are written, errors become answers, and it is decided what
 *  may leak. */
import type { Context, Next } from 'koa';
import { ServiceError } from '../../errors.ts';
import type { Backpressure } from '../../jobs/queues/backpressure.ts';
import type { Logger } from '../../log.ts';
import { newId } from '../../model/ids.ts';
import { isOutOfMemory, translateAway } from '../../store/redis/connection.ts';

/** Gives the request the ID that its events, runs and log lines carry. What follows reads the path: of a target that has none, such as
 *  `http://[`, it reads "/", and the funnel refuses it. */
export async function assignRequestId(ctx: Context, next: Next): Promise<void> {
  const requestId = newId();
  ctx.state.requestId = requestId;
  ctx.set('x-request-id', requestId);
  ctx.state.hasNoPath = !hasPath(ctx);
  if (ctx.state.hasNoPath) ctx.url = '/';
  await next();
}

function hasPath(ctx: Context): boolean {
  try {
    return Boolean(ctx.path);
  } catch {
    return false;
  }
}

export function handleErrors(log: Logger, pressure?: Backpressure) {
  return async (ctx: Context, next: Next): Promise<void> => {
    try {
      if (ctx.state.hasNoPath)
        throw new ServiceError('input_invalid', { detail: 'the request names no path; begin it with "/"' });
      await next();
      if (ctx.status === 404 && ctx.body === undefined) {
        throw new ServiceError('not_found', { detail: `no ${ctx.method} ${ctx.path}; /docs lists what there is` });
      }
      writeJson(ctx);
    } catch (thrown) {
      if (isOutOfMemory(thrown)) void pressure?.refresh();
      const error = translateAway(thrown);
      answer(ctx, error instanceof ServiceError ? error : new ServiceError('internal', { cause: thrown }), log);
    }
    log.debug(
      { request_id: ctx.state.requestId, method: ctx.method, route: ctx._matchedRoute, status: ctx.status },
      'request',
    );
  };
}

/** Here and not in Koa, whose own writing comes after all that knows errors: what cannot be written is an error like any other. */
function writeJson(ctx: Context): void {
  const { body } = ctx;
  if (typeof body !== 'object' || body === null) return;
  const prototype = Object.getPrototypeOf(body);
  if (prototype === Object.prototype || prototype === Array.prototype) ctx.body = JSON.stringify(body);
}

function answer(ctx: Context, error: ServiceError, log: Logger): void {
  const { status, code, message, facts, retryAfterSeconds, cause } = error;
  ctx.status = status;
  ctx.state.errorCode = code;
  ctx.body = JSON.stringify({ ...facts, error: message, code, status });
  ctx.type = 'json';
  if (retryAfterSeconds !== undefined) ctx.set('retry-after', String(retryAfterSeconds));
  // A request that is answered before it was read cannot be followed by another on its connection.
  if (!ctx.req.complete) ctx.set('connection', 'close');
  // That the service is full is told once, when it begins.
  if (status >= 500 && code !== 'memory_short') {
    const err = code === 'internal' || cause === undefined ? cause : String(cause);
    log.error({ request_id: ctx.state.requestId, code, err }, message);
  } else {
    log.info({ request_id: ctx.state.requestId, code, status }, 'refused');
  }
}
