/** What each rule of alerts measures: the condition is made and mended in a real service. */
import { expect } from 'chai';
import { Telemetry } from '../../src/jobs/telemetry/telemetry.ts';
import { IssueNotifier } from '../../src/jobs/webhooks/issue-notifier.ts';
import { checkSilence } from '../../src/jobs/webhooks/silence-check.ts';
import { createLog } from '../../src/log.ts';
import { NOOP_RECORDER } from '../../src/metrics/recorder.ts';
import { newId } from '../../src/model/ids.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../src/model/values/time.ts';
import { type AppHost, startAppHost } from '../support/app-host.ts';
import { FAKE_KEY, startFakeSentLists, stripeItem } from '../support/fake-sent-lists.ts';
import { startOwnRedis } from '../support/own-redis.ts';
import { PostgresProxy } from '../support/postgres-proxy.ts';
import { type Service, startService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { type WatchedService, watch } from '../support/watched-service.ts';

const FAILURE = { status: 400, headers: { 'x-service-no-retry': 'true' }, body: { name: 'Refused', message: 'no' } };
const WAITS = {
  status: 206,
  body: [{ op: 'WaitForEvent', id: 'a'.repeat(40), displayName: 'go', opts: { event: 'go', timeout: '1h' } }],
};

/** Options of functions, by their IDs. */
const FUNCTIONS = {
  refuse: {},
  pause: { onExhausted: 'pause' },
  limit: { concurrency: [{ limit: 1 }] },
  lane: { order: { key: 'event.data.key', by: 'event.data.at', onFailure: 'park' } },
};

describe('Rules of alerts about functions', () => {
  let service: Service;
  let host: AppHost;
  let watched: WatchedService;
  before(async () => {
    service = await startService({ dev: false });
    host = await startAppHost();
    watched = await watch(service);
    for (const [appName, options] of Object.entries(FUNCTIONS)) {
      const spec = { id: appName, triggers: [{ event: `${appName}/x` }], retries: 0, ...options };
      const { status, body } = await host.register(service, [spec], { appName });
      expect(status, JSON.stringify(body)).to.equal(200);
    }
  });
  after(async () => {
    await watched.close();
    await service.stop();
    await host.close();
  });

  const call = async (method: string, path: string, body?: object) => {
    const response = await service.request(method, path, body, service.apiHeaders);
    expect(response.status, JSON.stringify(response.body)).to.be.below(300);
    return response.body?.data;
  };
  const send = (name: string, ...data: object[]) =>
    service.post(
      service.eventPath,
      data.map((item) => ({ name, data: item })),
    );
  it('function_failing and new_error open when runs fail, and resolve when they are old, or the error is resolved', async () => {
    host.on('refuse', () => FAILURE);
    await send('refuse/x', ...Array(10).fill({}));
    const alert = await watched.opens('function_failing');
    expect(alert).to.include({
      subject: 'refuse-refuse',
      value: 100,
      path: '/runs?status=Failed&function=refuse-refuse',
    });
    const error = await watched.opens('new_error');
    expect(error).to.include({ subject_name: 'Refused: no', value: 10 });
    await watched.resolves('function_failing', 1_200);
    await call('POST', `/v1/errors/${error.subject}/resolve`);
    await watched.resolves('new_error');
  });

  it('runs_paused opens while a run waits for a person, and resolves when it is resumed', async () => {
    let isMended = false;
    host.on('pause', () => (isMended ? { body: 'mended' } : { status: 500, body: FAILURE.body }));
    await send('pause/x', {});
    expect(await watched.opens('runs_paused')).to.include({ value: 1, path: '/runs?status=paused' });
    isMended = true;
    const [run] = (await service.get('/v1/runs?function_id=pause-pause')).body.data;
    await call('POST', `/v1/runs/${run.run_id}/resume`, {});
    await watched.resolves('runs_paused');
  });

  it('version_draining is off until somebody switches it on, opens while runs end on an old version, and resolves when it is drained', async () => {
    host.on('drain', () => WAITS);
    const deploy = (appVersion: string) =>
      service.post(
        '/fn/register',
        {
          ...host.registration([{ id: 'drain', triggers: [{ event: 'drain/x' }], versioning: 'pinned' }], {
            appName: 'drain',
          }),
          appVersion,
        },
        { ...service.appHeaders, 'x-service-sdk': 'test:v1.0.0' },
      );
    expect((await deploy('v1')).status).to.equal(200);
    await send('drain/x', {});
    const isWaiting = async () =>
      (await service.get('/v1/runs?function_id=drain-drain')).body.data[0]?.state?.kind === 'waiting_for_event';
    await until(isWaiting, { describe: 'the run waits' });
    expect((await deploy('v2')).status).to.equal(200);
    await call('PATCH', '/v1/alert-rules/version_draining', { on: true });
    expect(await watched.opens('version_draining')).to.include({ subject: 'drain v1', path: '/apps/drain' });
    const [run] = (await service.get('/v1/runs?function_id=drain-drain')).body.data;
    await call('DELETE', `/v1/runs/${run.run_id}`);
    await watched.resolves('version_draining');
  });

  it('limit_holds opens when a call has waited for a limit for long, and resolves when it is called', async () => {
    const held = Promise.withResolvers<void>();
    host.on('limit', async () => {
      await held.promise;
      return {};
    });
    await send('limit/x', {}, {});
    const alert = await watched.opens('limit_holds', 3_600);
    expect(alert).to.include({ subject: 'limit-limit', path: '/functions/limit-limit' });
    expect(alert.value).to.be.within(3_600, 3_800);
    held.resolve();
    await watched.resolves('limit_holds', 3_600);
  });

  it('lane_stopped opens when a failed run has stopped its lane for minutes, and resolves when a person skips it', async () => {
    host.on('lane', () => FAILURE);
    await send('lane/x', { key: 'a', at: 1 });
    expect(await watched.opens('lane_stopped', 300)).to.include({ subject: 'lane-lane', path: '/functions/lane-lane' });
    const [lane] = (await service.get('/v1/functions/lane-lane/lanes?stopped=true')).body.data;
    await call('POST', `/v1/functions/lane-lane/lanes/${lane.id}/skip`, {});
    await watched.resolves('lane_stopped', 300);
  });
});

describe('Rules of alerts about webhooks', () => {
  let service: Service;
  let watched: WatchedService;
  before(async () => {
    service = await startService();
    watched = await watch(service);
  });
  after(async () => {
    await watched.close();
    await service.stop();
  });

  async function create(fields: object): Promise<{ id: string; url: string }> {
    const { status, body } = await service.post('/v1/webhooks', { name: 'Orders', ...fields });
    expect(status, JSON.stringify(body)).to.equal(201);
    return body.data;
  }
  const deliver = (url: string) => service.post(new URL(url).pathname, {});

  it('webhook_failing opens with an issue, and resolves when somebody resolves that', async () => {
    const { id, url } = await create({ transform: 'function transform() { throw new Error("no"); }' });
    await deliver(url);
    const alert = await watched.opens('webhook_failing');
    expect(alert).to.include({ subject_name: 'Orders', path: `/webhooks/${id}?tab=issues` });
    expect(alert.detail).to.match(/^1 × transform: .*no/);
    expect((await service.post(`/v1/webhook-issues/${alert.subject}/resolve`)).status).to.equal(200);
    await watched.resolves('webhook_failing');
  });

  it('webhook_silent opens when the requests of a webhook stop, and resolves when one comes again', async () => {
    const { store } = watched;
    const now = Date.now();
    const [id, key] = [newId(), `key-${newId()}`];
    const transform = 'const transform = (evt) => ({ name: "a/b", data: evt })';
    const times = { createdAt: now - 9 * DAY_MS, updatedAt: now - 9 * DAY_MS };
    await store.webhooks.create({
      id,
      key,
      env: 'production',
      name: 'Quiet',
      transform,
      version: 1,
      ...times,
    } as never);
    for (let at = now - 8 * DAY_MS; at < now - MINUTE_MS; at += HOUR_MS / 4) {
      const counts = { requests: 1, accepted: 1, rejected: 0, filtered: 0, unverified: 0 };
      const times = { hour: Math.floor(at / HOUR_MS), firstAt: at, lastAt: at, longestGapMs: 0 };
      await store.webhookTraffic.add([{ webhookId: id, ...times, ...counts }]);
    }
    const telemetry = new Telemetry({ ...store, recorder: NOOP_RECORDER });
    const acceptor = { acceptWithId: async (_: unknown, eventId: string) => eventId };
    const issueNotifier = new IssueNotifier({ ...store, acceptor, publicUrl: undefined });
    const deps = { ...store, telemetry, issueNotifier, log: createLog('silent', 'test') };
    const lookAt = (nowMs: number) => checkSilence(deps, nowMs, new Map() as never);
    for (let minutes = 0; minutes <= 240; minutes += 4) await lookAt(now + minutes * MINUTE_MS);
    const alert = await watched.opens('webhook_silent', 5 * 3_600);
    expect(alert).to.include({ subject_name: 'Quiet', path: `/webhooks/${id}?tab=issues` });
    expect(alert.detail).to.match(/^no request since /);
    const again = now + 5 * HOUR_MS;
    const counts = { requests: 1, accepted: 1, rejected: 0, filtered: 0, unverified: 0 };
    const seen = { hour: Math.floor(again / HOUR_MS), firstAt: again, lastAt: again, longestGapMs: 0 };
    await store.webhookTraffic.add([{ webhookId: id, ...seen, ...counts }]);
    await lookAt(again + MINUTE_MS);
    await watched.resolves('webhook_silent', 5 * 3_600);
  });

  it('webhook_incomplete opens while requests of the provider are missing, and resolves when they are recovered', async () => {
    const fake = await startFakeSentLists();
    try {
      const { id } = await create({
        ...{ name: 'Stripe', provider: 'stripe', secrets: ['whsec_c2VjcmV0'] },
        transform: 'function transform() { throw new Error("not yet"); }',
        reconciliation: { key: FAKE_KEY, account: { endpoint: 'we_1Fake' }, api_url: fake.url },
      });
      fake.sent = [stripeItem(1, Date.now() - 2 * MINUTE_MS)];
      const since = new Date(Date.now() - HOUR_MS).toISOString();
      const reconcile = async () =>
        expect((await service.post(`/v1/webhooks/${id}/reconcile`, { since })).status).to.equal(202);
      await reconcile();
      const alert = await watched.opens('webhook_incomplete');
      expect(alert).to.include({ subject_name: 'Stripe', value: 1, path: `/webhooks/${id}?tab=requests` });
      const transform = 'function transform() { return { name: "sent/mended", data: {} }; }';
      expect((await service.request('PATCH', `/v1/webhooks/${id}`, { transform })).status).to.equal(200);
      await service.waitFor(`/v1/webhooks/${id}/completeness`, ({ body: { data } }) => !data.is_running);
      await reconcile();
      await watched.resolves('webhook_incomplete');
    } finally {
      await fake.close();
    }
  });

  it('held_events opens while an event waits for its environment, and resolves when it is assigned', async () => {
    const transform = 'const transform = (evt) => ({ name: "a/b", data: evt })';
    const { url } = await create({ name: 'Branches', environment: 'branches', transform });
    await deliver(url);
    expect(await watched.opens('held_events')).to.include({ value: 1, path: '/held-events' });
    const assigned = await service.post('/v1/holding/assign', { environment: 'production' });
    expect(assigned.status, JSON.stringify(assigned.body)).to.equal(200);
    await watched.resolves('held_events');
  });
});

describe('Rules of alerts about the installation', () => {
  it('no_worker and backlog_old open while no worker runs, and resolve when one does', async () => {
    const service = await startService({ workers: 0 });
    const watched = await watch(service);
    try {
      await service.post(service.eventPath, { name: 'a/b', data: {} });
      expect(await watched.opens('no_worker')).to.include({ severity: 'critical', value: 1 });
      const alert = await watched.opens('backlog_old', 60);
      expect(alert).to.include({ subject: 'ingest', severity: 'critical' });
      expect(alert.detail).to.match(/^the oldest of 1 jobs has waited for /);
      await service.startWorker();
      await watched.resolves('no_worker');
      await watched.resolves('backlog_old', 60);
    } finally {
      await watched.close();
      await service.stop();
    }
  });

  it('redis_memory opens when Redis is nearly full, and resolves when it has room', async () => {
    const redis = await startOwnRedis();
    const service = await startService({ workers: 0, env: { REDIS_URL: redis.url } });
    const watched = await watch(service);
    try {
      const limit = (bytes: number) => service.redis.config('SET', 'maxmemory', bytes);
      const used = Number(/used_memory:(\d+)/.exec(await service.redis.info('memory'))?.[1]);
      // With room for the service itself, so that Redis rejects nothing.
      await service.request('PATCH', '/v1/alert-rules/redis_memory', { threshold: 20 });
      await limit(used * 4);
      expect(await watched.opens('redis_memory')).to.include({
        severity: 'critical',
        threshold: 20,
        path: '/settings',
      });
      await limit(used * 40);
      await watched.resolves('redis_memory');
    } finally {
      await watched.close();
      await service.stop();
      await redis.remove();
    }
  });

  it('archive_lag opens when events have waited for Postgres, and resolves when they are archived', async () => {
    const proxy = await PostgresProxy.start();
    const hotHours = 0.001;
    const env = { DATABASE_URL: proxy.url, HOT_HOURS: String(hotHours) };
    const service = await startService({ archive: true, env });
    const watched = await watch(service, hotHours * HOUR_MS);
    try {
      await service.waitFor('/v1/overview', ({ body }) => body.data.archive.state === 'ok');
      proxy.leave();
      await service.waitFor('/v1/overview', ({ body }) => body.data.archive.state === 'unavailable');
      await service.post(service.eventPath, { name: 'a/b', data: {} });
      const alert = await watched.opens('archive_lag', 1_800);
      expect(alert.detail).to.match(/^events have waited for Postgres for \d+ min/);
      proxy.comeBack();
      await watched.resolves('archive_lag', 1_800);
    } finally {
      await watched.close();
      await service.stop();
      await proxy.stop();
    }
  });
});
