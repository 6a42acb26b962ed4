/** Bull Board at /queues: the queues with their jobs, failures and retries. */

import type { BullMQAdapter } from '@bull-board/api/bullMQAdapter';
import type { Next } from 'koa';
import { ServiceError } from '../../errors.ts';
import type { PartitionQueues, QueueSet } from '../../jobs/queues/partition-queues.ts';
import { BOARD_PATH, isBoard } from '../http/board-path.ts';
import type { Context, Middleware } from '../http/router.ts';

/** The dashboard's icon. */
const ICON = '/favicon.svg';

/** Scripts and fonts are the board's own files; it sets inline styles. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "worker-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'self'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** The board's page links to a font service, which the policy blocks. */
const EXTERNAL_STYLE = /<link href="https:[^>]*>/;

export async function boardPolicy(ctx: Context, next: Next): Promise<void> {
  if (isBoard(ctx.path)) {
    ctx.set('content-security-policy', POLICY);
  }
  await next();
  if (typeof ctx.body === 'string') ctx.body = ctx.body.replace(EXTERNAL_STYLE, '');
}

/** Translates the errors of the board's own body parser.
 *  @throws ServiceError body_too_large, body_not_json, body_invalid */
export async function boardBodyErrors(_: Context, next: Next): Promise<void> {
  try {
    await next();
  } catch (error) {
    const {
      status = 500,
      type,
      limit,
      message,
    } = error as Error & Partial<{ status: number; type: string; limit: number }>;
    if (error instanceof ServiceError || status < 400 || status >= 500) throw error;
    if (status === 413)
      throw new ServiceError('body_too_large', { detail: `the limit is ${limit} bytes`, cause: error });
    const isJson = type === 'entity.parse.failed' || error instanceof SyntaxError;
    throw new ServiceError(isJson ? 'body_not_json' : 'body_invalid', { detail: message, cause: error });
  }
}

/** Separates the name of a group from that of a queue. */
const DELIMITER = '.';
/** Longer job data is truncated: a page has twenty jobs. */
const MAX_SHOWN_CHARS = 65_536;

/** Loads Bull Board on first use: it takes 90 ms of CPU time, and few processes need it. It is rebuilt when the number of partitions has
 *  grown. */
export function board(queues: PartitionQueues): Middleware {
  let built: { count: number; serve: Promise<Middleware> } | undefined;
  return async (ctx, next) => {
    if (!isBoard(ctx.path)) return next();
    const sets = queues.all();
    if (built?.count !== sets.length) built = { count: sets.length, serve: loadBoard(sets) };
    return (await built.serve)(ctx, next);
  };
}

/** With several partitions, the queues of each form a group. */
async function loadBoard(sets: readonly QueueSet[]): Promise<Middleware> {
  const [{ createBullBoard }, { BullMQAdapter }, { KoaAdapter }] = await Promise.all([
    import('@bull-board/api'),
    import('@bull-board/api/bullMQAdapter'),
    import('@bull-board/koa'),
  ]);
  const isGrouped = sets.length > 1;
  const adapters = sets.flatMap(({ ingest, runs, timers }, n) => {
    const prefix = `partition ${String(n).padStart(2, '0')}${DELIMITER}`;
    const options = isGrouped ? { prefix, delimiter: DELIMITER } : {};
    return [ingest, runs, timers].map((queue) => withTruncation(new BullMQAdapter(queue, options)));
  });
  const serverAdapter = new KoaAdapter();
  serverAdapter.setBasePath(BOARD_PATH);
  createBullBoard({
    queues: adapters,
    serverAdapter,
    options: {
      uiConfig: {
        boardTitle: 'Tidegate queues',
        boardLogo: { path: ICON, width: 28, height: 28 },
        favIcon: { default: ICON, alternative: ICON },
      },
    },
  });
  return serverAdapter.registerPlugin();
}

function withTruncation(adapter: BullMQAdapter): BullMQAdapter {
  adapter.setFormatter('data', truncated);
  adapter.setFormatter('returnValue', truncated);
  return adapter;
}

function truncated(data: unknown): unknown {
  const text = JSON.stringify(data) ?? '';
  if (text.length <= MAX_SHOWN_CHARS) return data;
  return {
    shortened: `the first ${MAX_SHOWN_CHARS} of ${text.length} characters`,
    begin: text.slice(0, MAX_SHOWN_CHARS),
  };
}
