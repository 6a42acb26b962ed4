/** Checks that every request passes before it reaches a route: its ID, target, method and query, and the address of its client. */
import type Koa from 'koa';
import { ServiceError } from '../../errors.ts';
import { newId } from '../../model/ids.ts';
import type { Context, Middleware } from './router.ts';
import { type Lists, parseFields, type Query } from './urlencoded.ts';

const METHODS = new Set(['GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'PATCH', 'DELETE']);

/** Gives the request the ID that its events, runs and log lines carry. A target without a path, such as `http://[`, would make every
 *  reader of `ctx.path` throw: it becomes "/", and the error handler rejects the request. */
export const assignRequestId: Middleware = async (ctx, next) => {
  const requestId = newId();
  ctx.state.requestId = requestId;
  ctx.set('x-request-id', requestId);
  ctx.state.hasNoPath = !hasPath(ctx);
  if (ctx.state.hasNoPath) ctx.url = '/';
  await next();
};

/** The routers would answer other methods with 501, which looks like a fault of the service.
 *  @throws ServiceError method_not_allowed */
export const rejectUnknownMethods: Middleware = async (ctx, next) => {
  if (!METHODS.has(ctx.method)) {
    ctx.set('allow', [...METHODS].join(', '));
    throw new ServiceError('method_not_allowed', { detail: `got ${ctx.method}` });
  }
  await next();
};

/** Replaces Koa's query parser, whose time is quadratic in the number of parameters. Everything that reads `ctx.query`, including
 *  libraries, gets this query, parsed once per request. */
export function parseQueriesOnce(app: { request: object }): void {
  const parsed = new WeakMap<object, Query>();
  Object.defineProperty(app.request, 'query', {
    configurable: true,
    get(this: Koa.Request): Query {
      const known = parsed.get(this);
      if (known) return known;
      const query = toQuery(parseFields(this.querystring, 'the query string'));
      parsed.set(this, query);
      return query;
    },
  });
}

/** Runs before anything reads the query.
 *  @throws ServiceError too_many_fields */
export const rejectLongQueries: Middleware = async (ctx, next) => {
  void ctx.query;
  await next();
};

/** The peer's address, or the address in X-Forwarded-For that TRUST_PROXY selects. The port that some proxies add is removed, because it differs
 *  with every connection. */
export function clientAddress(ctx: Pick<Context, 'ip'>): string {
  const [, bracketed, v4] = /^(?:\[(.+)\](?::\d+)?|([\d.]+):\d+)$/.exec(ctx.ip) ?? [];
  return bracketed ?? v4 ?? ctx.ip;
}

function hasPath(ctx: Context): boolean {
  try {
    return Boolean(ctx.path);
  } catch {
    return false;
  }
}

function toQuery(lists: Lists): Query {
  const query: Query = Object.create(null);
  for (const name in lists) query[name] = lists[name]?.length === 1 ? lists[name][0] : lists[name];
  return query;
}
