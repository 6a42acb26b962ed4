import { once } from 'node:events';
import { type Job, type JobJson, Queue, Worker } from 'bullmq';
import { expect } from 'chai';
import { Redis } from 'ioredis';
import type { Envelope } from '../../src/model/events/event.ts';
import { newId } from '../../src/model/ids.ts';
import {
  BRANCH_PRIORITY,
  delayedUntil,
  JOB_FIELDS,
  QUEUE_KEYS,
  queueKey,
  RUNS,
  WAKE_UP_PRIORITY,
} from '../../src/store/keys/bullmq.ts';
import type { FirstCall, NewRun } from '../../src/store/runs/run-writing.ts';
import { AddedJobs } from '../../src/workers/added-jobs.ts';
import { JobEnds } from '../../src/workers/job-ends.ts';
import { SharedConcurrency } from '../../src/workers/shared-concurrency.ts';
import { WatchedWorker } from '../../src/workers/watched-worker.ts';
import { envelope, type OwnStore, openStore } from '../support/own-store.ts';
import { itOnSingleRedis, redisUrl } from '../support/redis.ts';
import { until } from '../support/until.ts';

const NAME = 'jobs';
const CHANGED = 'changed-jobs';

async function errorOf(failing: Promise<unknown> | undefined): Promise<string> {
  return Promise.resolve(failing).then(
    () => 'no error',
    (error: Error) => error.message,
  );
}

describe('Data of BullMQ that is read by name', () => {
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

  it('includes the keys of a queue with jobs in each state', async () => {
    const waiting = await queue.add('one', {});
    expect(await store.redis.lrange(keyOf(QUEUE_KEYS.waiting), '0', '-1')).to.deep.equal([waiting.id]);
    expect(await store.redis.get(keyOf(QUEUE_KEYS.lastId))).to.equal(waiting.id);
    const prioritized = await queue.add('two', {}, { priority: 1 });
    expect(await store.redis.zrange(keyOf(QUEUE_KEYS.prioritized), '0', '-1')).to.deep.equal([prioritized.id]);
    await queue.upsertJobScheduler('scheduler', { every: 3_600_000 });
    expect(await store.redis.zrange(keyOf(QUEUE_KEYS.schedulers), '0', '-1')).to.deep.equal(['scheduler']);
    await queue.obliterate({ force: true });
  });

  it('includes the list in which an earlier version put the jobs of a paused queue', async () => {
    const { id = '' } = await queue.add('one', {});
    await queue.pause();
    await store.redis.rename(keyOf(QUEUE_KEYS.waiting), keyOf(QUEUE_KEYS.paused));
    await queue.resume();
    expect(await store.redis.lrange(keyOf(QUEUE_KEYS.waiting), '0', '-1')).to.deep.equal([id]);
    await queue.obliterate({ force: true });
  });

  it('includes the due time of a delayed job, when it was added, and its data and options', async () => {
    const addedAt = Date.now() - 1_000;
    const { id = '' } = await queue.add('one', { a: 1 }, { delay: 60_000, timestamp: addedAt, attempts: 3 });
    const score = await store.redis.zscore(keyOf(QUEUE_KEYS.delayed), id);
    expect(delayedUntil(score as string)).to.equal(addedAt + 60_000);
    expect(await fieldOf(id, 'addedAt')).to.equal(String(addedAt));
    expect(JSON.parse((await fieldOf(id, 'data')) as string)).to.deep.equal({ a: 1 });
    expect(JSON.parse((await fieldOf(id, 'options')) as string)).to.include({ attempts: 3 });
  });

  itOnSingleRedis('includes the attempts and executions of an active job, and then of a failed one', async () => {
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

describe('Jobs that are changed without BullMQ', () => {
  const TOKEN = 'token-of-the-test';
  const OPTIONS = { attempts: 3, backoff: { type: 'custom' } };
  let store: OwnStore;
  let queue: Queue;
  let worker: WatchedWorker<object>;
  let connection: Redis;
  let ofBullmq: Pick<typeof worker.backend, 'moveToActive' | 'moveToCompleted'>;
  before(async () => {
    store = await openStore();
    const prefix = store.keys.partition(0).queues;
    connection = new Redis(redisUrl(), { maxRetriesPerRequest: null });
    queue = new Queue(CHANGED, { connection: store.redis, prefix });
    worker = new WatchedWorker(CHANGED, null, {
      ...{ connection: connection as never, prefix, skipVersionCheck: true },
      removeOnComplete: { count: 0 },
    });
    const { moveToActive, moveToCompleted } = worker.backend;
    ofBullmq = { moveToActive, moveToCompleted };
  });
  afterEach(async () => {
    Object.assign(worker.backend, ofBullmq);
    await queue.obliterate({ force: true });
  });
  after(async () => {
    await worker.close();
    await queue.close();
    connection.disconnect();
    await store.close();
  });

  const keyOf = (suffix: string) => queue.toKey(suffix);
  const add = (...ids: string[]) =>
    store.jobLists.add(
      keyOf,
      ids.map((id) => ({ id, name: 'one', data: '{"a":1}', options: JSON.stringify(OPTIONS) })),
      Date.now(),
    );
  const take = () => worker.getNextJob(TOKEN, { block: false });
  /** What is left, without what nobody reads. */
  const left = async () => {
    const keys = (await store.redis.keys(`${keyOf('')}*`)).map((key) => key.slice(keyOf('').length));
    return keys.filter((key) => !['events', 'id', 'marker', 'meta'].includes(key)).sort();
  };

  itOnSingleRedis('are added once each and in order, like BullMQ adds them', async () => {
    await queue.addBulk([{ name: 'one', data: { a: 1 }, opts: { ...OPTIONS, jobId: 'first' } }]);
    await add('second', 'third');
    await add('second');
    const jobs = [await take(), await take(), await take(), await take()];
    expect(jobs.map((job) => job?.id)).to.deep.equal(['first', 'second', 'third', undefined]);
    const [first, second] = jobs.map((job) => {
      const { id: _, timestamp, processedOn, opts, ...rest } = job?.asJSON() ?? {};
      const { jobId: __, ...options } = opts ?? {};
      return { ...rest, options, times: [typeof timestamp, typeof processedOn] };
    });
    expect(second).to.deep.equal(first);
  });

  itOnSingleRedis('wake a worker that waits, unless the queue is paused', async () => {
    await queue.pause();
    await add('first');
    expect(await store.redis.exists(keyOf(QUEUE_KEYS.marker))).to.equal(0);
    await queue.resume();
    await store.redis.del(keyOf(QUEUE_KEYS.marker));
    await add('second');
    expect(await store.redis.exists(keyOf(QUEUE_KEYS.marker))).to.equal(1);
  });

  itOnSingleRedis('are not added after a move to another Redis', async () => {
    await store.redis.set(keyOf(QUEUE_KEYS.lastId), 'moved');
    expect(await errorOf(add('first'))).to.match(/not an integer/);
    expect(await left()).to.deep.equal([]);
    await store.redis.del(keyOf(QUEUE_KEYS.lastId));
  });

  for (const [how, finish] of [
    ['BullMQ', () => {}],
    ['the service', () => new JobEnds(worker, store.jobLists)],
  ] as const) {
    describe(`that are taken and ended by ${how}`, () => {
      beforeEach(() => void finish());

      itOnSingleRedis('are locked, and wake another worker while more wait', async () => {
        await add('first', 'second');
        await store.redis.del(keyOf(QUEUE_KEYS.marker));
        const { id, data, opts, attemptsStarted, attemptsMade, token } = (await take()) as Job;
        const { jobId: _, ...options } = opts;
        expect({ id, data, options, attemptsStarted, attemptsMade, token }).to.deep.equal({
          ...{ id: 'first', data: { a: 1 }, options: OPTIONS },
          ...{ attemptsStarted: 1, attemptsMade: 0, token: TOKEN },
        });
        expect(await left()).to.deep.equal(['active', 'first', 'first:lock', 'second', 'wait']);
        expect(await store.redis.hget(keyOf('first'), JOB_FIELDS.executions)).to.equal('1');
        expect(await store.redis.pttl(keyOf('first:lock'))).to.be.within(1, 30_000);
        expect(await store.redis.exists(keyOf(QUEUE_KEYS.marker))).to.equal(1);
      });

      itOnSingleRedis(
        'come in the order of BullMQ: those without a priority, the others, and delayed ones in time',
        async () => {
          await queue.add('one', {}, { jobId: 'later', delay: 60_000 });
          await queue.add('one', {}, { jobId: 'of a branch', priority: BRANCH_PRIORITY });
          await queue.add('one', {}, { jobId: 'due', delay: 1_000, timestamp: Date.now() - 2_000 });
          await add('first');
          const ids = [await take(), await take(), await take(), await take()].map((job) => job?.id);
          expect(ids).to.deep.equal(['first', 'due', 'of a branch', undefined]);
          await add('second');
          await queue.pause();
          expect(await take()).to.equal(undefined);
          await queue.resume();
          expect((await take())?.id).to.equal('second');
        },
      );

      itOnSingleRedis('are due in any number, and then wait in order and by their priority', async () => {
        const timestamp = Date.now() - 2_000;
        const ids = Array.from({ length: 120 }, (_, n) => `due ${n}`);
        const isUrgent = (id: string) => Number(id.slice(4)) % 3 > 0;
        for (const id of ids) {
          const opts = { jobId: id, delay: 1_000, timestamp };
          await queue.add('one', {}, isUrgent(id) ? { ...opts, priority: 2 } : opts);
        }
        const taken: (string | undefined)[] = [];
        while (taken.length < ids.length) {
          const job = (await take()) as Job;
          taken.push(job.id);
          await job.moveToCompleted(undefined, TOKEN, false);
        }
        expect(await take()).to.equal(undefined);
        expect(taken).to.have.members(ids);
        expect(taken.filter((id) => isUrgent(id as string))).to.deep.equal(ids.filter(isUrgent));
        const others = ids.filter((id) => !isUrgent(id));
        expect(taken.filter((id) => !isUrgent(id as string))).to.deep.equal(others);
        expect(taken[0]).to.equal(ids[0]);
        expect(await left()).to.deep.equal([]);
      });

      itOnSingleRedis('make room for the next one', async () => {
        await add('first', 'second');
        const first = (await take()) as Job;
        const [next, id] = (await first.moveToCompleted(undefined, TOKEN, true)) as [JobJson, string];
        expect(id).to.equal('second');
        expect(next).to.include({ name: 'one', data: '{"a":1}', attemptsStarted: 1, attemptsMade: 0 });
        expect(next.opts).to.deep.equal(OPTIONS);
        expect(await left()).to.deep.equal(['active', 'second', 'second:lock']);
        expect(await store.redis.hget(keyOf('second'), JOB_FIELDS.executions)).to.equal('1');
        expect(await store.redis.pttl(keyOf('second:lock'))).to.be.within(1, 30_000);
      });

      itOnSingleRedis('leave nothing behind when there is no other', async () => {
        await add('first');
        const [next] = (await (await take())?.moveToCompleted(undefined, TOKEN, true)) ?? [];
        expect(next).to.equal(undefined);
        expect(await left()).to.deep.equal([]);
      });

      itOnSingleRedis('leave nothing behind a job with a priority that was removed', async () => {
        const removed = await queue.add('one', {}, { jobId: 'removed', priority: 2 });
        await removed.remove();
        expect(await take()).to.equal(undefined);
        expect(await left()).to.deep.equal([]);
      });

      itOnSingleRedis('make no room when the worker takes no more', async () => {
        await add('first', 'second');
        const first = await take();
        await first?.moveToCompleted(undefined, TOKEN, false);
        expect(await left()).to.deep.equal(['second', 'wait']);
      });

      itOnSingleRedis('stay with the worker that has taken them over', async () => {
        await add('first');
        const first = await take();
        await store.redis.set(keyOf('first:lock'), 'token of another worker');
        expect(await errorOf(first?.moveToCompleted(undefined, TOKEN, true))).to.match(/not owned|lock/i);
        expect(await left()).to.deep.equal(['active', 'first', 'first:lock']);
      });
    });
  }

  describe('that may end with the run of their call', () => {
    const run = { env: 'production', id: newId(), functionId: 'shop-pay' };
    beforeEach(async () => {
      const queuedAt = Date.now();
      run.id = newId();
      await store.runs.create([{ ...run, eventId: newId(), requestId: newId(), queuedAt, reconcileAt: queuedAt }]);
    });

    /** @returns the next job that the worker is told */
    async function endBoth(): Promise<string | undefined> {
      await add('first', 'second');
      const first = (await take()) as Job;
      const end = new JobEnds(worker, store.jobLists).of(first);
      const ending = { status: 'Completed', output: 'null' } as const;
      const leftOver = await store.runs.end(run, ending, Date.now(), { job: end.begin() });
      if (typeof leftOver !== 'object' || !leftOver.finished) return undefined;
      end.record(leftOver.finished);
      const [, id] = (await first.moveToCompleted(undefined, TOKEN, true)) as [JobJson, string];
      return id;
    }

    itOnSingleRedis('make room for the next one', async () => {
      expect(await endBoth()).to.equal('second');
      expect(await left()).to.deep.equal(['active', 'second', 'second:lock']);
    });

    itOnSingleRedis('stay while steps of the run have jobs that are to be removed', async () => {
      await store.redis.hset(`${store.keys.of(run.id).run(run.env, run.id)}:pending`, 'nap', '{"op":"Sleep"}');
      expect(await endBoth()).to.equal(undefined);
      expect(await left()).to.deep.equal(['active', 'first', 'first:lock', 'second', 'wait']);
    });
  });

  itOnSingleRedis(
    'make room for delayed ones that are due, for those with a priority, and in a paused queue for none',
    async () => {
      new JobEnds(worker, store.jobLists);
      /** @returns the next job and its ID, and when a delayed one is due; undefined: BullMQ has to look for one */
      const endAfter = async (change: () => Promise<unknown>) => {
        await add('one');
        const job = await take();
        await change();
        const next = await job?.moveToCompleted(undefined, TOKEN, true);
        await queue.obliterate({ force: true });
        return next as unknown[] | undefined;
      };
      const jobId = 'two';
      const [, , , delayedUntil] = (await endAfter(() => queue.add('two', {}, { delay: 60_000 }))) as number[];
      expect(delayedUntil).to.be.within(Date.now() + 50_000, Date.now() + 60_000);
      const due = () => queue.add('two', {}, { jobId, delay: 1_000, timestamp: Date.now() - 2_000 });
      expect((await endAfter(due))?.[1]).to.equal(jobId);
      expect((await endAfter(() => queue.add('two', {}, { jobId, priority: 1 })))?.[1]).to.equal(jobId);
      expect(await endAfter(() => queue.pause())).to.equal(undefined);
    },
  );

  itOnSingleRedis('of wake-ups yield to others once, at most', async () => {
    new JobEnds(worker, store.jobLists);
    const ids = ['wake-up', 'of a branch'];
    await queue.add('one', {}, { jobId: 'wake-up', priority: WAKE_UP_PRIORITY });
    await queue.add('one', {}, { jobId: 'of a branch', priority: BRANCH_PRIORITY });
    await add('first');
    const taken = [(await take()) as Job, (await take()) as Job, (await take()) as Job];
    // Some wake-ups come first (finish-job.lua).
    expect(taken.map(({ id }) => id).slice(0, 2)).to.have.members(['first', 'wake-up']);
    for (const job of taken) await job.moveToWait(TOKEN);
    const states = await Promise.all(ids.map((id) => queue.getJobState(id)));
    expect(states).to.deep.equal(['waiting', 'prioritized']);
  });

  describe('by workers that run', () => {
    let workers: WatchedWorker<object>[];
    let connections: Redis[];
    let taken: { worker: WatchedWorker<object>; end: () => void }[];
    /** Numbers of the calls with which workers have looked for a job. */
    let looks: number;
    let isTaking: () => void;
    afterEach(async () => {
      for (const { end } of taken) end();
      await Promise.all(workers.map((worker) => worker.close()));
      for (const connection of connections) connection.disconnect();
    });

    async function run(count: number, concurrency: number): Promise<void> {
      [workers, connections, taken, looks] = [[], [], [], 0];
      isTaking = () => {};
      const jobLists = {
        take: (...args: Parameters<typeof store.jobLists.take>) => {
          looks += 1;
          isTaking();
          return store.jobLists.take(...args);
        },
        finish: (...args: Parameters<typeof store.jobLists.finish>) => store.jobLists.finish(...args),
      };
      for (let i = 0; i < count; i++) {
        const own = new Redis(redisUrl(), { maxRetriesPerRequest: null });
        const handle = () => new Promise<void>((end) => taken.push({ worker: one, end }));
        const one: WatchedWorker<object> = new WatchedWorker<object>(CHANGED, handle, {
          ...{ connection: own as never, prefix: store.keys.partition(0).queues, skipVersionCheck: true },
          // Only a marker wakes it.
          ...{ autorun: false, concurrency, drainDelay: 1_000, removeOnComplete: { count: 0 } },
        });
        new JobEnds(one, jobLists);
        workers.push(one);
        connections.push(own);
        void one.run();
      }
      await untilLooked(count);
    }
    const untilLooked = (times: number) => until(() => looks >= times, { describe: `workers look ${times} times` });
    const untilTaken = (count: number) => until(() => taken.length === count, { describe: `${count} jobs are taken` });

    itOnSingleRedis('are taken while others are at work, though the worker looks only when it is woken', async () => {
      await run(1, 3);
      for (const [i, id] of ['first', 'second', 'third'].entries()) {
        await add(id);
        await untilTaken(i + 1);
        expect(looks, id).to.equal(i + 2);
      }
      await add('fourth', 'fifth');
      taken[0]?.end();
      await untilTaken(4);
      taken[1]?.end();
      await untilTaken(5);
    });

    itOnSingleRedis('are taken in one round trip, as many as the worker has room for', async () => {
      await run(1, 4);
      await add('first', 'second', 'third');
      await untilTaken(3);
      expect(looks).to.equal(2);
      await add('fourth', 'fifth');
      await untilTaken(4);
      expect(await queue.getWaitingCount()).to.equal(1);
      taken[0]?.end();
      await untilTaken(5);
    });

    itOnSingleRedis('wait again if their worker begins to close while it takes them', async () => {
      await run(1, 4);
      const [worker] = workers as [WatchedWorker<object>];
      isTaking = () => void worker.pause(true);
      await add('first', 'second', 'third');
      await until(async () => (await queue.getWaitingCount()) === 2, { describe: 'two jobs wait again' });
    });

    itOnSingleRedis('are taken when they are due, though others were taken meanwhile', async () => {
      await run(1, 3);
      await queue.add('one', {}, { delay: 300 });
      await add('first', 'second');
      await untilTaken(3);
      expect(await queue.getDelayedCount()).to.equal(0);
    });

    itOnSingleRedis(
      'are taken up to the share of their worker while others use all of the rest, and then at once',
      async () => {
        const shared = new SharedConcurrency(4, () => 0);
        const other = { resize() {} };
        shared.add(other);
        await run(1, 4);
        const [worker] = workers as [WatchedWorker<object>];
        worker.shareConcurrency(shared);
        shared.report(other, 4);
        await add('first', 'second', 'third');
        await untilTaken(2);
        expect(await queue.getWaitingCount()).to.equal(1);
        shared.report(other, 2);
        await untilTaken(3);
      },
    );

    itOnSingleRedis('are taken by all workers that have room', async () => {
      await run(2, 2);
      await add('first', 'second', 'third', 'fourth');
      await untilTaken(4);
      expect(taken.filter(({ worker }) => worker === workers[0])).to.have.length(2);
      await add('fifth');
      taken.find(({ worker }) => worker === workers[1])?.end();
      await untilTaken(5);
    });
  });
});

describe('Jobs that are added with the runs of their calls', () => {
  const OPTIONS = JSON.stringify({ attempts: 3 });
  let store: OwnStore;
  let queue: Queue;
  let connection: Redis;
  let worker: WatchedWorker<object>;
  let jobs: Job[];
  let endOf: Map<string, () => void>;
  let isReleased: boolean;
  let addedJobs: AddedJobs<object>;
  let capacity: number;
  beforeEach(async () => {
    store = await openStore();
    capacity = 100;
    const prefix = store.keys.partition(0).queues;
    connection = new Redis(redisUrl(), { maxRetriesPerRequest: null });
    queue = new Queue(RUNS, { connection: store.redis, prefix });
    jobs = [];
    endOf = new Map();
    isReleased = false;
    const handle = (job: Job) =>
      new Promise<void>((resolve) => {
        jobs.push(job);
        endOf.set(job.id as string, resolve);
        if (isReleased) resolve();
      });
    worker = new WatchedWorker(RUNS, handle as never, {
      ...{ connection: connection as never, prefix, skipVersionCheck: true, autorun: false, concurrency: 4 },
      removeOnComplete: { count: 0 },
    });
    addedJobs = new AddedJobs({
      worker,
      callLimiter: {
        acquireAtOnce: () => capacity > 0 && capacity-- > 0,
        release: () => capacity++,
      },
    });
  });
  afterEach(async () => {
    release();
    await worker.close();
    await queue.close();
    connection.disconnect();
    await store.close();
  });

  const release = () => {
    isReleased = true;
    for (const end of endOf.values()) end();
  };
  const isTaken = ({ token = '' }: Job) => token.includes(':added-');

  async function create(count: number): Promise<string[]> {
    return createWith(Array.from({ length: count }, () => newId()));
  }

  async function createWith(ids: string[], given: Partial<NewRun> = {}, call: Partial<FirstCall> = {}) {
    const queuedAt = Date.now();
    const of = { env: 'production', functionId: 'shop-pay', eventId: newId(), requestId: newId(), queuedAt };
    await store.runs.create(
      ids.map((id) => ({
        ...{ ...of, id, reconcileAt: queuedAt },
        job: { id, name: 'one', data: '{"a":1}', options: OPTIONS, ...call },
        ...given,
      })),
      () => addedJobs,
    );
    return ids;
  }

  /** Creates runs whose calls may start at once. */
  async function createToStart(ids: string[], given: Partial<NewRun> = {}): Promise<Envelope> {
    const event = envelope({ data: { total: 1, name: 'Zoë \ud800' } }, { index: 3 });
    await store.events.storeNew([event]);
    const { internalId: eventId, requestId } = event;
    const owner = { env: 'production', branch: false, app: 'shop' };
    await createWith(ids, { eventId, requestId, ...given }, { owner, event });
    return event;
  }

  const started = () => jobs.flatMap((job) => addedJobs.startOf(job) ?? []);
  const statusOf = async (id: string) => (await store.runs.read('production', id))?.status;

  itOnSingleRedis('are run by the worker that adds them, as if it had fetched them', async () => {
    void worker.run();
    const [id = ''] = await create(1);
    const [job] = jobs as [Job];
    expect([job.id, isTaken(job), job.attemptsStarted, job.opts.attempts]).to.deep.equal([id, true, 1, 3]);
    expect(job.data).to.deep.equal({ a: 1 });
    expect(await queue.getActiveCount()).to.equal(1);
    expect(await store.redis.hget(queue.toKey(id), JOB_FIELDS.executions)).to.equal('1');
    release();
    await once(worker, 'completed');
    expect(await store.redis.exists(queue.toKey(id), queue.toKey(`${id}:lock`))).to.equal(0);
  });

  itOnSingleRedis('are run once, also if their run is started twice at the same time', async () => {
    void worker.run();
    const id = newId();
    await createWith([id, id]);
    expect(jobs.map((job) => job.id)).to.deep.equal([id]);
  });

  itOnSingleRedis('are shared with other workers', async () => {
    void worker.run();
    const created = await create(5);
    expect(jobs.filter(isTaken).map(({ id }) => id)).to.deep.equal(created.slice(0, 2));
  });

  itOnSingleRedis('are taken beside jobs that wait for the ends of others', async () => {
    void worker.run();
    for (let n = 0; n < 4; n++) await queue.add('one', {});
    await until(() => jobs.length === 4, { describe: 'the worker is full' });
    worker.waitingJobs = () => 4;
    const created = await create(3);
    expect(jobs.filter(isTaken).map(({ id }) => id)).to.deep.equal(created.slice(0, 2));
  });

  itOnSingleRedis('leave the worker looking for others as they end', async () => {
    worker.resize(2);
    void worker.run();
    const [first = ''] = await create(1);
    // The worker has room for only one of them besides.
    await create(3);
    await until(() => jobs.length === 2, { describe: 'a job is fetched' });
    endOf.get(first)?.();
    await until(() => jobs.length === 3, { describe: 'another is run instead of the one that has ended' });
    endOf.get(jobs[2]?.id as string)?.();
    await until(() => jobs.length === 4, { describe: 'and the last one' });
    endOf.get(jobs[3]?.id as string)?.();
    await until(async () => (await queue.getActiveCount()) === 1, { describe: 'the others have ended' });
    await queue.add('one', {});
    await until(() => jobs.length === 5, { describe: 'a new one is run' });
  });

  itOnSingleRedis('wait while the queue is paused, and while the worker does not run', async () => {
    await create(1);
    expect(await queue.getWaitingCount()).to.equal(1);
    void worker.run();
    await queue.pause();
    await create(1);
    expect(jobs.filter(isTaken)).to.deep.equal([]);
  });

  itOnSingleRedis('go back to the queue if the worker has begun to close since', async () => {
    void worker.run();
    const created = createToStart([newId()]);
    const closed = worker.close();
    await Promise.all([created, closed]);
    await until(async () => (await queue.getWaitingCount()) === 1, { describe: 'it waits' });
    expect(jobs).to.deep.equal([]);
    expect(capacity).to.equal(100);
  });

  itOnSingleRedis('start their calls, which find what a call finds that looks by itself', async () => {
    void worker.run();
    const { internalId: eventId } = await createToStart([newId()]);
    const more = {
      invoker: { runId: newId(), stepId: 'bill \ud800' },
      ...{ retryOf: newId(), replayId: newId(), earlierRuns: [newId(), newId()], trace: '{"a":"b"}' },
      keys: { values: { 'event.data.total': '1' }, priority: 5 },
    };
    const { internalId: otherEventId } = await createToStart([newId()], more);
    const loaded = started().map((start) => start.loaded);
    expect(loaded.map(({ run }) => [run.eventId, run.status])).to.deep.equal([
      [eventId, 'Running'],
      [otherEventId, 'Running'],
    ]);
    for (const { run, ...rest } of loaded) {
      const { env, id: runId, eventId, queuedAt } = run;
      const again = await store.runs.load(
        { env, runId, eventId, finishedSteps: 0 },
        0,
        queuedAt + 5,
        queuedAt + 60_000,
      );
      expect({ state: 'due', run, ...rest }).to.deep.equal(again);
      expect(run).to.deep.equal(await store.runs.read(env, runId));
    }
  });

  itOnSingleRedis('start the calls that have capacity, and only if they are taken', async () => {
    void worker.run();
    capacity = 1;
    const ids = [newId(), newId(), newId()];
    await createToStart(ids);
    expect(started().map(({ loaded }) => loaded.run.id)).to.deep.equal([ids[0]]);
    expect(await Promise.all(ids.map(statusOf))).to.deep.equal(['Running', 'Queued', 'Queued']);
    expect(capacity).to.equal(0);
    capacity = 1;
    const [id = ''] = [newId()];
    await queue.pause();
    await createToStart([id]);
    expect([started().length, await statusOf(id), capacity]).to.deep.equal([1, 'Queued', 1]);
  });

  itOnSingleRedis('start no call of a run that exists, and none that a pause may hold', async () => {
    void worker.run();
    const [existing, held] = [newId(), newId()];
    await store.runs.create([
      {
        ...{ env: 'production', id: existing, functionId: 'shop-pay', eventId: newId(), requestId: newId() },
        ...{ queuedAt: 1, reconcileAt: 1 },
      },
    ]);
    await createToStart([existing]);
    await store.redis.hset(store.keys.partition(0).heldFunctions('production'), 'shop-bill', '1');
    await createToStart([held], { functionId: 'shop-bill' });
    expect(jobs.map((job) => [job.id, addedJobs.startOf(job)])).to.deep.equal([
      [existing, undefined],
      [held, undefined],
    ]);
    expect([await statusOf(existing), await statusOf(held), capacity]).to.deep.equal(['Queued', 'Queued', 100]);
  });

  itOnSingleRedis('end before the worker is closed', async () => {
    void worker.run();
    const [id = ''] = await create(1);
    const closed = worker.close();
    release();
    await closed;
    expect(await store.redis.exists(queue.toKey(id))).to.equal(0);
  });
});
