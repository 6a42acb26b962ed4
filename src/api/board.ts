/** Bull Board: the queues, their jobs, failed attempts and next tries, at /queues. */
import { createBullBoard } from '@bull-board/api';
import { BullMQAdapter } from '@bull-board/api/bullMQAdapter';
import { KoaAdapter } from '@bull-board/koa';
import type { Middleware } from 'koa';
import type { IngestQueue, RunQueue } from '../jobs/queues.ts';

export const BOARD_PATH = '/queues';

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
