import type { Job } from 'bullmq';
import { expect } from 'chai';
import type { AdmittedCallToSchedule } from '../../src/jobs/flow-control/admission.ts';
import { callJobId } from '../../src/jobs/queues/call-ref.ts';
import type { RunJob } from '../../src/jobs/queues/queues.ts';
import { isCluster } from '../support/redis.ts';
import { createPauseBed, ENV, type PauseBed } from './pause-bed.ts';

const HELD = 4;
const INVOKED = 2;
const RUNS = HELD + INVOKED;
const HOUR_MS = 3_600_000;

// BullMQ's workers of the bed have one connection.
(isCluster ? describe.skip : describe)('resuming a function when processes die', () => {
  let bed: PauseBed;
  beforeEach(async () => {
    bed = await createPauseBed();
  });
  afterEach(() => bed.close());

  /** Runs of which some have jobs that were put aside; the last ones were created while the function was paused. */
  async function hold(id: string): Promise<string[]> {
    await bed.register(id);
    const runs = await bed.start(id, HELD);
    await bed.pause(id);
    expect(await bed.work()).to.deep.equal([]);
    runs.push(...(await bed.start(id, INVOKED)));
    expect([await bed.delayedJobs(), await bed.waiting()]).to.deep.equal([HELD, RUNS]);
    return runs;
  }

  it('held runs start once each, in order, whichever command of the worker that resumes them is its last', async () => {
    for (let commands = 0, isDone = false; !isDone; commands++) {
      const id = `dies-after-${commands}`;
      const runs = await hold(id);
      await bed.resume(id);
      isDone = await bed.adaptAndDie(id, commands);
      await bed.adapt(id);
      expect(await bed.work(), id).to.deep.equal(runs);
      expect([await bed.delayedJobs(), await bed.waiting()], id).to.deep.equal([0, 0]);
      if (isDone) expect(commands).to.be.greaterThan(RUNS);
    }
  });

  it('held runs start once each when two workers resume them', async () => {
    const runs = await hold('twice');
    await bed.resume('twice');
    await Promise.all([bed.adapt('twice'), bed.adapt('twice')]);
    expect((await bed.work()).sort()).to.deep.equal(runs.sort());
    expect([await bed.delayedJobs(), await bed.waiting()]).to.deep.equal([0, 0]);
  });

  it('a run whose job was about to be held also starts', async () => {
    await bed.register('late');
    const [run = ''] = await bed.start('late', 1);
    await bed.pause('late');
    const { admittedCalls } = bed.process();
    const job = {
      env: ENV,
      runId: run,
      eventId: run,
      requestId: run,
      functionId: 'late',
      kind: 'call',
      finishedSteps: 0,
    } as const;
    expect(await admittedCalls.admit(job, 1)).to.equal('waits');
    await bed.resume('late');
    await bed.adapt('late');
    expect(await bed.work()).to.deep.equal([run]);
    expect(await bed.waiting()).to.equal(0);
  });

  it('a function that is paused again while its held runs start holds the runs that have not started', async () => {
    const runs = await hold('again');
    await bed.resume('again');
    const { scheduler } = bed.process();
    let started: string[] = [];
    await bed.adapt('again', async (calls: readonly AdmittedCallToSchedule[]) => {
      await scheduler.start(calls);
      if (calls.length === 0) return;
      await bed.pause('again');
      // Workers put the jobs aside again, before the one that resumes has gone on.
      started = await bed.work();
    });
    expect(started).to.deep.equal([]);
    expect([await bed.delayedJobs(), await bed.waiting()]).to.deep.equal([RUNS, RUNS]);
    await bed.resume('again');
    await bed.adapt('again');
    expect(await bed.work()).to.deep.equal(runs);
    expect([await bed.delayedJobs(), await bed.waiting()]).to.deep.equal([0, 0]);
  });

  for (const queuedRuns of ['hold', 'cancel'] as const) {
    it(`a worker that does not know of a pause starts no queued run (${queuedRuns}), and each once after it`, async () => {
      await bed.register(queuedRuns);
      const runs = await bed.start(queuedRuns, HELD);
      const worker = bed.process();
      await worker.functions.find(ENV, queuedRuns);
      await bed.pause(queuedRuns, queuedRuns);
      expect(await bed.work(undefined, worker)).to.deep.equal([]);
      expect([await bed.delayedJobs(), await bed.waiting()]).to.deep.equal([HELD, HELD]);
      await bed.resume(queuedRuns);
      await bed.adapt(queuedRuns);
      expect(await bed.work()).to.deep.equal(runs);
    });
  }

  it('a run starts even if the process that resumed its function died', async () => {
    await bed.register('dies');
    await bed.pause('dies');
    await bed.resume('dies', true);
    const runs = await bed.start('dies', HELD);
    const started = [...(await bed.work()), ...(await bed.work())];
    expect(started.sort()).to.deep.equal(runs.sort());
  });

  it('a run starts even if the worker that put its job aside died before it looked again', async () => {
    await bed.register('aside');
    const [run = ''] = await bed.start('aside', 1);
    // The function was resumed between the two commands of that worker: nothing waits in a backlog.
    await bed.work(async (job) => {
      await job.moveToDelayed(Date.now() + HOUR_MS, job.token);
      throw new Error('killed');
    });
    expect([await bed.delayedJobs(), await bed.waiting()]).to.deep.equal([1, 0]);
    await ensure(run, 'aside');
    expect(await bed.work()).to.deep.equal([run]);
  });

  it('a retry that is not due holds no permit and is not made, even if its run is reconciled', async () => {
    await bed.register('retries', { concurrency: 1 });
    const [run = '', next = ''] = await bed.start('retries', 2);
    const fail = async (job: Job<RunJob>) => {
      await job.moveToDelayed(Date.now() + HOUR_MS, job.token);
      await bed.store.redis.hset(bed.process().queuedRunJobs.callJobKey({ runId: run }), 'atm', 1);
      throw new Error('an attempt has failed');
    };
    expect(await bed.work(fail)).to.deep.equal([run]);
    await ensure(run, 'retries');
    expect(await bed.work()).to.deep.equal([next]);
    expect(await bed.work()).to.deep.equal([]);
    expect([await bed.delayedJobs(), await bed.waiting()]).to.deep.equal([1, 0]);
  });

  it('a retry that was put aside is made, even if the worker that admitted it died before it made its job due', async () => {
    await bed.register('admitted', { concurrency: 1 });
    const [run = '', next = ''] = await bed.start('admitted', 2);
    await bed.work(async (job) => {
      await bed.store.redis.hset(bed.process().queuedRunJobs.callJobKey({ runId: run }), 'atm', 1);
      await job.moveToDelayed(Date.now() + HOUR_MS, job.token);
      throw new Error('an attempt has failed');
    });
    const dying = bed.process();
    dying.scheduler.start = async () => undefined;
    const called = await bed.work(async () => {
      await bed.process().queuedRunJobs.promoteDeferred(callJobId(run, 0, undefined));
      expect(await bed.work(), 'the retry waits for the call').to.deep.equal([]);
    }, dying);
    expect(called).to.deep.equal([next]);
    expect(await bed.work()).to.deep.equal([]);
    expect([await bed.delayedJobs(), await bed.waiting()]).to.deep.equal([1, 0]);
    await bed.check();
    expect(await bed.work()).to.deep.equal([run]);
  });

  async function ensure(runId: string, functionId: string): Promise<void> {
    const [found] = await bed.store.runs.readMany(ENV, [runId]);
    if (!found) throw new Error(`no run ${runId}`);
    const ref = { ...found, runId, functionId };
    await bed.process().scheduler.ensureCall({ ref, finishedSteps: 0, retries: 3 });
  }
});
