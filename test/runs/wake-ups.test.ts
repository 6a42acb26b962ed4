import { type Job, Worker } from 'bullmq';
import { expect } from 'chai';
import { Redis } from 'ioredis';
import { RUNS, type RunJob } from '../../src/jobs/queues/queues.ts';
import type { WakeToSchedule } from '../../src/jobs/runs/run-jobs.ts';
import { newId } from '../../src/model/ids.ts';
import { WAKE_UPS_MAX, withFewWakeUps } from '../../src/workers/wake-ups.ts';
import { redisUrl } from '../support/redis.ts';
import { createPauseBed, ENV, type PauseBed } from './pause-bed.ts';

const WAKES = 250;
const LATE_MS = 120_000;

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
  it('is at work a few at a time, in order, beside other jobs', async () => {
    const begun: string[] = [];
    const ends: (() => void)[] = [];
    const handle = withFewWakeUps(async ({ id }) => {
      begun.push(id as string);
      await new Promise<void>((resolve) => ends.push(resolve));
    });
    const run = (kind: RunJob['kind'], id: string) => handle({ id, data: { kind } } as Job<RunJob>);
    const wakes = Array.from({ length: 20 }, (_, n) => run('wake', `wake ${n}`));
    const call = run('call', 'call');
    const first = Array.from({ length: WAKE_UPS_MAX }, (_, n) => `wake ${n}`);
    expect(begun).to.deep.equal([...first, 'call']);

    ends[0]?.();
    await wakes[0];
    await new Promise(setImmediate);
    expect(begun.slice(first.length)).to.deep.equal(['call', `wake ${WAKE_UPS_MAX}`]);

    let ended = 1;
    while (begun.length < 21 || ended < 21) {
      for (const end of ends.slice(ended)) end();
      ended = ends.length;
      await new Promise(setImmediate);
    }
    await Promise.all([...wakes, call]);
  });

  it('continues after one has failed', async () => {
    const handle = withFewWakeUps(({ id }) =>
      id === 'last' ? Promise.resolve() : Promise.reject(new Error('no store')),
    );
    const run = (id: string) => handle({ id, data: { kind: 'wake' } } as Job<RunJob>);
    const failed = Array.from({ length: 2 * WAKE_UPS_MAX }, (_, n) => run(`wake ${n}`));
    const outcomes = Promise.allSettled(failed);
    await run('last');
    expect((await outcomes).map(({ status }) => status)).to.deep.equal(failed.map(() => 'rejected'));
  });
});
