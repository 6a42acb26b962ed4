/** Bull Board at /queues: the queues with their jobs, failures and retries. */
import { createBullBoard } from '@bull-board/api';
import { BullMQAdapter } from '@bull-board/api/bullMQAdapter';
import { KoaAdapter } from '@bull-board/koa';
import type { Next } from 'koa';
import { ServiceError } from '../../errors.ts';
import type { PartitionQueues, QueuePair } from '../../jobs/queues/partition-queues.ts';
import type { IngestQueue, RunQueue } from '../../jobs/queues/queues.ts';
import type { Context, Middleware } from '../http/router.ts';

export const BOARD_PATH = '/queues';
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
  // The dashboard embeds the board in a frame.
  "frame-ancestors 'self'",
].join('; ');

/** The board's page links to a font service, which the policy blocks. */
const EXTERNAL_STYLE = /<link href="https:[^>]*>/;

export function isBoard(path: string): boolean {
  return path === BOARD_PATH || path.startsWith(`${BOARD_PATH}/`);
}

export async function boardPolicy(ctx: Context, next: Next): Promise<void> {
  if (isBoard(ctx.path)) {
    ctx.set({ 'content-security-policy': POLICY, 'x-frame-options': 'SAMEORIGIN' });
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

/** Between the name of a group and that of a queue. */
const DELIMITER = '.';
/** Longer job data is truncated: a page has twenty jobs. */
const MAX_SHOWN_CHARS = 65_536;

/** Built with the first request, when the number of partitions is known, and again when it has grown. */
export function board(queues: PartitionQueues): Middleware {
  let built: { count: number; serve: Middleware } | undefined;
  return (ctx, next) => {
    if (!isBoard(ctx.path)) return next();
    const pairs = queues.all();
    if (built?.count !== pairs.length) built = { count: pairs.length, serve: build(pairs) };
    return built.serve(ctx, next);
  };
}

/** With several partitions, the queues of each are a group. */
function build(pairs: readonly QueuePair[]): Middleware {
  const isGrouped = pairs.length > 1;
  const adapters = pairs.flatMap(({ ingest, runs }, n) => {
    const group = isGrouped ? `partition ${String(n).padStart(2, '0')}${DELIMITER}` : '';
    return [queueAdapter(ingest, group), queueAdapter(runs, group)];
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

function queueAdapter(queue: IngestQueue | RunQueue, group: string): BullMQAdapter {
  const adapter = new BullMQAdapter(queue, group === '' ? {} : { prefix: group, delimiter: DELIMITER });
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
