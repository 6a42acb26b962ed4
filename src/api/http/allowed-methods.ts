/** Which methods are answered at all. To any other, a router inside says 501, which looks like a fault of the service. */
import type { Middleware } from 'koa';
import { ServiceError } from '../../errors.ts';

const METHODS = new Set(['GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'PATCH', 'DELETE']);

/** @throws ServiceError method_not_allowed */
export const rejectUnknownMethods: Middleware = async (ctx, next) => {
  if (!METHODS.has(ctx.method)) {
    ctx.set('allow', [...METHODS].join(', '));
    throw new ServiceError('method_not_allowed', { detail: `got ${ctx.method}` });
  }
  await next();
};
