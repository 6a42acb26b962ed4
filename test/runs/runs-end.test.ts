import { expect } from 'chai';
import { FUNCTION_FINISHED } from '../../src/model/events/lifecycle.ts';
import type { Ending } from '../../src/model/runs/run.ts';
import { type AppHost, startAppHost } from '../support/app-host.ts';
import { openStore } from '../support/own-store.ts';
import { findKeys, isCluster } from '../support/redis.ts';
import { type Service, startService } from '../support/service.ts';
import { bucketKey, storedText } from '../support/stored-event.ts';
import { until } from '../support/until.ts';
import { step } from './responses/cases/entry.ts';

const ENV = 'production';
const DEEP = '['.repeat(5_000) + ']'.repeat(5_000);

/** Idle runs are reconciled about every 4 s. */
const SOON = { STALLED_AFTER_SECONDS: '1', RETRY_SCALE: '0.0001', LOG_LEVEL: 'info' };

describe('The end of every run', () => {
  let service: Service;
  let host: AppHost;
  before(async () => {
    service = await startService({ env: SOON });
  });
  after(() => service.stop());
  beforeEach(async () => {
    host = await startAppHost();
  });
  afterEach(() => host.close());

  const keyOf = (runId: string, part = '') => `${service.keys.of(runId).prefix}:run:${ENV}:${runId}${part}`;
  const queueKey = (runId: string, part: string) => `${service.keys.of(runId).prefix}:queue:runs:${part}`;
  const activeRuns = (runId: string) => `${service.keys.of(runId).prefix}:active-runs`;
  const cancel = (runId: string) => service.request('DELETE', `/v1/runs/${runId}`);
  const run = async (runId: string) => (await service.get(`/v1/runs/${runId}`)).body.data;
  const ended = async (runId: string) =>
    (await service.waitFor(`/v1/runs/${runId}`, ({ body }) => body.data.ended_at)).body.data;

  /** @returns the ID of the one run that the event triggered */
  async function start(name: string, event: object = {}): Promise<string> {
    const { body } = await service.post('/e/key', { name, data: {}, ...event });
    const path = `/v1/events/${body.ids[0]}/runs`;
    return (await service.waitFor(path, ({ body }) => body.data?.length === 1)).body.data[0].run_id;
  }

  /** A run is listed before its job is. */
  const inQueue = (runId: string, jobId: string) =>
    until(async () => (await service.redis.zscore(queueKey(runId, 'delayed'), jobId)) !== null, {
      describe: `job ${jobId} waits`,
    });

  async function asleep(runId: string): Promise<void> {
    await until(() => service.redis.exists(keyOf(runId, ':pending')), { describe: 'a step has begun' });
    await inQueue(runId, `${runId}-1`);
  }

  it('a run whose event is missing at first is called once the event is there', async () => {
    await host.register(service, [{ id: 'f', triggers: [{ event: 'job/late-event' }] }], { appName: 'late-event' });
    const { body } = await service.post('/e/key', {
      name: 'job/late-event',
      data: { n: 1 },
      ts: Date.now() + 3_600_000,
    });
    const [eventId] = body.ids as [string];
    const [{ run_id: runId }] = (
      await service.waitFor(`/v1/events/${eventId}/runs`, ({ body }) => body.data?.length === 1)
    ).body.data;
    await inQueue(runId, runId);
    // Its ingest job is done, and stores it no more.
    await service.stored(eventId);
    const text = await storedText(service, eventId);
    await service.redis.hdel(bucketKey(service, eventId), eventId.slice(8));
    // Due now.
    await service.redis.zadd(queueKey(runId, 'delayed'), 'XX', 0, runId);
    await service.redis.zadd(queueKey(runId, 'marker'), 0, '0');
    await until(async () => Number(await service.redis.hget(queueKey(runId, runId), 'ats')) > 0, {
      describe: 'the call was tried',
    });
    await inQueue(runId, runId);
    expect(host.calls('f')).to.deep.equal([]);
    await service.redis.hset(bucketKey(service, eventId), eventId.slice(8), text as string);
    const { status, error } = await ended(runId);
    expect([status, error, host.calls('f').length]).to.deep.equal(['Completed', null, 1]);
  });

  describe('reconciliation', () => {
    for (const [state, change] of [
      ['has failed', async (id: string) => void (await service.redis.zadd(queueKey(id, 'failed'), Date.now(), id))],
      ['was done', async (id: string) => void (await service.redis.zadd(queueKey(id, 'completed'), Date.now(), id))],
      ['is in no list', async () => {}],
      ['is gone', async (id: string) => void (await service.redis.del(queueKey(id, id)))],
    ] as const) {
      for (const kind of ['first call', 'wake'] as const) {
        const name = `job/${state}-${kind}`.replaceAll(' ', '-');
        it(`the reconciler replaces a ${kind} job that ${state} while its run is active`, async () => {
          host.on('f', ({ number }) => {
            if (kind === 'first call' || number > 0) return { body: 'done' };
            return { status: 206, body: [{ id: step('s'), op: 'Sleep', name: '1m' }] };
          });
          await host.register(service, [{ id: 'f', triggers: [{ event: name }] }], { appName: `${state}-${kind}` });
          const runId = await start(name, kind === 'wake' ? {} : { ts: Date.now() + 3_600_000 });
          if (kind === 'wake') await asleep(runId);
          const jobId = kind === 'wake' ? `${runId}-1` : runId;
          await inQueue(runId, jobId);
          expect(await service.redis.zrem(queueKey(runId, 'delayed'), jobId)).to.equal(1);
          await change(jobId);
          if (kind === 'wake') {
            // The hour is over.
            const pending = JSON.parse((await service.redis.hget(keyOf(runId, ':pending'), step('s'))) as string);
            pending.until = Date.now();
            await service.redis.hset(keyOf(runId, ':pending'), step('s'), JSON.stringify(pending));
          }
          await service.redis.zadd(activeRuns(runId), 'XX', 0, `${ENV}/${runId}`);
          expect(await ended(runId)).to.include({ status: 'Completed', output: 'done' });
        });
      }
    }

    for (const [what, damage] of [
      ['a step', (key: string) => service.redis.hset(key, step('s'), '{no JSON')],
      ['the steps', (key: string) => service.redis.multi().del(key).set(key, 'no hash').exec()],
    ] as const) {
      it(`a run that cannot be reconciled, as ${what} cannot be read, is logged and postponed, and does not stop the others`, async () => {
        const app = what.replaceAll(' ', '-');
        host.on('f', ({ body }) => {
          if (body.ctx.stack.current > 0) return { body: 'done' };
          return { status: 206, body: [{ id: step('s'), op: 'Sleep', name: '1m' }] };
        });
        await host.register(service, [{ id: 'f', triggers: [{ event: `${app}/x` }] }], { appName: app });
        const [odd, well] = [await start(`${app}/x`), await start(`${app}/x`)];
        for (const runId of [odd, well]) await asleep(runId);
        await damage(keyOf(odd, ':pending'));
        const pending = JSON.stringify({ op: 'Sleep', name: 's', since: 1, until: 1 });
        await until(() => service.redis.hexists(keyOf(well, ':pending'), step('s')), { describe: 'it sleeps' });
        await service.redis.hset(keyOf(well, ':pending'), step('s'), pending);
        await service.redis.zrem(queueKey(well, 'delayed'), `${well}-1`);
        await service.redis.zadd(activeRuns(well), 'XX', 1, `${ENV}/${well}`);
        await service.redis.zadd(activeRuns(odd), 'XX', 0, `${ENV}/${odd}`);
        await ended(well);
        const isTold = () => /a run could not be reconciled/.test(service.output()) && service.output().includes(odd);
        await until(isTold, { describe: 'the log tells of it' });
        const dueAt = async () => Number(await service.redis.zscore(activeRuns(odd), `${ENV}/${odd}`));
        await until(async () => (await dueAt()) > Date.now(), { describe: 'it is postponed' });
        await service.redis.del(keyOf(odd, ':pending'));
        await cancel(odd);
      });
    }
  });

  it('an error of the service fails a run with a reason, after all attempts of the function', async () => {
    host.on('f', () => ({ status: 206, body: [{ id: step('s'), op: 'Sleep', name: '1m' }] }));
    await host.register(
      service,
      [
        { id: 'f', triggers: [{ event: 'fault/x' }], retries: 1 },
        { id: 'hears', triggers: [{ event: 'inngest/function.failed' }] },
      ],
      { appName: 'fault' },
    );
    const runId = await start('fault/x');
    await asleep(runId);
    await service.redis.hset(keyOf(runId, ':memos'), step('other'), '{no JSON');
    await service.redis.rpush(keyOf(runId, ':stack'), step('other'));
    await service.redis.hdel(keyOf(runId, ':pending'), step('s'));
    // Due now.
    await service.redis.zadd(queueKey(runId, 'delayed'), 'XX', 0, `${runId}-1`);
    await service.redis.zadd(queueKey(runId, 'marker'), 0, '0');
    const { status, attempt, error } = await ended(runId);
    expect([status, attempt, error.name]).to.deep.equal(['Failed', 1, 'InternalError']);
    expect(error.message).to.include('JSON');
    expect(host.calls('f')).to.have.lengthOf(1);
    expect((await host.nextCall('hears')).body.event.data.error.name).to.equal('InternalError');
  });

  it('a run that invoked a run with an unreadable output ends, and both are listed', async () => {
    const barrier = Promise.withResolvers<void>();
    host.on('child', async () => {
      await barrier.promise;
      return { body: 'too late' };
    });
    host.on('parent', ({ body }) => {
      if (body.ctx.stack.current > 0) return { body: body.steps[step('s')] };
      return { status: 206, body: [{ id: step('s'), op: 'InvokeFunction', opts: { function_id: 'deep-child' } }] };
    });
    await host.register(
      service,
      [
        { id: 'child', triggers: [{ event: 'child/x' }] },
        { id: 'parent', triggers: [{ event: 'parent/x' }] },
      ],
      { appName: 'deep' },
    );
    const parent = await start('parent/x');
    const child = (await host.nextCall('child')).body.ctx.run_id;
    // As stored by a version without a limit of depth.
    await service.redis.hset(keyOf(child), 's', 'Completed', 'o', DEEP, 'x', String(Date.now()));
    barrier.resolve();
    expect((await ended(parent)).output.error.name).to.equal('OutputUnreadable');
    const listed = await service.get('/v1/runs');
    expect(listed.status).to.equal(200);
    expect((await run(child)).error.name).to.equal('OutputUnreadable');
    expect((await run(child)).output).to.equal(null);
  });
});

describe('Jobs of an ended run', () => {
  let service: Service;
  let host: AppHost;
  before(async () => {
    service = await startService();
  });
  after(() => service.stop());
  beforeEach(async () => {
    host = await startAppHost();
  });
  afterEach(() => host.close());

  const cancel = (runId: string) => service.request('DELETE', `/v1/runs/${runId}`);
  const waiting = async (queue: string) => {
    const lists = await findKeys(service.redis, service.prefix, new RegExp(`^:queue:${queue}:delayed$`));
    const lengths = await Promise.all(lists.map((key) => service.redis.zcard(key)));
    return lengths.reduce((sum, length) => sum + length, 0);
  };
  const jobsWait = (count: number) =>
    until(async () => (await waiting('runs')) === count, { describe: () => `${count} jobs wait for their time` });
  const timersWait = (count: number) =>
    until(async () => (await waiting('timers')) === count, { describe: () => `${count} timers wait` });

  async function send(name: string, event: object = {}): Promise<string> {
    return (await service.post('/e/key', { name, data: {}, ...event })).body.ids[0];
  }
  async function runOf(eventId: string): Promise<string> {
    const path = `/v1/events/${eventId}/runs`;
    return (await service.waitFor(path, ({ body }) => body.data?.length === 1)).body.data[0].run_id;
  }
  async function register(triggers: string, options: object = {}) {
    await host.register(service, [{ id: 'f', triggers: [{ event: triggers }], ...options }], { appName: triggers });
  }

  it('a finished wait or invocation leaves no job for its timeout', async () => {
    host.on('f', ({ body }) => {
      if (body.ctx.stack.current > 1) return { body: 'done' };
      if (body.ctx.stack.current > 0) return { status: 206, body: [] };
      const wait = { id: step('w'), op: 'WaitForEvent', opts: { event: 'met/y', timeout: '1m' } };
      const invocation = { id: step('i'), op: 'InvokeFunction', opts: { function_id: 'met-child', timeout: '1m' } };
      return { status: 206, body: [wait, invocation] };
    });
    const barrier = Promise.withResolvers<void>();
    host.on('child', async () => {
      await barrier.promise;
      return {};
    });
    await host.register(
      service,
      [
        { id: 'f', triggers: [{ event: 'met/x' }] },
        { id: 'child', triggers: [{ event: 'met/child' }] },
      ],
      { appName: 'met' },
    );
    const id = await send('met/x');
    await jobsWait(2);
    await send('met/y');
    await jobsWait(1);
    barrier.resolve();
    await jobsWait(0);
    await service.waitFor(`/v1/events/${id}/runs`, ({ body }) => body.data?.[0]?.status === 'Completed');
  });

  it('a cancelled run leaves no jobs of sleeps, waits and step retries', async () => {
    host.on('f', ({ stepId }) => {
      if (stepId !== 'step') return { status: 500, body: { name: 'Busy', message: 'later' } };
      return {
        status: 206,
        body: [
          { id: step('sleep'), op: 'Sleep', name: '1m' },
          { id: step('wait'), op: 'WaitForEvent', opts: { event: 'never/x', timeout: '1m' } },
          { id: step('planned'), op: 'StepPlanned' },
        ],
      };
    });
    await register('cancelled/x');
    const runId = await runOf(await send('cancelled/x'));
    await jobsWait(3);
    await cancel(runId);
    await jobsWait(0);
  });

  it('a cancelled run leaves no delayed first call and no retry', async () => {
    host.on('f', () => ({ status: 500, body: { name: 'Busy', message: 'later' } }));
    await register('first/x');
    const far = await runOf(await send('first/x', { ts: Date.now() + 3_600_000 }));
    const failing = await runOf(await send('first/x'));
    await jobsWait(2);
    for (const runId of [far, failing]) await cancel(runId);
    await jobsWait(0);
  });

  it('a run learns of the end of another in another partition even if the process that stored that end died', async function () {
    // In one partition such an end is not one with its job.
    if (!isCluster) return this.skip();
    const response = Promise.withResolvers<void>();
    host.on('f', async () => {
      await response.promise;
      return {};
    });
    host.on('waits', ({ number, body }) => {
      if (number > 0) return { body: body.steps[step('w')].data.run_id };
      const opts = { event: FUNCTION_FINISHED, if: "async.data.function_id == 'elsewhere-f'", timeout: '1m' };
      return { status: 206, body: [{ id: step('w'), op: 'WaitForEvent', opts }] };
    });
    const functions = ['f', 'waits'].map((id) => ({ id, triggers: [{ event: `elsewhere/${id}` }] }));
    await host.register(service, functions, { appName: 'elsewhere' });
    const waiting = await send('elsewhere/waits');
    await jobsWait(1);
    const [home] = service.keys.homesOf(ENV, FUNCTION_FINISHED);
    let runId: string;
    do runId = await runOf(await send('elsewhere/f'));
    while (service.keys.of(runId) === home);
    const lockOf = new RegExp(`:${runId}:lock$`);
    const lock = await until(async () => (await findKeys(service.redis, service.prefix, lockOf))[0], {
      describe: 'the run is called',
    });
    const dying = await openStore(service.prefix);
    const job = { key: lock.slice(0, -':lock'.length), id: runId, token: (await service.redis.get(lock)) ?? '' };
    const ending = { status: 'Completed', output: 'null' } as const;
    const leftOver = await dying.runs.end({ env: ENV, id: runId, functionId: 'elsewhere-f' }, ending, Date.now(), {
      job: { ...job, nowMs: Date.now(), lockMs: 1_000, takesNext: false },
    });
    dying.redis.disconnect();
    expect(leftOver).to.deep.include({ isUnfinished: true, awaited: undefined });
    expect(await service.redis.exists(job.key)).to.equal(0);
    const { body } = await service.waitFor(`/v1/events/${waiting}/runs`, ({ body }) => body.data?.[0]?.ended_at);
    expect(body.data[0].output).to.equal(runId);
    const unfinished = () => findKeys(service.redis, service.prefix, /:unfinished-ends$/);
    await until(async () => (await unfinished()).length === 0, { describe: 'the end is finished' });
    response.resolve();
  });

  it('a cancelled, failed or completed run leaves no jobs even if the process that ended it died', async () => {
    host.on('f', ({ stepId }) => {
      if (stepId !== 'step') return { status: 500, body: { name: 'Busy', message: 'later' } };
      const sleep = { id: step('sleep'), op: 'Sleep', name: '1m' };
      const wait = { id: step('wait'), op: 'WaitForEvent', opts: { event: 'never/x', timeout: '1m' } };
      return { status: 206, body: [sleep, wait, { id: step('planned'), op: 'StepPlanned' }] };
    });
    await register('dies/x', { timeouts: { finish: '1h' } });
    const runs = [
      await runOf(await send('dies/x')),
      await runOf(await send('dies/x')),
      await runOf(await send('dies/x')),
    ];
    const late = await runOf(await send('dies/x', { ts: Date.now() + 3_600_000 }));
    await jobsWait(10);
    await timersWait(3);
    const dying = await openStore(service.prefix);
    const endings = [
      { status: 'Cancelled', reason: { cause: 'request' } },
      { status: 'Failed', error: { name: 'Error', message: 'it fails' } },
      { status: 'Completed', output: '1' },
      { status: 'Cancelled', reason: { cause: 'request' } },
    ] as const;
    for (const [i, id] of [...runs, late].entries()) {
      const run = { env: ENV, id, functionId: 'dies/x-f' };
      const { functionId } = (await dying.runs.read(ENV, id)) ?? run;
      await dying.runs.end({ ...run, functionId }, endings[i] as Ending, Date.now(), { hasJobs: true });
    }
    dying.redis.disconnect();
    await jobsWait(0);
    await timersWait(0);
    const unfinished = await findKeys(service.redis, service.prefix, /:(unfinished-ends|.*:left-over)$/);
    expect(unfinished).to.deep.equal([]);
  });
});
