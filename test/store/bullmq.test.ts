import { once } from 'node:events';
import { Queue, Worker } from 'bullmq';
import { expect } from 'chai';
import { delayedUntil, JOB_FIELDS, QUEUE_KEYS, queueKey } from '../../src/store/keys/bullmq.ts';
import { type OwnStore, openStore } from '../support/own-store.ts';
import { itOnSingleRedis, redisUrl } from '../support/redis.ts';

const NAME = 'jobs';

describe('What is read of BullMQ by name', () => {
  let store: OwnStore;
  let queue: Queue;
  before(async () => {
    store = await openStore();
    queue = new Queue(NAME, { connection: store.redis, prefix: queues() });
  });
  after(async () => {
    await queue.close();
    await store.close();
  });

  const queues = () => store.keys.partition(0).queues;
  const keyOf = (suffix: string) => queueKey(queues(), NAME, suffix);
  const fieldOf = (job: string, field: keyof typeof JOB_FIELDS) => store.redis.hget(keyOf(job), JOB_FIELDS[field]);

  it('are the keys of a queue with jobs in each state', async () => {
    const waiting = await queue.add('one', {});
    expect(await store.redis.lrange(keyOf(QUEUE_KEYS.waiting), '0', '-1')).to.deep.equal([waiting.id]);
    expect(await store.redis.get(keyOf(QUEUE_KEYS.lastId))).to.equal(waiting.id);
    const prioritized = await queue.add('two', {}, { priority: 1 });
    expect(await store.redis.zrange(keyOf(QUEUE_KEYS.prioritized), '0', '-1')).to.deep.equal([prioritized.id]);
    await queue.upsertJobScheduler('scheduler', { every: 3_600_000 });
    expect(await store.redis.zrange(keyOf(QUEUE_KEYS.schedulers), '0', '-1')).to.deep.equal(['scheduler']);
    await queue.obliterate({ force: true });
  });

  it('is the list that an earlier version put the jobs of a paused queue into', async () => {
    const { id = '' } = await queue.add('one', {});
    await queue.pause();
    await store.redis.rename(keyOf(QUEUE_KEYS.waiting), keyOf(QUEUE_KEYS.paused));
    await queue.resume();
    expect(await store.redis.lrange(keyOf(QUEUE_KEYS.waiting), '0', '-1')).to.deep.equal([id]);
    await queue.obliterate({ force: true });
  });

  it('are the due time of a delayed job, and when it was added, with what data and options', async () => {
    const addedAt = Date.now() - 1_000;
    const { id = '' } = await queue.add('one', { a: 1 }, { delay: 60_000, timestamp: addedAt, attempts: 3 });
    const score = await store.redis.zscore(keyOf(QUEUE_KEYS.delayed), id);
    expect(delayedUntil(score as string)).to.equal(addedAt + 60_000);
    expect(await fieldOf(id, 'addedAt')).to.equal(String(addedAt));
    expect(JSON.parse((await fieldOf(id, 'data')) as string)).to.deep.equal({ a: 1 });
    expect(JSON.parse((await fieldOf(id, 'options')) as string)).to.include({ attempts: 3 });
  });

  itOnSingleRedis('are the attempts and executions of a job that a worker has, and then failed', async () => {
    let fail = () => {};
    const held = new Promise<void>((_, reject) => {
      fail = () => reject(new Error('no'));
    });
    const worker = new Worker(NAME, () => held, {
      connection: { url: redisUrl(), maxRetriesPerRequest: null },
      prefix: queues(),
    });
    const [active, failed] = [once(worker, 'active'), once(worker, 'failed')];
    const { id = '' } = await queue.add('one', {});
    await active;
    expect(await store.redis.lrange(keyOf(QUEUE_KEYS.active), 0, -1)).to.deep.equal([id]);
    expect([await fieldOf(id, 'executions'), await fieldOf(id, 'attempts')]).to.deep.equal(['1', null]);
    fail();
    await failed;
    expect(await store.redis.zrange(keyOf(QUEUE_KEYS.failed), '0', '-1')).to.deep.equal([id]);
    expect([await fieldOf(id, 'executions'), await fieldOf(id, 'attempts')]).to.deep.equal(['1', '1']);
    await worker.close();
  });
});
