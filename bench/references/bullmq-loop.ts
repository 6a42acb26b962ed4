/** The reference for runs: a bare BullMQ worker that makes the same HTTP call for each job and stores nothing. */
import { Queue, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { Agent, request } from 'undici';

const { REDIS_URL = '', HOST_URL = '', CONCURRENCY = '100' } = process.env;
const connection = () => new Redis(REDIS_URL, { maxRetriesPerRequest: null });
const queue = new Queue('bench', { connection: connection(), prefix: 'bare' });
const dispatcher = new Agent({ connections: Number(CONCURRENCY) });
const worker = new Worker(
  'bench',
  async ({ data }) => {
    const response = await request(HOST_URL, { method: 'POST', body: JSON.stringify(data), dispatcher });
    await response.body.text();
  },
  { connection: connection(), prefix: 'bare', concurrency: Number(CONCURRENCY), removeOnComplete: { count: 0 } },
);
await worker.waitUntilReady();
process.on('message', async (count: number) => {
  for (let n = 0; n < count; n += 500) {
    await queue.addBulk(Array.from({ length: 500 }, () => ({ name: 'run', data: { total: 1 } })));
  }
});
process.send?.({ ready: true });
process.once('disconnect', () => process.exit());
