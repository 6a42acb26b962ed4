/** Access rules and audit entries of Bull Board. Its routes are declared here again with the access that each needs; a route missing
 *  here, for example of a newer version, cannot change anything. */

import type { Next } from 'koa';
import { ServiceError } from '../../errors.ts';
import type { Access } from '../../model/auth/access.ts';
import { loadOnce } from '../../model/values/load-once.ts';
import type { AuditLogger } from '../auth/audit-logger.ts';
import { isSafeMethod } from '../auth/csrf.ts';
import { allow } from '../auth/guard.ts';
import { principalOf } from '../auth/principals.ts';
import { BOARD_PATH, isBoard } from '../http/board-path.ts';
import { type BoardRoute, type Context, type Middleware, Router } from '../http/router.ts';

const QUEUE = '/api/queues/:queueName';
const JOB = `${QUEUE}/:jobId`;
const SCHEDULER = `${QUEUE}/job-schedulers/:schedulerId`;

/** Access that each route with an unsafe method needs. `undefined`: forbidden, because it would forge events or lose all jobs. */
export const BOARD_ACCESS: Readonly<Record<string, Access | undefined>> = {
  // These actions only change when jobs run; they lose nothing.
  'PUT /api/queues/pause': 'write',
  'PUT /api/queues/resume': 'write',
  [`PUT ${QUEUE}/pause`]: 'write',
  [`PUT ${QUEUE}/resume`]: 'write',
  [`PUT ${QUEUE}/promote`]: 'write',
  [`PUT ${QUEUE}/retry/:queueStatus`]: 'write',
  [`PUT ${QUEUE}/rate-limit/release`]: 'write',
  [`PUT ${JOB}/retry`]: 'write',
  [`PUT ${JOB}/promote`]: 'write',
  // These lose events or runs, or delay all environments until undone.
  [`PUT ${QUEUE}/empty`]: 'admin',
  [`PUT ${QUEUE}/clean/:queueStatus`]: 'admin',
  [`PUT ${JOB}/clean`]: 'admin',
  [`PUT ${JOB}/remove-unprocessed-children`]: 'admin',
  [`PUT ${QUEUE}/concurrency`]: 'admin',
  [`PUT ${QUEUE}/rate-limit`]: 'admin',
  [`PATCH ${JOB}/delay`]: 'admin',
  [`PATCH ${JOB}/priority`]: 'admin',
  [`POST ${QUEUE}/add`]: undefined,
  [`PATCH ${JOB}/update-data`]: undefined,
  [`PUT ${QUEUE}/obliterate`]: undefined,
  [`PUT ${SCHEDULER}/remove`]: undefined,
  [`PATCH ${SCHEDULER}`]: undefined,
  [`PUT ${SCHEDULER}/run`]: undefined,
};

/** Maximum number of jobs per page: an ingest job may have a megabyte. */
const MAX_JOBS_PER_PAGE = 20;

/** Finds the board's route for a request, in the board's own order. The first request to the board loads its routes. */
export function findBoardRoute(): Middleware {
  const find = loadOnce(loadRoutes);
  return async (ctx, next) => {
    if (!isBoard(ctx.path)) return next();
    return (await find())(ctx, next);
  };
}

async function loadRoutes(): Promise<Middleware> {
  const { appRoutes } = await import('@bull-board/api/dist/routes.js');
  const router = new Router({ prefix: BOARD_PATH, strict: true });
  for (const { method, route, spec } of appRoutes.api) {
    for (const verb of [method].flat()) {
      const name = `${verb.toUpperCase()} ${route}`;
      router.on(verb, route as string, (ctx, next) => {
        ctx.state.boardRoute ??= { name, summary: spec.summary, params: ctx.params };
        return next();
      });
    }
  }
  return router.routes();
}

/** Authorizes everything behind the guard that is not a route of the REST API.
 *  @throws ServiceError access_denied, not_found */
export async function allowOnBoard(ctx: Context, next: Next): Promise<void> {
  const isChange = !isSafeMethod(ctx);
  const access = isChange && isBoard(ctx.path) ? BOARD_ACCESS[ctx.state.boardRoute?.name ?? ''] : undefined;
  allow(ctx, { access: access ?? (isChange ? 'write' : 'read'), scope: 'all-environments' }, undefined);
  if (isChange && access === undefined && isBoard(ctx.path)) {
    throw new ServiceError('not_found', {
      detail: 'this action of Bull Board is turned off; /docs lists the actions of the API',
    });
  }
  await next();
}

/** Writes an audit entry for each change made in Bull Board. */
export function auditBoard(auditLogger: AuditLogger): Middleware {
  return async (ctx: Context, next: Next) => {
    await next();
    const { boardRoute } = ctx.state;
    if (isSafeMethod(ctx) || ctx.status >= 400 || !boardRoute) return;
    await auditLogger.log(ctx, { who: principalOf(ctx), ...describeAction(boardRoute, ctx) });
  };
}

/** Runs before the board's own routes. */
export async function clampBoardQuery(ctx: Context, next: Next): Promise<void> {
  const given = ctx.query.jobsPerPage;
  const isValid = typeof given === 'string' && /^[1-9]\d{0,2}$/.test(given) && Number(given) <= MAX_JOBS_PER_PAGE;
  // The board reads the same object: the query is parsed once per request (incoming-request.ts).
  if (given !== undefined && !isValid) ctx.query.jobsPerPage = String(MAX_JOBS_PER_PAGE);
  await next();
}

function describeAction({ name, summary, params }: BoardRoute, ctx: Context) {
  const target = Object.values(params).join('/');
  return {
    action: name.replace(' ', ` ${BOARD_PATH}`),
    ...(target && { target }),
    summary: [`Bull Board: ${summary.replace(/\.$/, '')}`, ...loggedNumbers(ctx)].join(', '),
  };
}

/** Numeric fields that the audit entry includes. Other fields may be texts of any length. */
const LOGGED_FIELDS = ['concurrency', 'delay', 'priority', 'max', 'duration'];

/** For example `concurrency 5`. */
function loggedNumbers(ctx: Context): string[] {
  const fields = (ctx.request.body ?? {}) as Record<string, unknown>;
  return LOGGED_FIELDS.flatMap((name) => (typeof fields[name] === 'number' ? [`${name} ${fields[name]}`] : []));
}
