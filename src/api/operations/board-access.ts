/** Who may do what in Bull Board, and what the audit log says of it. Its routes are its own: what each may be used by stands here, and one
 *  that does not stand here (of a later version) changes nothing. */
import { appRoutes } from '@bull-board/api/dist/routes.js';
import Router, { type RouterMiddleware } from '@koa/router';
import type { Context, Next } from 'koa';
import { ServiceError } from '../../errors.ts';
import type { Access } from '../../model/auth/access.ts';
import type { AuditLogger } from '../auth/audit-log.ts';
import { isSafeMethod } from '../auth/csrf.ts';
import { allow } from '../auth/guard.ts';
import { principalOf } from '../auth/principals.ts';
import { BOARD_PATH, isBoard } from './board.ts';

const QUEUE = '/api/queues/:queueName';
const JOB = `${QUEUE}/:jobId`;
const SCHEDULER = `${QUEUE}/job-schedulers/:schedulerId`;

/** What changes something. `undefined`: for nobody; it would forge events, or lose all there are, and nobody needs it. */
export const BOARD_ACCESS: Readonly<Record<string, Access | undefined>> = {
  // Sooner or later, and nothing is lost.
  'PUT /api/queues/pause': 'write',
  'PUT /api/queues/resume': 'write',
  [`PUT ${QUEUE}/pause`]: 'write',
  [`PUT ${QUEUE}/resume`]: 'write',
  [`PUT ${QUEUE}/promote`]: 'write',
  [`PUT ${QUEUE}/retry/:queueStatus`]: 'write',
  [`PUT ${QUEUE}/rate-limit/release`]: 'write',
  [`PUT ${JOB}/retry`]: 'write',
  [`PUT ${JOB}/promote`]: 'write',
  // Loses events or runs, or holds up all environments for as long as it stands.
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

/** Most jobs of a page: an ingest job may hold a megabyte. */
const MAX_JOBS_PER_PAGE = 20;

interface BoardRoute {
  /** `PUT /api/queues/:queueName/pause` */
  name: string;
  summary: string;
  params: Record<string, string>;
}

/** Finds out which of the board's routes a request is for, in the board's own order. */
export function findBoardRoute(): RouterMiddleware {
  const router = new Router({ prefix: BOARD_PATH, strict: true });
  for (const { method, route, spec } of appRoutes.api) {
    for (const verb of [method].flat()) {
      const name = `${verb.toUpperCase()} ${route}`;
      router[verb](route as string, (ctx, next) => {
        ctx.state.boardRoute ??= { name, summary: spec.summary, params: ctx.params } satisfies BoardRoute;
        return next();
      });
    }
  }
  return router.routes();
}

/** Of what is behind the guard and not of the API's own routes.
 *  @throws ServiceError access_denied, not_found */
export async function allowOnBoard(ctx: Context, next: Next): Promise<void> {
  const isChange = !isSafeMethod(ctx);
  const access = isChange && isBoard(ctx.path) ? BOARD_ACCESS[boardRoute(ctx)?.name ?? ''] : undefined;
  allow(ctx, { access: access ?? (isChange ? 'write' : 'read'), about: 'account' });
  if (isChange && access === undefined && isBoard(ctx.path)) {
    throw new ServiceError('not_found', {
      detail: 'Bull Board does not do this here; jobs come from events, and /docs lists what can be done with them',
    });
  }
  await next();
}

/** Notes the changes made in Bull Board. */
export function auditBoard(auditor: AuditLogger) {
  return async (ctx: Context, next: Next): Promise<void> => {
    await next();
    const route = boardRoute(ctx);
    if (isSafeMethod(ctx) || ctx.status >= 400 || !route) return;
    const { name, summary, params } = route;
    const target = Object.values(params).join('/');
    await auditor.note(ctx, {
      who: principalOf(ctx),
      action: name.replace(' ', ` ${BOARD_PATH}`),
      ...(target && { target }),
      summary: [`Bull Board: ${summary.replace(/\.$/, '')}`, ...numbersOf(ctx)].join(', '),
    });
  };
}

/** Before the board sees the request. */
export async function clampBoardQuery(ctx: Context, next: Next): Promise<void> {
  const asked = ctx.query.jobsPerPage;
  const isFine = typeof asked === 'string' && /^[1-9]\d{0,2}$/.test(asked) && Number(asked) <= MAX_JOBS_PER_PAGE;
  // The query is parsed once a request (urlencoded.ts): the board reads this very object.
  if (asked !== undefined && !isFine) ctx.query.jobsPerPage = String(MAX_JOBS_PER_PAGE);
  await next();
}

function boardRoute(ctx: Context): BoardRoute | undefined {
  return ctx.state.boardRoute as BoardRoute | undefined;
}

/** Numbers that the board's routes take. Other fields are the sender's own words, of any length. */
const TOLD = ['concurrency', 'delay', 'priority', 'max', 'duration'];

/** How much of what: `concurrency 5`. */
function numbersOf(ctx: Context): string[] {
  const { body } = ctx.request as { body?: unknown };
  const fields = (body ?? {}) as Record<string, unknown>;
  return TOLD.flatMap((name) => (typeof fields[name] === 'number' ? [`${name} ${fields[name]}`] : []));
}
