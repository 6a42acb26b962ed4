import { type Job, Worker } from 'bullmq';
import { expect } from 'chai';
import { Redis } from 'ioredis';
import { RUNS, type RunJob } from '../../src/jobs/queues/queues.ts';
import type { WakeToSchedule } from '../../src/jobs/runs/run-jobs.ts';
import { newId } from '../../src/model/ids.ts';
import { WAKE_UPS_MAX, WakeUps } from '../../src/workers/wake-ups.ts';
import { redisUrl } from '../support/redis.ts';
import { until } from '../support/until.ts';
import { createPauseBed, ENV, type PauseBed } from './pause-bed.ts';

const WAKES = 250;
const LATE_MS = 120_000;
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

  it('comes in its turn once it is late', async () => {
    const wake = due();
    const { scheduler } = bed.process();
    await scheduler.enqueueWakes([wake]);
    const [before] = await bed.start('f', 1);
    await scheduler.ensureWake({ ...wake, nowMs: wake.untilMs + LATE_MS - 1 });
    await scheduler.ensureWake({ ...wake, nowMs: wake.untilMs + LATE_MS });
    const [after] = await bed.start('f', 1);
    expect([await next(), await next(), await next()]).to.deep.equal([before, wake.ref.runId, after]);
  });
});

describe('A burst of wake-ups', () => {
  const jobOf = (id: string, data: Partial<RunJob>) => ({ id, data }) as Job<RunJob>;
  const settle = () => new Promise(setImmediate);

  it('is at work a few at a time, in order, beside other jobs', async () => {
    const begun: string[] = [];
    const ends: (() => void)[] = [];
    const handle = new WakeUps(CONCURRENCY).limit(async ({ id }) => {
      begun.push(id as string);
      await new Promise<void>((resolve) => ends.push(resolve));
    });
    const dataOf = (n: number): Partial<RunJob> => (n % 2 ? { kind: 'wake' } : { kind: 'call', sleep: 'nap' });
    const wakes = Array.from({ length: 20 }, (_, n) => handle(jobOf(`wake ${n}`, dataOf(n))));
    const call = handle(jobOf('call', { kind: 'call' }));
    const first = Array.from({ length: WAKE_UPS_MAX }, (_, n) => `wake ${n}`);
    expect(begun).to.deep.equal([...first, 'call']);

    ends[0]?.();
    await wakes[0];
    await settle();
    expect(begun.slice(first.length)).to.deep.equal(['call', `wake ${WAKE_UPS_MAX}`]);

    let ended = 1;
    while (begun.length < 21 || ended < 21) {
      for (const end of ends.slice(ended)) end();
      ended = ends.length;
      await settle();
    }
    await Promise.all([...wakes, call]);
  });

  it('does not wait for apps that take long, and leaves most of the worker to others', async () => {
    const answers: (() => void)[] = [];
    const wakeUps = new WakeUps(CONCURRENCY);
    const app = wakeUps.callsOf({
      call: () => new Promise((resolve) => answers.push(() => resolve({ kind: 'completed', output: 'null' }))),
    });
    const handle = wakeUps.limit(async () => void (await app.call({} as never, {} as never)));
    const inFlight = (count: number) => until(async () => answers.length === count, { describe: `${count} calls` });
    const calls = Array.from({ length: CONCURRENCY }, (_, n) => handle(jobOf(`${n}`, { kind: 'call', sleep: 'nap' })));
    await settle();
    expect(answers, 'at first').to.have.length(WAKE_UPS_MAX);
    await inFlight(WAKE_UPS_MAX + WAITING_MAX);
    for (let ended = 0; ended < CONCURRENCY; ended++) {
      answers[ended]?.();
      await calls[ended];
      await inFlight(Math.min(CONCURRENCY, WAKE_UPS_MAX + WAITING_MAX + ended + 1));
    }
  });

  it('stores the answer of an app before it calls another', async () => {
    const answers: (() => void)[] = [];
    const ends: (() => void)[] = [];
    const wakeUps = new WakeUps(CONCURRENCY);
    const handle = wakeUps.limit(async () => {
      await wakeUps.wait(new Promise<void>((resolve) => answers.push(resolve)));
      await new Promise<void>((resolve) => ends.push(resolve));
    });
    const run = (n: number) => handle(jobOf(`${n}`, { kind: 'call', sleep: 'nap' }));
    const calls = Array.from({ length: 2 * WAKE_UPS_MAX }, (_, n) => run(n));
    await until(async () => answers.length === calls.length, { describe: 'all wait' });
    for (const answer of answers) answer();
    await settle();
    expect(ends, 'at work').to.have.length(calls.length);
    const next = run(calls.length);
    for (const [n, end] of ends.entries()) {
      expect(answers, `after ${n} have ended`).to.have.length(calls.length + (n > WAKE_UPS_MAX ? 1 : 0));
      end();
      await calls[n];
      await settle();
    }
    answers.at(-1)?.();
    await settle();
    ends.at(-1)?.();
    await next;
  });

  it('continues after one has failed', async () => {
    const handle = new WakeUps(CONCURRENCY).limit(({ id }) =>
      id === 'last' ? Promise.resolve() : Promise.reject(new Error('no store')),
    );
    const run = (id: string) => handle(jobOf(id, { kind: 'wake' }));
    const failed = Array.from({ length: 2 * WAKE_UPS_MAX }, (_, n) => run(`wake ${n}`));
    const outcomes = Promise.allSettled(failed);
    await run('last');
    expect((await outcomes).map(({ status }) => status)).to.deep.equal(failed.map(() => 'rejected'));
  });
});
