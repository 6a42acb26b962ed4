import { expect } from 'chai';
import { Redis } from 'ioredis';
import { type AppHost, startAppHost } from '../support/app-host.ts';
import { startOwnRedis } from '../support/own-redis.ts';
import { startService } from '../support/service.ts';
import { until } from '../support/until.ts';

/** Another worker takes over a dead worker's jobs after this time. */
const SOON = { STALLED_AFTER_SECONDS: '1' };

describe('The death of a process', () => {
  let host: AppHost;
  beforeEach(async () => {
    host = await startAppHost();
  });
  afterEach(() => host.close());

  it('a worker that is killed during a batch loses no run and repeats no completed one', async () => {
    const service = await startService({ processes: 'worker', env: { ...SOON, RUN_CONCURRENCY: '20' } });
    try {
      const EVENTS = 1_000;
      const done = new Set<string>();
      const repeated: string[] = [];
      host.on('f', async ({ body }) => {
        const runId = body.ctx.run_id as string;
        if (done.has(runId)) repeated.push(runId);
        await new Promise((resolve) => setImmediate(resolve));
        return { body: runId };
      });
      await host.register(service, [{ id: 'f', triggers: [{ event: 'crash/x' }] }]);
      const ids: string[] = [];
      for (let n = 0; n < EVENTS; n += 100) {
        const events = Array.from({ length: 100 }, (_, i) => ({
          id: `crash-${n + i}`,
          name: 'crash/x',
          data: { n: n + i },
        }));
        ids.push(...(await service.post('/e/key', events)).body.ids);
      }
      await until(() => host.calls('f').length > 0, {
        describe: 'the first run is on its way, and most events are not ingested',
      });
      await service.killWorker();
      const calledBefore = host.calls('f').map(({ body }) => body.ctx.run_id as string);
      for (const runId of calledBefore) {
        const run = (await service.get(`/v1/runs/${runId}`)).body.data;
        if (run.status === 'Completed') done.add(runId);
      }
      await service.startWorker();

      for (const id of ids) {
        await service.waitFor(
          `/v1/events/${id}/runs`,
          ({ body }) => body.data?.length === 1 && body.data[0].status === 'Completed',
        );
      }
      expect(repeated).to.deep.equal([]);
      const calls = host.calls('f').map(({ body }) => body.ctx.run_id as string);
      expect(new Set(calls).size).to.equal(EVENTS);
      // Only calls in flight at the kill may be repeated, once each.
      expect(calls.length - EVENTS).to.be.at.most(20);
      expect(
        (await service.get('/v1/events?name=crash/x&limit=100')).body.data.every(
          (e: { duplicates: number }) => e.duplicates === 0,
        ),
      ).to.equal(true);
    } finally {
      await service.stop();
    }
  });

  it('events are found by ID once they are acknowledged, and the next worker ingests them after the web process died', async () => {
    const service = await startService({ processes: 'web', workers: 0 });
    try {
      await host.register(service, [{ id: 'f', triggers: [{ event: 'later/x' }] }]);
      const { status, body } = await service.post('/e/key', { name: 'later/x', data: {} });
      expect(status).to.equal(200);
      const path = `/v1/events/${body.ids[0]}`;
      const found = await service.get(path);
      expect([found.status, found.body.data?.name]).to.deep.equal([200, 'later/x']);
      expect((await service.get(`${path}/runs`)).body.data).to.deep.equal([]);
      expect((await service.get(`${path}/decisions`)).body.data[0].outcome).to.equal('pending');
      expect((await service.get(`${path}/arrival`)).status).to.equal(200);
      await service.killWeb();
      await service.startWorker();
      const call = await host.nextCall('f');
      expect(call.body.event.id).to.equal(body.ids[0]);
    } finally {
      await service.stop();
    }
  });
});

describe('An outage of Redis', () => {
  it('senders get 503 at once while Redis is away, and 200 when it is back', async () => {
    const redis = await startOwnRedis();
    const service = await startService({ env: { REDIS_URL: redis.url } });
    try {
      const send = () => service.post('/e/key', { id: 'r1', name: 'away/x', data: {} });
      const first = await send();
      expect(first.status).to.equal(200);
      redis.pause();
      for (const response of await Promise.all([
        send(),
        service.post('/e/key', { name: 'away/y', data: {} }),
        service.get('/v1/events'),
      ])) {
        expect([response.status, response.body.code]).to.deep.equal([503, 'unavailable']);
        expect(response.headers.get('retry-after')).to.match(/^\d+$/);
      }
      expect((await service.get('/readyz')).status).to.equal(503);
      expect((await service.get('/livez')).status).to.equal(200);
      redis.resume();
      const again = await until(
        async () => {
          const response = await send();
          return response.status === 200 ? response : undefined;
        },
        { describe: 'it takes events again' },
      );
      expect(again.body.ids).to.deep.equal(first.body.ids);

      await redis.stop();
      const refused = await send();
      expect([refused.status, refused.body.code]).to.deep.equal([503, 'unavailable']);
      await redis.start();
      await until(async () => (await send()).status === 200, { describe: 'it takes events again' });
      await service.stored(first.body.ids[0]);
    } finally {
      await service.stop();
      await redis.remove();
    }
  });

  it('senders get 503 while Redis is full, and no event is accepted partially', async () => {
    const redis = await startOwnRedis();
    const service = await startService({
      workers: 0,
      env: { REDIS_URL: redis.url, REDIS_MEMORY_LIMIT_PERCENT: '0' },
    });
    const admin = new Redis(redis.url);
    try {
      const send = () => service.post('/e/key', { id: 'full', name: 'full/x', data: {} });
      await admin.config('SET', 'maxmemory', '1');
      const refused = await send();
      expect([refused.status, refused.body.code]).to.deep.equal([503, 'unavailable']);
      expect(refused.headers.get('retry-after')).to.match(/^\d+$/);
      await admin.config('SET', 'maxmemory', '0');
      expect((await send()).status).to.equal(200);
    } finally {
      admin.disconnect();
      await service.stop();
      await redis.remove();
    }
  });

  it('a web process starts without Redis, responds with 503, and accepts events as soon as Redis is there', async () => {
    const redis = await startOwnRedis();
    await redis.stop();
    const service = await startService({ workers: 0, env: { REDIS_URL: redis.url } });
    try {
      const send = () => service.post('/e/key', { name: 'early/x', data: {} });
      expect((await send()).status).to.equal(503);
      await redis.start();
      await until(async () => (await send()).status === 200, { describe: 'it takes events' });
    } finally {
      await service.stop();
      await redis.remove();
    }
  });
});
