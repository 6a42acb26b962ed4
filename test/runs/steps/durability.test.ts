import { Queue } from 'bullmq';
import { expect } from 'chai';
import { type AppHost, startAppHost } from '../../support/app-host.ts';
import { startOwnRedis } from '../../support/own-redis.ts';
import { findKeys } from '../../support/redis.ts';
import { type Service, startService } from '../../support/service.ts';
import { until } from '../../support/until.ts';
import { type App, type Loose, SDK_ADAPTERS, type SdkAdapter, startApp } from './sdk-adapters.ts';

/** Another worker takes over a dead worker's jobs after this time; a run without its job is reconciled after four times
 *  as long. */
const SOON = { STALLED_AFTER_SECONDS: '1', RETRY_SCALE: '0.0005' };
const OURS = SDK_ADAPTERS[0] as SdkAdapter;

/** Thousands of calls take minutes on a busy machine. */
const LONG_MS = 600_000;

describe('The durability of runs', () => {
  const RUNS = process.env.TEST_ALL ? 500 : 100;
  it(`${RUNS} runs of ten steps, some parallel, survive workers killed at random`, async () => {
    const KILLS = 5;
    const CONCURRENCY = 20;
    const service = await startService({
      processes: 'worker',
      workers: 2,
      env: { ...SOON, RUN_CONCURRENCY: String(CONCURRENCY) },
    });
    let app: App | undefined;
    try {
      const effects = new Map<string, number>();
      const client = OURS.client(service, 'survivor');
      const ten = client.createFunction(
        { id: 'ten', triggers: [{ event: 'survive/x' }] },
        async ({ step, event }: Loose) => {
          const run = (id: string) =>
            step.run(id, () => {
              const key = `${event.data.n}/${id}`;
              effects.set(key, (effects.get(key) ?? 0) + 1);
              return event.data.n;
            });
          const sums = [await run('a'), await run('b'), await run('c')];
          sums.push(...(await Promise.all(['d', 'e', 'f', 'g'].map(run))));
          sums.push(await run('h'), await run('i'), await run('j'));
          return sums.reduce((a: number, b: number) => a + b, 0);
        },
      );
      app = await startApp(OURS.serve(client, [ten]));
      const ids: string[] = [];
      for (let n = 0; n < RUNS; n += 100) {
        const events = Array.from({ length: 100 }, (_, i) => ({ name: 'survive/x', data: { n: n + i } }));
        ids.push(...(await service.post('/e/key', events)).body.ids);
      }
      for (let kill = 1; kill <= KILLS; kill++) {
        const enough = (kill * RUNS * 10) / (KILLS + 2);
        await until(() => effects.size >= enough, { describe: `${enough} steps are done`, timeoutMs: 240_000 });
        await service.killWorker(Math.random() < 0.5 ? service.workers.length - 1 : service.workers.length - 2);
        await service.startWorker();
      }
      for (const [n, id] of ids.entries()) {
        const { body } = await service.waitFor(`/v1/events/${id}/runs`, ({ body }) => body.data?.[0]?.ended_at, 60_000);
        expect([body.data[0].status, body.data[0].output], JSON.stringify(body.data[0].error)).to.deep.equal([
          'Completed',
          n * 10,
        ]);
      }
      const repeated = [...effects.values()].filter((count) => count > 1).length;
      console.log(`      ${RUNS * 10} steps, ${KILLS} workers killed: ${repeated} steps ran more than once`);
      expect(effects.size).to.equal(RUNS * 10);
      // Only what was in flight in a worker when it was killed.
      expect(repeated).to.be.at.most(KILLS * CONCURRENCY);
    } finally {
      await app?.close();
      await service.stop();
    }
  }).timeout(LONG_MS);

  it('runs survive the loss of all jobs: the reconciler finds and continues them', async () => {
    const service = await startService({ processes: 'worker', env: SOON });
    let app: App | undefined;
    try {
      const client = OURS.client(service, 'found');
      const child = client.createFunction(
        { id: 'child', triggers: [{ event: 'found/none' }] },
        async ({ step }: Loose) => {
          await step.sleep('nap', '2s');
          return 'child';
        },
      );
      const parent = client.createFunction(
        { id: 'parent', triggers: [{ event: 'found/x' }] },
        async ({ step }: Loose) =>
          Promise.all([
            step.invoke('invoke', { function: child, data: {} }),
            step.sleep('sleep', '2s').then(() => 'slept'),
            step.waitForEvent('wait', { event: 'found/never', timeout: '2s' }),
          ]),
      );
      app = await startApp(OURS.serve(client, [child, parent]));
      const { body } = await service.post('/e/key', { name: 'found/x', data: {} });
      const runs = `/v1/events/${body.ids[0]}/runs`;
      const runId = (await service.waitFor(runs, ({ body }) => body.data?.length === 1)).body.data[0].run_id;
      await service.waitFor(`/v1/runs/${runId}`, ({ body }) => waiting(body) === 3);
      await service.waitFor('/v1/events?name=inngest/function.invoked', ({ body }) => body.data.length === 1);
      await service.killWorker();
      const jobs = await findKeys(service.redis, service.prefix, /^:queue:runs:/);
      for (const job of jobs) await service.redis.del(job);
      await service.startWorker();
      const { body: done } = await service.waitFor(`/v1/runs/${runId}`, ({ body }) => body.data?.ended_at);
      expect([done.data.status, done.data.output]).to.deep.equal(['Completed', ['child', 'slept', null]]);
    } finally {
      await app?.close();
      await service.stop();
    }
  });

  it('sleeping runs survive a restart of everything, Redis included', async () => {
    const redis = await startOwnRedis();
    const env = { ...SOON, REDIS_URL: redis.url, KEY_PREFIX: 'restart' };
    let service = await startService({ processes: true, env });
    let app: App | undefined;
    try {
      const client = OURS.client(service, 'restart');
      const fn = client.createFunction({ id: 'f', triggers: [{ event: 'restart/x' }] }, async ({ step }: Loose) => {
        const before = await step.run('before', () => 'before');
        await step.sleep('sleep', '3s');
        return `${before} and after`;
      });
      app = await startApp(OURS.serve(client, [fn]));
      const { body } = await service.post('/e/key', { name: 'restart/x', data: {} });
      const runs = `/v1/events/${body.ids[0]}/runs`;
      const runId = (await service.waitFor(runs, ({ body }) => body.data?.length === 1)).body.data[0].run_id;
      await service.waitFor(`/v1/runs/${runId}`, ({ body }) => waiting(body) === 1);
      await service.killWorker();
      await service.killWeb();
      await redis.stop();
      await redis.start();
      await service.stop();
      service = await startService({ processes: true, env });
      const { body: done } = await service.waitFor(`/v1/runs/${runId}`, ({ body }) => body.data?.ended_at);
      expect([done.data.status, done.data.output]).to.deep.equal(['Completed', 'before and after']);
    } finally {
      await app?.close();
      await service.stop();
      await redis.remove();
    }
  });
});

describe('step.sendEvent', () => {
  for (const sdk of SDK_ADAPTERS) {
    it(`stores an event once when the response is lost and the step repeats, with ${sdk.name}`, async () => {
      const service = await startService({ env: SOON });
      const [lossy, close] = await losingFirstAnswer(service);
      let app: App | undefined;
      try {
        const client = sdk.client({ url: lossy } as Service, 'lossy');
        const fn = client.createFunction({ id: 'f', triggers: [{ event: 'lossy/x' }] }, async ({ step }: Loose) => {
          const { ids } = await step.sendEvent('tell', { name: 'lossy/told', data: {} });
          return ids;
        });
        app = await startApp(sdk.serve(client, [fn]));
        const { body } = await service.post('/e/key', { name: 'lossy/x', data: {} });
        const { body: runs } = await service.waitFor(
          `/v1/events/${body.ids[0]}/runs`,
          ({ body }) => body.data?.[0]?.ended_at,
        );
        expect(runs.data[0].status, JSON.stringify(runs.data[0].error)).to.equal('Completed');
        const { body: told } = await service.waitFor(
          '/v1/events?name=lossy/told',
          ({ body }) => body.data?.[0]?.duplicates === 1,
        );
        expect(told.data.length).to.equal(1);
        expect(runs.data[0].output).to.deep.equal([told.data[0].internal_id]);
      } finally {
        await app?.close();
        await close();
        await service.stop();
      }
    });
  }
});

describe('Runs with steps', () => {
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

  const op = (op: string, n: number, rest: object = {}) => ({
    id: n.toString(16).padStart(40, '0'),
    op,
    name: `n${n}`,
    displayName: `step ${n}`,
    ...rest,
  });
  const send = async (event: object) => (await service.post('/e/key', event)).body.ids[0] as string;
  const ended = async (eventId: string) => {
    const { body } = await service.waitFor(`/v1/events/${eventId}/runs`, ({ body }) => body.data?.[0]?.ended_at);
    return (await service.get(`/v1/runs/${body.data[0].run_id}`)).body.data;
  };

  it('a run on an event with a future ts starts at that time', async () => {
    await host.register(service, [{ id: 'f', triggers: [{ event: 'future/x' }] }], { appName: 'future' });
    const ts = Date.now() + 1_500;
    const id = await send({ name: 'future/x', data: {}, ts });
    const { body } = await service.waitFor(`/v1/events/${id}/runs`, ({ body }) => body.data?.length === 1);
    expect(body.data[0].status).to.equal('Queued');
    const run = await ended(id);
    expect(Date.parse(run.run_started_at)).to.be.at.least(ts);
  });

  it('a run that sleeps longer than the retention keeps its event', async () => {
    host.on('f', () => ({ status: 206, body: [op('Sleep', 1, { name: '30d' })] }));
    await host.register(service, [{ id: 'f', triggers: [{ event: 'long/x' }] }], { appName: 'long' });
    const id = await send({ name: 'long/x', data: {} });
    await host.nextCall('f');
    const day = 86_400_000;
    const event = `${service.keys.of(id).prefix}:overflow-event:production:${id}`;
    await until(async () => (await service.redis.pttl(event)) > 33 * day, {
      describe: 'the event is kept for 30 days and half the retention',
    });
  });

  it('a run has a history of every attempt and step with its times, status and error', async () => {
    const answers = [
      { status: 206, body: [op('StepRun', 1, { data: 1 })] },
      { status: 206, body: [op('StepError', 2, { error: { name: 'Busy', message: 'not yet' } })] },
      { status: 206, body: [op('StepRun', 2, { data: 2 })] },
      { status: 206, body: [op('Sleep', 3, { name: '10ms' })] },
      { body: 'done' },
    ];
    host.on('f', ({ number }) => answers[number] ?? {});
    await host.register(service, [{ id: 'f', triggers: [{ event: 'history/x' }] }], { appName: 'history' });
    const run = await ended(await send({ name: 'history/x', data: {} }));
    expect(
      run.history.map((entry: Loose) => [
        entry.kind,
        entry.op,
        entry.status,
        entry.attempt,
        entry.error?.message ?? null,
      ]),
    ).to.deep.equal([
      ['attempt', null, 'Completed', 0, null],
      ['step', 'StepRun', 'Completed', 0, null],
      ['attempt', null, 'Completed', 0, null],
      ['step', 'StepError', 'Failed', 0, 'not yet'],
      ['attempt', null, 'Completed', 1, null],
      ['step', 'StepRun', 'Completed', 1, null],
      ['attempt', null, 'Completed', 0, null],
      ['step', 'Sleep', 'Completed', null, null],
      ['attempt', null, 'Completed', 0, null],
    ]);
    for (const { started_at, ended_at } of run.history)
      expect(Date.parse(started_at)).to.be.at.most(Date.parse(ended_at));
    expect(host.calls('f').map(({ body }) => body.ctx.stack)).to.deep.equal([
      { stack: [], current: 0 },
      { stack: [op('', 1).id], current: 1 },
      { stack: [op('', 1).id], current: 1 },
      { stack: [op('', 1).id, op('', 2).id], current: 2 },
      { stack: [op('', 1).id, op('', 2).id, op('', 3).id], current: 3 },
    ]);
    expect(host.calls('f').at(-1)?.body.steps).to.deep.equal({
      [op('', 1).id]: { data: 1 },
      [op('', 2).id]: { data: 2 },
      [op('', 3).id]: null,
    });
  });

  it('new steps are planned while others are in progress, and run at once otherwise', async () => {
    // The second step ends when the call after the first has planned: then only that step is in progress.
    const planned = (runId: string) => async () => {
      const answered = await service.redis.hmget(
        `${service.keys.of(runId).prefix}:run:production:${runId}`,
        'answered_at',
        'planning:1',
      );
      return answered[0] === '1' && answered[1] === null;
    };
    host.on('f', async ({ stepId, body }) => {
      if (stepId !== 'step') {
        const step = Number.parseInt(stepId as string, 16);
        if (step === 2)
          await until(planned(body.ctx.run_id), { describe: 'the call after the first step has planned' });
        return { status: 206, body: [op('StepRun', step, { data: 0 })] };
      }
      const done = Object.keys(body.steps).length;
      if (done === 2) return { body: 'done' };
      const race = { opts: { parallelMode: 'race' } };
      return { status: 206, body: [op('StepPlanned', 1, race), op('StepPlanned', 2, race)] };
    });
    await host.register(service, [{ id: 'f', triggers: [{ event: 'plan/x' }] }], { appName: 'plan' });
    await ended(await send({ name: 'plan/x', data: {} }));
    const general = host.calls('f').filter(({ stepId }) => stepId === 'step');
    for (const { body } of general) {
      const done = Object.keys(body.steps).length;
      expect(body.ctx.disable_immediate_execution, `${done} done`).to.equal(done === 1);
    }
    expect(host.calls('f').filter(({ stepId }) => stepId !== 'step').length).to.equal(2);
  });

  it('the first memo of a step wins', async () => {
    const release = Promise.withResolvers<void>();
    host.on('f', async ({ stepId, body }) => {
      if (stepId !== 'step')
        return { status: 206, body: [op('StepRun', 1, { data: 'first' }), op('StepRun', 1, { data: 'second' })] };
      if (Object.keys(body.steps).length === 0)
        return { status: 206, body: [op('StepPlanned', 1), op('StepPlanned', 1)] };
      release.resolve();
      return { body: body.steps[op('', 1).id].data };
    });
    await host.register(service, [{ id: 'f', triggers: [{ event: 'memo/x' }] }], { appName: 'memo' });
    expect((await ended(await send({ name: 'memo/x', data: {} }))).output).to.equal('first');
    await release.promise;
  });

  it('a repeated result of a step causes no further call', async () => {
    host.on('parent', ({ body }) => {
      const isFirst = Object.keys(body.steps).length === 0;
      const child = { opts: { function_id: 'twice-child' } };
      return { status: 206, body: [isFirst ? op('InvokeFunction', 1, child) : op('Sleep', 2, { name: '1h' })] };
    });
    host.on('child', () => ({ body: 'done' }));
    const functions = ['parent', 'child'].map((id) => ({ id, triggers: [{ event: `twice/${id}` }] }));
    await host.register(service, functions, { appName: 'twice' });
    const eventId = await send({ name: 'twice/parent', data: {} });
    const { body } = await service.waitFor(`/v1/events/${eventId}/runs`, ({ body }) => body.data?.length === 1);
    const parentId = body.data[0].run_id as string;
    const { prefix } = service.keys.of(parentId);
    const pending = `${prefix}:run:production:${parentId}:pending`;
    await until(() => service.redis.hexists(pending, op('', 2).id), { describe: 'the run sleeps' });
    const runKey = `${prefix}:run:production:${parentId}`;
    await until(async () => (await service.redis.hget(runKey, 'answered_at')) === '1', { describe: 'it is answered' });

    // As if a worker had died after it notified the invoker and before it recorded that.
    const [child] = (await service.get('/v1/runs?function_id=twice-child')).body.data;
    const jobKey = (id: string) => `${service.keys.of(id).prefix}:queue:runs:${id}`;
    const connection = service.redis.duplicate();
    const queue = new Queue('runs', { connection, prefix: `${prefix}:queue` });
    try {
      await until(async () => (await service.redis.exists(jobKey(child.run_id))) === 0, { describe: 'it has told' });
      const ref = { env: 'production', runId: child.run_id, eventId: child.event_id, requestId: 'R' };
      const data = { ...ref, functionId: 'twice-child', kind: 'call', at: 0 };
      await queue.add('twice-child', data, { jobId: child.run_id });
      await until(async () => (await service.redis.exists(jobKey(child.run_id))) === 0, {
        describe: 'it has told again',
      });
    } finally {
      await queue.close();
      connection.disconnect();
    }
    expect(await service.redis.exists(jobKey(`${parentId}-1`))).to.equal(0);
    expect(host.calls('parent').length).to.equal(2);
  });

  it('a run with more than 1,000 steps fails with a clear error', async () => {
    const PER_CALL = process.env.TEST_ALL ? 1 : 50;
    host.on('f', ({ body: { ctx } }) => ({
      status: 206,
      body: Array.from({ length: PER_CALL }, (_, i) => op('StepRun', ctx.stack.current + i, { data: 1 })),
    }));
    await host.register(service, [{ id: 'f', triggers: [{ event: 'many/x' }] }], { appName: 'many' });
    const id = await send({ name: 'many/x', data: {} });
    await service.waitFor(`/v1/events/${id}/runs`, ({ body }) => body.data?.[0]?.ended_at, 110_000);
    const run = await ended(id);
    expect(run.status).to.equal('Failed');
    expect(run.error).to.include({ name: 'TooManySteps' });
    expect(run.error.message).to.include('1000 steps');
    expect(host.calls('f').length, 'not before').to.be.at.least(1_000 / PER_CALL);
  });

  it('a run whose steps exceed 32 MiB fails with a clear error', async () => {
    const large = 'x'.repeat(4 * 1_024 * 1_024 - 100);
    host.on('f', ({ body }) => ({ status: 206, body: [op('StepRun', body.ctx.stack.current, { data: large })] }));
    await host.register(service, [{ id: 'f', triggers: [{ event: 'heavy/x' }] }], { appName: 'heavy' });
    const run = await ended(await send({ name: 'heavy/x', data: {} }));
    expect(run.error).to.include({ name: 'StateTooLarge' });
    expect(run.error.message).to.include('33554432 bytes');
  });

  it('an invalid operation fails the run with the reason', async () => {
    for (const [bad, name] of [
      [op('Sleep', 1, { name: 'a while' }), 'InvalidSleep'],
      [op('WaitForEvent', 1, { name: 'x/y', opts: { timeout: 'soon' } }), 'InvalidTimeout'],
      [op('WaitForEvent', 1, { name: 'x/y', opts: { timeout: '1h', if: 'async.data.x ==' } }), 'InvalidExpression'],
    ] as const) {
      const appName = `bad-${name}`;
      host.on(name, () => ({ status: 206, body: [bad] }));
      await host.register(service, [{ id: name, triggers: [{ event: `bad/${name}` }] }], { appName });
      const run = await ended(await send({ name: `bad/${name}`, data: {} }));
      expect([run.status, run.error.name, run.attempt]).to.deep.equal(['Failed', name, 0]);
    }
  });

  it('a call is retried when the app no longer has the step, or returns no operation', async () => {
    const answers = [
      { status: 206, body: [op('StepNotFound', 1)] },
      { status: 206, body: [{ id: 'x' }] },
      { status: 206, body: [] },
      { body: 'found' },
    ];
    host.on('f', ({ number }) => answers[number] ?? {});
    await host.register(service, [{ id: 'f', triggers: [{ event: 'lost/x' }] }], { appName: 'lost' });
    const run = await ended(await send({ name: 'lost/x', data: {} }));
    expect([run.status, run.output, run.attempt]).to.deep.equal(['Completed', 'found', 3]);
    expect(run.history.map((entry: Loose) => entry.error?.name ?? null).slice(0, 1)).to.deep.equal([null]);
  });

  it('a registration does not disturb the app’s runs in flight', async () => {
    const release = Promise.withResolvers<object>();
    host.on('f', ({ number }) =>
      number === 0 ? { status: 206, body: [op('Sleep', 1, { name: '500ms' })] } : release.promise,
    );
    const functions = [{ id: 'f', triggers: [{ event: 'again/x' }] }];
    await host.register(service, functions, { appName: 'again' });
    const id = await send({ name: 'again/x', data: {} });
    await host.nextCall('f');
    await host.register(service, [{ id: 'other', triggers: [{ event: 'again/other' }] }], { appName: 'again' });
    await host.nextCall('f');
    await host.register(service, functions, { appName: 'again' });
    release.resolve({ body: 'undisturbed' });
    const run = await ended(id);
    expect([run.status, run.output]).to.deep.equal(['Completed', 'undisturbed']);
    expect(host.calls('f').length).to.equal(2);
  });

  it('an ended run cannot be cancelled, and a cancelled run stays cancelled when the response of its call arrives', async () => {
    const release = Promise.withResolvers<object>();
    host.on('f', () => release.promise);
    await host.register(service, [{ id: 'f', triggers: [{ event: 'cancel/x' }] }], { appName: 'cancel' });
    const id = await send({ name: 'cancel/x', data: {} });
    const call = await host.nextCall('f');
    const path = `/v1/runs/${call.body.ctx.run_id}`;
    expect((await service.request('DELETE', path)).body.data.status).to.equal('Cancelled');
    release.resolve({ body: 'too late' });
    expect((await service.request('DELETE', path)).status).to.equal(200);
    host.on('f', () => ({ body: 'done' }));
    const other = await ended(await send({ name: 'cancel/x', data: {} }));
    const refused = await service.request('DELETE', `/v1/runs/${other.run_id}`);
    expect([refused.status, refused.body.code]).to.deep.equal([409, 'run_ended']);
    expect((await ended(id)).output).to.equal(null);
    expect((await service.request('DELETE', '/v1/runs/nope')).status).to.equal(404);
  });

  it('a late response leaves nothing permanent for a run that was cancelled during the call', async () => {
    for (const [late, answer] of Object.entries({
      failed: { status: 500, body: { name: 'Late', message: 'too late' } },
      progress: { status: 206, body: [op('StepRun', 1, { data: 1 })] },
    })) {
      const release = Promise.withResolvers<object>();
      host.on(late, () => release.promise);
      await host.register(service, [{ id: late, triggers: [{ event: `late/${late}` }] }], { appName: `late-${late}` });
      await send({ name: `late/${late}`, data: {} });
      const call = await host.nextCall(late);
      const runId = call.body.ctx.run_id as string;
      await service.request('DELETE', `/v1/runs/${runId}`);
      release.resolve(answer);
      const jobKey = `${service.keys.of(runId).prefix}:queue:runs:${runId}`;
      // Completed jobs are not kept.
      await until(async () => (await service.redis.exists(jobKey)) === 0, { describe: 'its job is done' });
      const history = `${service.keys.of(runId).prefix}:run:production:${runId}:history`;
      expect(await service.redis.llen(history), late).to.be.greaterThan(0);
      expect(await service.redis.pttl(history), late).to.be.greaterThan(0);
      const run = (await service.get(`/v1/runs/${runId}`)).body.data;
      expect([run.status, run.error, run.output], late).to.deep.equal(['Cancelled', null, null]);
    }
  });

  it('a late response does not restore a run of a deleted environment', async () => {
    for (const [gone, answer] of Object.entries({
      ended: { body: 'done' },
      failed: { status: 500, body: { name: 'Late', message: 'too late' } },
      progress: {
        status: 206,
        body: [op('StepRun', 1, { data: 1 }), op('Sleep', 2, { opts: { duration: '1h' } }), op('StepPlanned', 3, {})],
      },
    })) {
      const release = Promise.withResolvers<object>();
      host.on(gone, () => release.promise);
      await host.register(service, [{ id: gone, triggers: [{ event: `gone/${gone}` }], retries: 0 }], {
        appName: `gone-${gone}`,
      });
      await send({ name: `gone/${gone}`, data: {} });
      const call = await host.nextCall(gone);
      const runId = call.body.ctx.run_id as string;
      const ofRun = () => findKeys(service.redis, service.prefix, new RegExp(`^:run:.*${runId}`));
      for (const key of await ofRun()) await service.redis.del(key);
      release.resolve(answer);
      const active = `${service.keys.of(runId).prefix}:queue:runs:active`;
      await until(async () => (await service.redis.llen(active)) === 0, { describe: 'its job is done' });
      expect(await ofRun(), gone).to.deep.equal([]);
    }
  });

  it('runs leave only keys that expire', async () => {
    host.on('f', ({ number }) =>
      number === 0 ? { status: 206, body: [op('StepRun', 1, { data: 1 })] } : { body: 'done' },
    );
    await host.register(service, [{ id: 'f', triggers: [{ event: 'expire/x' }], cancel: [{ event: 'expire/c' }] }], {
      appName: 'expire',
    });
    const run = await ended(await send({ name: 'expire/x', data: {} }));
    const keys = await findKeys(service.redis, service.prefix, new RegExp(run.run_id));
    const own = keys.filter((key) => !key.includes(':queue:'));
    expect(own.length).to.be.greaterThan(0);
    for (const key of own) expect(await service.redis.pttl(key), key).to.be.greaterThan(0);
    expect(
      await service.redis.zscore(`${service.keys.of(run.run_id).prefix}:active-runs`, `production/${run.run_id}`),
    ).to.equal(null);
    await until(
      async () =>
        (await service.redis.exists(
          `${service.keys.homesOf('production', 'expire/c')[0].prefix}:waits:production:expire/c`,
        )) === 0,
      {
        describe: 'nothing waits',
      },
    );
  });
});

function waiting(body: Loose): number {
  return body.data.history.filter((entry: Loose) => entry.status === 'Waiting').length;
}

/** A proxy in front of the service that forwards events, and loses the first answer to those of a step. */
async function losingFirstAnswer(service: Service): Promise<[url: string, close: () => Promise<void>]> {
  const { createServer } = await import('node:http');
  const { buffer } = await import('node:stream/consumers');
  let lost = false;
  const server = createServer(async (request, response) => {
    const body = await buffer(request);
    const headers = new Headers(
      Object.entries(request.headers).filter(([name]) => !['host', 'connection', 'content-length'].includes(name)) as [
        string,
        string,
      ][],
    );
    const answer = await fetch(service.url + request.url, {
      method: request.method as string,
      headers,
      ...(body.length > 0 && { body: new Uint8Array(body) }),
    });
    const text = await answer.text();
    if (!lost && request.url?.startsWith('/e/')) {
      lost = true;
      request.socket.destroy();
      return;
    }
    response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? 'text/plain' }).end(text);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  return [
    `http://127.0.0.1:${port}`,
    async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  ];
}
