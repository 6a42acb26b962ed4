/** Bull Board: the queues, their jobs, failed attempts and next tries, at /queues. */
import { createBullBoard } from '@bull-board/api';
import { BullMQAdapter } from '@bull-board/api/bullMQAdapter';
import { KoaAdapter } from '@bull-board/koa';
import type { Context, Middleware, Next } from 'koa';
import { ServiceError } from '../../errors.ts';
import type { IngestQueue, RunQueue } from '../../jobs/queues/queues.ts';

export const BOARD_PATH = '/queues';
/** The dashboard's. */
const ICON = '/favicon.svg';

/** Its scripts and fonts are its own files; it sets styles as it draws, and none of them comes from elsewhere. */
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
  // The dashboard shows it in its own frame.
  "frame-ancestors 'self'",
].join('; ');

/** Its page asks a font service on every visit. It need not, and the policy would refuse it anyway. */
const FOREIGN_STYLE = /<link href="https:[^>]*>/;

export function isBoard(path: string): boolean {
  return path === BOARD_PATH || path.startsWith(`${BOARD_PATH}/`);
}

export async function boardPolicy(ctx: Context, next: Next): Promise<void> {
  if (isBoard(ctx.path)) {
    ctx.set({ 'content-security-policy': POLICY, 'x-frame-options': 'SAMEORIGIN' });
  }
  await next();
  if (typeof ctx.body === 'string') ctx.body = ctx.body.replace(FOREIGN_STYLE, '');
}

/** What the board's own parser says of a body, in the words of the service.
 *  @throws ServiceError body_too_large, body_not_json, body_invalid */
export async function boardBodies(_: Context, next: Next): Promise<void> {
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

/** Longer data is cut: a page of jobs has twenty of them. */
const MAX_SHOWN_CHARS = 65_536;

export function board(queues: [IngestQueue, RunQueue]): Middleware {
  const serverAdapter = new KoaAdapter();
  serverAdapter.setBasePath(BOARD_PATH);
  createBullBoard({
    queues: queues.map(shown),
    serverAdapter,
    options: {
      uiConfig: {
        boardTitle: 'Tidegate queues',
        boardLogo: { path: ICON, width: 28, height: 28 },
        favIcon: { default: ICON, alternative: ICON },
      },
    },
  });
  return serverAdapter.registerPlugin() as unknown as Middleware;
}

function shown(queue: IngestQueue | RunQueue): BullMQAdapter {
  const adapter = new BullMQAdapter(queue);
  adapter.setFormatter('data', shortened);
  adapter.setFormatter('returnValue', shortened);
  return adapter;
}

function shortened(data: unknown): unknown {
  const text = JSON.stringify(data) ?? '';
  if (text.length <= MAX_SHOWN_CHARS) return data;
  return {
    shortened: `the first ${MAX_SHOWN_CHARS} of ${text.length} characters`,
    begin: text.slice(0, MAX_SHOWN_CHARS),
  };
}
