import { type Job, Worker } from 'bullmq';
import { expect } from 'chai';
import { Redis } from 'ioredis';
import type { Outcome } from '../../src/functions/interpret-response.ts';
import { RUNS, type RunJob } from '../../src/jobs/queues/queues.ts';
import type { WakeToSchedule } from '../../src/jobs/runs/scheduling/run-jobs.ts';
import { newId } from '../../src/model/ids.ts';
import { BRANCH_PRIORITY, QUEUE_KEYS } from '../../src/store/keys/bullmq.ts';
import {
  ALONE_MAX,
  BESIDE_OTHERS_MAX,
  isWakeUp,
  OTHERS_PER_WAKE_UP,
  WAIT_MAX_MS,
  WakeUps,
} from '../../src/workers/wake-ups.ts';
import { redisUrl } from '../support/redis.ts';
import { until } from '../support/until.ts';
import { createPauseBed, ENV, type PauseBed } from './pause-bed.ts';

const WAKES = 250;
const CONCURRENCY = 30;
const WAITING_MAX = 10;

describe('The wake-up of a run that slept for long', () => {
  let bed: PauseBed;
  let connection: Redis;
  let worker: Worker<RunJob>;
  beforeEach(async () => {
    bed = await createPauseBed();
    await bed.register('f');
    const [keys] = bed.store.keys.all();
    const prefix = bed.process().queues.prefixOf(keys?.number ?? 0);
    connection = new Redis(redisUrl(), { maxRetriesPerRequest: null });
    worker = new Worker<RunJob>(RUNS, null, { connection: connection as never, prefix, skipVersionCheck: true });
  });
  afterEach(async () => {
    await worker.close();
    connection.disconnect();
    await bed.close();
  });

  const due = (): WakeToSchedule => {
    const ref = { env: ENV, functionId: 'f', runId: newId(), eventId: newId(), requestId: newId() };
    return { ref, stepId: 'nap', untilMs: Date.now(), nowMs: Date.now() };
  };
  const next = async () => ((await worker.getNextJob('t', { block: false })) as Job<RunJob> | undefined)?.data.runId;

  it('comes after calls, and in order, however many are due at once', async () => {
    const wakes = Array.from({ length: WAKES }, due);
    await bed.process().scheduler.enqueueWakes(wakes);
    const [called] = await bed.start('f', 1);
    expect(await next()).to.equal(called);
    for (const { ref } of wakes) expect(await next()).to.equal(ref.runId);
  });

  it('is every fifth job taken while calls always wait, before the jobs of branches', async () => {
    const wakes = [due(), due()];
    await bed.process().scheduler.enqueueWakes(wakes);
    const calls = await bed.start('f', 4);
    const queue = bed.process().queues.partition(0).runs;
    const branch = { jobId: 'of a branch', priority: BRANCH_PRIORITY };
    await queue.add('f', { ...(wakes[0] as WakeToSchedule).ref, runId: 'branch', kind: 'call' }, branch);
    const fifth = Math.ceil(Date.now() / 5) * 5;
    const taken: string[] = [];
    for (const nowMs of [1, 5, 9, 10, 15, 16, 17].map((ms) => fifth + ms)) {
      const { next } = await bed.store.jobLists.take(queue.toKey(QUEUE_KEYS.waiting), 't', nowMs, 60_000);
      taken.push(JSON.parse(next?.fields.data ?? '{}').runId);
    }
    const [first, second] = wakes.map(({ ref }) => ref.runId);
    expect(taken).to.deep.equal([calls[0], first, calls[1], second, calls[2], calls[3], 'branch']);
  });

  it('is every fifth of the jobs that are taken together', async () => {
    const wakes = Array.from({ length: 4 }, due);
    await bed.process().scheduler.enqueueWakes(wakes);
    const calls = await bed.start('f', 6);
    const waiting = bed.process().queues.partition(0).runs.toKey(QUEUE_KEYS.waiting);
    const { next, others = [] } = await bed.store.jobLists.take(waiting, 't', Math.ceil(Date.now() / 5) * 5, 60_000, 8);
    const taken = [next, ...others].map((job) => JSON.parse(job?.fields.data ?? '{}').runId);
    const [first, second] = wakes.map(({ ref }) => ref.runId);
    expect(taken).to.deep.equal([first, ...calls.slice(0, 4), second, ...calls.slice(4)]);
  });
});

describe('A burst of wake-ups', () => {
  const jobOf = (id: string, data: Partial<RunJob>) => ({ id, data }) as Job<RunJob>;
  const settle = () => new Promise(setImmediate);
  const wakeUp = (n: number) => jobOf(`wake ${n}`, n % 2 ? { kind: 'wake' } : { kind: 'call', sleep: 'nap' });

  /** Jobs that end when the test says. */
  function jobs(wakeUps: WakeUps) {
    const begun: string[] = [];
    const ends: (() => void)[] = [];
    const handle = wakeUps.limit(async ({ id }) => {
      begun.push(id as string);
      await new Promise<void>((resolve) => ends.push(resolve));
    });
    return { begun, ends, handle };
  }

  it('begins beside other jobs for each few of these that end, and a few between them, in order', async () => {
    const wakeUps = new WakeUps(CONCURRENCY, () => 0);
    const { begun, ends, handle } = jobs(wakeUps);
    const quick = wakeUps.yieldTo<object>(async () => {});
    const ingested = wakeUps.yieldTo<object>(() => new Promise<void>((resolve) => ends.push(resolve)))(
      {} as Job<object>,
    );
    const wakes = Array.from({ length: 20 }, (_, n) => handle(wakeUp(n)));
    const names = wakes.map((_, n) => `wake ${n}`);
    for (let ended = 0; ended < 2 * OTHERS_PER_WAKE_UP; ended++) {
      expect(begun, `after ${ended}`).to.deep.equal(names.slice(0, Math.floor(ended / OTHERS_PER_WAKE_UP)));
      await quick({} as Job<object>);
    }
    ends[0]?.();
    await ingested;
    expect(begun, 'between others').to.deep.equal(names.slice(0, BESIDE_OTHERS_MAX));
    for (let n = 1; n < ends.length; n++) {
      ends[n]?.();
      await settle();
    }
    await Promise.all(wakes);
    expect(begun).to.deep.equal(names);
  });

  it('begins a few at a time beside other jobs once it has waited for long, however busy these are', async () => {
    let now = 0;
    const wakeUps = new WakeUps(CONCURRENCY, () => now);
    const { begun, ends, handle } = jobs(wakeUps);
    const busy = wakeUps.yieldTo<object>(() => new Promise<void>((resolve) => ends.push(resolve)))({} as Job<object>);
    const quick = wakeUps.yieldTo<object>(async () => {});
    const wakes = Array.from({ length: 2 * BESIDE_OTHERS_MAX }, (_, n) => handle(wakeUp(n)));
    now = WAIT_MAX_MS - 1;
    await quick({} as Job<object>);
    expect(begun).to.deep.equal([]);
    now = WAIT_MAX_MS;
    await quick({} as Job<object>);
    expect(begun).to.deep.equal(['wake 0', 'wake 1', 'wake 2', 'wake 3']);
    for (let n = 0; n < ends.length; n++) {
      ends[n]?.();
      await settle();
    }
    await Promise.all([busy, ...wakes]);
    expect(begun).to.have.length(2 * BESIDE_OTHERS_MAX);
  });

  it('begins beside other jobs that only wait', async () => {
    const wakeUps = new WakeUps(CONCURRENCY);
    const { begun, ends, handle } = jobs(wakeUps);
    const call = handle(jobOf('call', { kind: 'call' }));
    const wakes = Array.from({ length: ALONE_MAX }, (_, n) => handle(wakeUp(n)));
    expect(begun).to.deep.equal(['call']);
    await until(async () => begun.length === 1 + ALONE_MAX, { describe: 'all have begun' });
    for (const end of ends) end();
    await Promise.all([...wakes, call]);
  });

  it('is at work many at a time while there is nothing else', async () => {
    const { begun, ends, handle } = jobs(new WakeUps(CONCURRENCY, () => 0));
    const wakes = Array.from({ length: 2 * ALONE_MAX }, (_, n) => handle(wakeUp(n)));
    expect(begun).to.have.length(ALONE_MAX);
    const call = handle(jobOf('call', { kind: 'call' }));
    ends[ALONE_MAX]?.();
    await call;
    for (let ended = 0; ended < ALONE_MAX - BESIDE_OTHERS_MAX; ended++) {
      expect(begun).to.have.length(ALONE_MAX + 1);
      ends[ended]?.();
      await wakes[ended];
    }
    ends[ALONE_MAX - BESIDE_OTHERS_MAX]?.();
    await settle();
    expect(begun, 'one more').to.have.length(ALONE_MAX + 2);
    for (let n = 0; n < ends.length; n++) {
      ends[n]?.();
      await settle();
    }
    await Promise.all(wakes);
  });

  it('does not count a call whose app responds', async () => {
    const wakeUps = new WakeUps(CONCURRENCY, () => 0);
    const response = Promise.withResolvers<Outcome>();
    const stored = Promise.withResolvers<void>();
    const app = wakeUps.otherCallsOf({ call: () => response.promise });
    const { begun, ends, handle } = jobs(wakeUps);
    const other = wakeUps.yieldTo<object>(async () => {
      await app.call({} as never, {} as never);
      await stored.promise;
    })({} as Job<object>);
    const wakes = Array.from({ length: 2 * BESIDE_OTHERS_MAX }, (_, n) => handle(wakeUp(n)));
    expect(begun).to.have.length(BESIDE_OTHERS_MAX);
    response.resolve({ kind: 'completed', output: 'null' });
    await settle();
    ends[0]?.();
    await wakes[0];
    await settle();
    expect(begun, 'while its response is stored').to.have.length(BESIDE_OTHERS_MAX);
    stored.resolve();
    await other;
    expect(begun).to.have.length(BESIDE_OTHERS_MAX + 1);
    for (let n = 0; n < ends.length; n++) {
      ends[n]?.();
      await settle();
    }
    await Promise.all(wakes);
  });

  it('does not wait for apps that take long, and leaves most of the worker to others', async () => {
    const responders: (() => void)[] = [];
    const wakeUps = new WakeUps(CONCURRENCY, () => 0);
    const app = wakeUps.callsOf({
      call: () => new Promise((resolve) => responders.push(() => resolve({ kind: 'completed', output: 'null' }))),
    });
    const handle = wakeUps.limit(async () => void (await app.call({} as never, {} as never)));
    const inFlight = (count: number) => until(async () => responders.length === count, { describe: `${count} calls` });
    const calls = Array.from({ length: ALONE_MAX + CONCURRENCY }, (_, n) => handle(wakeUp(2 * n)));
    await settle();
    expect(responders, 'at first').to.have.length(ALONE_MAX);
    await inFlight(ALONE_MAX + WAITING_MAX);
    for (let ended = 0; ended < calls.length; ended++) {
      responders[ended]?.();
      await calls[ended];
      await inFlight(Math.min(calls.length, ALONE_MAX + WAITING_MAX + ended + 1));
    }
  });

  it('stores the responses of apps before it calls others', async () => {
    const responders: (() => void)[] = [];
    const ends: (() => void)[] = [];
    const wakeUps = new WakeUps(CONCURRENCY, () => 0);
    const handle = wakeUps.limit(async ({ data }) => {
      if (!isWakeUp({ data })) return;
      await wakeUps.wait(new Promise<void>((resolve) => responders.push(resolve)));
      await new Promise<void>((resolve) => ends.push(resolve));
    });
    const calls = Array.from({ length: 2 * BESIDE_OTHERS_MAX }, (_, n) => handle(wakeUp(n)));
    await until(async () => responders.length === calls.length, { describe: 'all wait' });
    for (const respond of responders) respond();
    await settle();
    expect(ends, 'at work').to.have.length(calls.length);
    await handle(jobOf('call', { kind: 'call' }));
    const next = handle(wakeUp(calls.length));
    for (const [n, end] of ends.entries()) {
      expect(responders, `after ${n} have ended`).to.have.length(calls.length + (n > BESIDE_OTHERS_MAX ? 1 : 0));
      end();
      await calls[n];
      await settle();
    }
    responders.at(-1)?.();
    await settle();
    ends.at(-1)?.();
    await next;
  });

  it('continues after one has failed', async () => {
    const handle = new WakeUps(CONCURRENCY, () => 0).limit(({ id }) =>
      id === 'last' ? Promise.resolve() : Promise.reject(new Error('no store')),
    );
    const failed = Array.from({ length: 2 * ALONE_MAX }, (_, n) => handle(wakeUp(n)));
    const outcomes = Promise.allSettled(failed);
    await handle(jobOf('last', { kind: 'wake' }));
    expect((await outcomes).map(({ status }) => status)).to.deep.equal(failed.map(() => 'rejected'));
  });
});
