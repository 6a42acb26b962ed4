/** What every request passes through: its ID, and the one place where errors become answers and it is decided what may leak. */
import type { Context, Next } from 'koa';
import { ServiceError } from '../errors.ts';
import type { Pressure } from '../jobs/pressure.ts';
import type { Logger } from '../log.ts';
import { newId } from '../model/ids.ts';
import { isOutOfMemory, translateAway } from '../store/redis.ts';

/** Gives the request the ID that its events, runs and log lines carry. */
export async function identify(ctx: Context, next: Next): Promise<void> {
  const requestId = newId();
  ctx.state.requestId = requestId;
  ctx.set('x-request-id', requestId);
  await next();
}

export function funnelErrors(log: Logger, pressure?: Pressure) {
  return async (ctx: Context, next: Next): Promise<void> => {
    try {
      await next();
      if (ctx.status === 404 && ctx.body === undefined) {
        throw new ServiceError('not_found', { detail: `no ${ctx.method} ${ctx.path}; /docs lists what there is` });
      }
    } catch (thrown) {
      if (isOutOfMemory(thrown)) void pressure?.look();
      const error = translateAway(thrown);
      answer(ctx, error instanceof ServiceError ? error : new ServiceError('internal', { cause: thrown }), log);
    }
    log.debug(
      { request_id: ctx.state.requestId, method: ctx.method, route: ctx._matchedRoute, status: ctx.status },
      'request',
    );
  };
}

function answer(ctx: Context, error: ServiceError, log: Logger): void {
  const { status, code, message, facts, retryAfterSeconds, cause } = error;
  ctx.status = status;
  ctx.body = { ...facts, error: message, code, status };
  if (retryAfterSeconds !== undefined) ctx.set('retry-after', String(retryAfterSeconds));
  // A request that is answered before it was read cannot be followed by another on its connection.
  if (!ctx.req.complete) ctx.set('connection', 'close');
  // That the service is full is told once, when it begins.
  if (status >= 500 && code !== 'memory_short') {
    log.error({ request_id: ctx.state.requestId, code, err: code === 'internal' ? cause : String(cause) }, message);
  } else {
    log.info({ request_id: ctx.state.requestId, code, status }, 'refused');
  }
}
