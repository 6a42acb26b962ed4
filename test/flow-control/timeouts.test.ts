import { expect } from 'chai';
import { type AppHost, startAppHost } from '../support/app-host.ts';
import { type Service, startService } from '../support/service.ts';
import { until } from '../support/until.ts';

const sleeps = (duration: string) => ({
  status: 206,
  body: [{ id: 'a'.repeat(40), op: 'Sleep', name: duration, opts: { duration } }],
});

describe('Timeouts of a function', () => {
  let service: Service;
  let host: AppHost;
  before(async () => {
    service = await startService({ env: { RUN_CONCURRENCY: '1' } });
    host = await startAppHost();
  });
  after(async () => {
    await host.close();
    await service.stop();
  });

  const register = (id: string, timeouts: object | undefined, appName = id) =>
    host.register(service, [{ id, triggers: [{ event: `${id}/x` }], ...(timeouts && { timeouts }) }], { appName });

  async function send(id: string, ts?: number): Promise<string> {
    const event = { name: `${id}/x`, data: {}, ...(ts && { ts }) };
    const [eventId] = (await service.post('/e/key', event)).body.ids;
    const { body } = await service.waitFor(
      `/v1/events/${eventId}/runs`,
      (response) => response.body.data?.length === 1,
    );
    return body.data[0].run_id;
  }
  async function ended(runId: string) {
    const { body } = await service.waitFor(`/v1/runs/${runId}`, (response) => response.body.data?.ended_at);
    return body.data;
  }
  const timersOf = (runId: string) => service.redis.keys(`${service.keys.of(runId).prefix}*timers:${runId}-*`);

  it('cancel a run that has not started within `start`, but not a run that is being called', async () => {
    await register('queued', { start: '3s' });
    let respond = () => {};
    host.on('queued', () => new Promise((resolve) => (respond = () => resolve({ body: 'done' }))));
    const first = await send('queued');
    await host.nextCall('queued');
    const second = await send('queued');
    expect(await ended(second)).to.deep.include({
      status: 'Cancelled',
      cancel_reason: { cause: 'start_timeout', id: null, by: null },
      run_started_at: null,
    });
    respond();
    expect((await ended(first)).status).to.equal('Completed');
    expect(host.calls('queued')).to.have.length(1);
    expect([...(await timersOf(first)), ...(await timersOf(second))]).to.deep.equal([]);
  });

  it('count `start` from the time at which the run is due', async () => {
    await register('later', { start: '3s' });
    const runId = await send('later', Date.now() + 4_000);
    expect((await ended(runId)).status).to.equal('Completed');
  });

  it('count `start` from the end of the jitter of a schedule', async () => {
    const jittering = { id: 'jittering', triggers: [{ cron: '* * * * * *', jitter: '5s' }], timeouts: { start: '2s' } };
    await host.register(service, [jittering], { appName: 'jittering' });
    const isLate = (run: { queued_at: string; ended_at: string; status: string }) =>
      Date.parse(run.ended_at) > Date.parse(run.queued_at) + 2_500;
    const runs = await service.waitFor('/v1/runs?function_id=jittering-jittering&limit=100', ({ body }) =>
      body.data?.some(isLate),
    );
    await host.register(service, [], { appName: 'jittering' });
    expect(runs.body.data.find(isLate).status).to.equal('Completed');
  });

  it('count `start` of a batch from the time of its latest event', async () => {
    const batchEvents = { maxSize: 2, timeout: '30s' };
    const fn = { id: 'batch', triggers: [{ event: 'batch/x' }], batchEvents, timeouts: { start: '2s' } };
    await host.register(service, [fn], { appName: 'batch' });
    const event = { name: 'batch/x', data: {} };
    const [eventId] = (await service.post('/e/key', [event, { ...event, ts: Date.now() + 3_000 }])).body.ids;
    const { body } = await service.waitFor(
      `/v1/events/${eventId}/runs`,
      (response) => response.body.data?.length === 1,
    );
    expect((await ended(body.data[0].run_id)).status).to.equal('Completed');
  });

  it('cancel a sleeping run after `finish`, and report it to its invoker', async () => {
    await register('sleeper', { finish: '1s' });
    host.on('sleeper', () => sleeps('1h'));
    host.on('caller', ({ body }) =>
      Object.keys(body.steps).length > 0
        ? { body: body.steps }
        : {
            status: 206,
            body: [{ id: 'c'.repeat(40), op: 'InvokeFunction', opts: { function_id: 'sleeper-sleeper' } }],
          },
    );
    await register('caller', undefined);
    const caller = await ended(await send('caller'));
    expect(JSON.stringify(caller.output)).to.include('InvokedRunCancelled');
    const { body } = await service.get('/v1/runs?function_id=sleeper-sleeper');
    expect(body.data[0]).to.deep.include({
      status: 'Cancelled',
      cancel_reason: { cause: 'finish_timeout', id: null, by: null },
    });
    expect(await timersOf(body.data[0].run_id)).to.deep.equal([]);
  });

  it('do not wait for a call in flight at `finish`, and ignore its response', async () => {
    await register('slow', { finish: '1s' });
    let respond = () => {};
    host.on('slow', () => new Promise((resolve) => (respond = () => resolve({ body: 'done' }))));
    const runId = await send('slow');
    const run = await ended(runId);
    expect(run.cancel_reason).to.deep.equal({ cause: 'finish_timeout', id: null, by: null });
    respond();
    await register('next', undefined);
    await ended(await send('next'));
    expect((await ended(runId)).status).to.equal('Cancelled');
  });

  it('do not affect a run that starts and ends in time', async () => {
    await register('quick', { start: '3s', finish: '1h' });
    host.on('quick', ({ body }) => (body.ctx.stack.stack.length > 0 ? { body: 'ok' } : sleeps('4s')));
    const runId = await send('quick');
    await until(async () => (await timersOf(runId)).length === 2, { describe: 'the run has both timers' });
    expect((await ended(runId)).status).to.equal('Completed');
    await until(async () => (await timersOf(runId)).length === 0, { describe: 'its timers are removed' });
  });

  it('apply to existing runs when a deploy changes them', async () => {
    await register('deployed', { finish: '1h' });
    host.on('deployed', () => sleeps('1h'));
    const runId = await send('deployed');
    await until(async () => (await timersOf(runId)).length === 1, { describe: 'the run has started' });
    await register('deployed', { finish: '2s' });
    expect((await ended(runId)).cancel_reason).to.deep.equal({ cause: 'finish_timeout', id: null, by: null });
    const other = await send('deployed');
    await until(async () => (await timersOf(other)).length === 1, { describe: 'the run has started' });
    await register('deployed', undefined);
    await until(async () => (await timersOf(other)).length === 0, { describe: 'no timer is left' });
    expect((await service.get(`/v1/runs/${other}`)).body.data.status).to.equal('Running');
    await service.request('DELETE', `/v1/runs/${other}`);
  });
});

describe('Timeouts when processes die', () => {
  let host: AppHost;
  beforeEach(async () => {
    host = await startAppHost();
  });
  afterEach(() => host.close());

  it('cancel every run once, even if one of two workers is killed', async () => {
    const service = await startService({ processes: 'worker', workers: 2, env: { STALLED_AFTER_SECONDS: '1' } });
    try {
      host.on('f', () => sleeps('1h'));
      host.on('told', () => ({ body: 'ok' }));
      const functions = [
        { id: 'f', triggers: [{ event: 'f/x' }], timeouts: { finish: '3s' } },
        { id: 'told', triggers: [{ event: 'inngest/function.cancelled' }] },
      ];
      await host.register(service, functions);
      const RUNS = 200;
      await service.post(
        '/e/key',
        Array.from({ length: RUNS }, () => ({ name: 'f/x', data: {} })),
      );
      await until(() => host.calls('f').length > RUNS / 2, { describe: 'runs are called' });
      await service.killWorker();
      const cancelled = async () =>
        (await service.redis.zcard(service.keys.all()[0]?.runIndex('production', 'Cancelled', 'test-app-f') ?? '')) ===
        RUNS;
      await until(cancelled, { describe: 'all runs are cancelled' });
      const ids = () => new Set(host.calls('told').map(({ body }) => body.event.data.run_id));
      await until(() => ids().size === RUNS, { describe: 'all cancellations are told' });
      const { body } = await service.get('/v1/runs?function_id=test-app-f&limit=100');
      for (const run of body.data)
        expect(run.cancel_reason).to.deep.equal({ cause: 'finish_timeout', id: null, by: null });
      // The job of a timer ends after its cancellation is told.
      const timers = () => service.redis.keys(`${service.prefix}*timers:*-finish`);
      await until(async () => (await timers()).length === 0, { describe: 'no timer is left' });
    } finally {
      await service.stop();
    }
  });

  it('have their lost timers restored by the reconciler', async () => {
    const service = await startService({ env: { STALLED_AFTER_SECONDS: '0.25' } });
    try {
      host.on('f', () => sleeps('1h'));
      const functions = (finish: string) => [{ id: 'f', triggers: [{ event: 'f/x' }], timeouts: { finish } }];
      await host.register(service, functions('3s'));
      await service.post('/e/key', { name: 'f/x', data: {} });
      const timers = () => service.redis.keys(`${service.prefix}*timers:*-finish`);
      const [timer = ''] = await until(async () => (await timers()).length > 0 && timers(), {
        describe: 'the timer is set',
      });
      const removing = service.redis
        .multi()
        .del(timer)
        .zrem(`${timer.slice(0, timer.lastIndexOf(':'))}:delayed`, timer.slice(timer.lastIndexOf(':') + 1));
      await removing.exec();
      const { body } = await service.waitFor('/v1/runs', (response) => response.body.data?.[0]?.ended_at);
      expect(body.data[0].cancel_reason).to.deep.equal({ cause: 'finish_timeout', id: null, by: null });
    } finally {
      await service.stop();
    }
  });
});
