import { DelayedError, type Job, Queue, Worker } from 'bullmq';
import { expect } from 'chai';
import { withLockExtension } from '../../src/workers/job-middleware.ts';
import { connectRedis, deleteKeys, freshPrefix, type Redis } from '../support/redis.ts';

const LOCK_MS = 1_000;

describe('Lock extension', () => {
  const prefix = freshPrefix();
  let redis: Redis;
  let queue: Queue;
  const workers: Worker[] = [];
  before(() => {
    redis = connectRedis();
    redis.options.maxRetriesPerRequest = null;
    queue = new Queue('jobs', { connection: redis, prefix });
  });
  after(async () => {
    await Promise.all(workers.map((worker) => worker.close()));
    await queue.close();
    await deleteKeys(redis, prefix);
    await redis.quit();
  });

  it('keeps the lock of a job that its worker takes again before it has finished delaying it', async () => {
    const putBack = Promise.withResolvers<void>();
    let started = 0;
    let atOnce = 0;
    let most = 0;
    const handle = async (job: Job) => {
      if (++started === 1) {
        await job.moveToDelayed(Date.now(), job.token);
        // As if Redis replied slowly.
        await putBack.promise;
        throw new DelayedError();
      }
      putBack.resolve();
      // It takes over jobs without a lock.
      if (started === 2) start();
      most = Math.max(most, ++atOnce);
      const endsAt = Date.now() + 4 * LOCK_MS;
      while (Date.now() < endsAt && most === 1) await new Promise((resolve) => setTimeout(resolve, 50));
      atOnce--;
    };
    const completed = Promise.withResolvers<void>();
    const start = () => {
      const worker = new Worker('jobs', withLockExtension(handle, { lockMs: LOCK_MS, renewMs: LOCK_MS / 10 }), {
        connection: redis,
        prefix,
        concurrency: 2,
        lockDuration: LOCK_MS,
        stalledInterval: LOCK_MS / 2,
        maxStalledCount: 10,
      });
      worker.on('error', () => {});
      worker.on('completed', () => completed.resolve());
      workers.push(worker);
    };
    start();
    await queue.add('one', {}, { jobId: 'one' });
    await completed.promise;
    expect(most).to.equal(1);
  });
});
