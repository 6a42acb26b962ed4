/** Bull Board: the queues, their jobs, failed attempts and next tries, at /queues. */
import { createBullBoard } from '@bull-board/api';
import { BullMQAdapter } from '@bull-board/api/bullMQAdapter';
import { KoaAdapter } from '@bull-board/koa';
import type { Context, Middleware, Next } from 'koa';
import type { IngestQueue, RunQueue } from '../jobs/queues.ts';

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

export function board(queues: [IngestQueue, RunQueue]): Middleware {
  const serverAdapter = new KoaAdapter();
  serverAdapter.setBasePath(BOARD_PATH);
  createBullBoard({
    queues: queues.map((queue) => new BullMQAdapter(queue)),
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
