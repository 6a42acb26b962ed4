/** Bull Board: the queues, their jobs, failed attempts and next tries, at /queues. */
import { createBullBoard } from '@bull-board/api';
import { BullMQAdapter } from '@bull-board/api/bullMQAdapter';
import { KoaAdapter } from '@bull-board/koa';
import type { Context, Middleware, Next } from 'koa';
import type { IngestQueue, RunQueue } from '../jobs/queues.ts';

export const BOARD_PATH = '/queues';

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

export async function boardPolicy(ctx: Context, next: Next): Promise<void> {
  if (ctx.path === BOARD_PATH || ctx.path.startsWith(`${BOARD_PATH}/`)) {
    ctx.set({ 'content-security-policy': POLICY, 'x-frame-options': 'SAMEORIGIN' });
  }
  await next();
}

export function board(queues: [IngestQueue, RunQueue]): Middleware {
  const serverAdapter = new KoaAdapter();
  serverAdapter.setBasePath(BOARD_PATH);
  createBullBoard({
    queues: queues.map((queue) => new BullMQAdapter(queue)),
    serverAdapter,
    options: { uiConfig: { boardTitle: 'Tidegate queues' } },
  });
  return serverAdapter.registerPlugin() as unknown as Middleware;
}
