import { expect } from 'chai';
import { type AppHost, startAppHost } from '../support/app-host.ts';
import { keysOf } from '../support/redis.ts';
import { type Service, startService } from '../support/service.ts';

const COUNTERS = ['events', 'duplicates', 'runs_started', 'runs_completed', 'runs_failed', 'runs_cancelled'] as const;
const HOUR_MS = 3_600_000;

describe('metrics of the REST API', () => {
  let service: Service;
  let host: AppHost;
  beforeEach(async () => {
    service = await startService({ env: { RETRY_SCALE: '0.0005' } });
    host = await startAppHost();
  });
  afterEach(async () => {
    await service.stop();
    await host.close();
  });

  // biome-ignore lint/suspicious/noExplicitAny: tests say what they expect of it
  const sums = ({ points }: any) =>
    Object.fromEntries(
      COUNTERS.map((name) => [
        name,
        points.reduce((sum: number, point: Record<string, number>) => sum + (point[name] as number), 0),
      ]),
    );

  async function counted(expected: Record<string, number>, query = '') {
    const { body } = await service.waitFor(`/v1/metrics${query}`, ({ body }) => {
      const got = sums(body.data);
      return Object.entries(expected).every(([name, count]) => got[name] === count);
    });
    return body.data;
  }

  it('GET /v1/metrics counts events, duplicates and the results of runs', async () => {
    host.on('fails', () => ({ status: 500, body: { name: 'Bad', message: 'no' } }));
    host.on('sleeps', ({ body }) =>
      body.ctx.stack.current === 0
        ? { status: 206, body: [{ id: 'a'.repeat(40), op: 'Sleep', name: '1h', opts: { duration: '1h' } }] }
        : {},
    );
    const functions = ['works', 'fails', 'sleeps'].map((id) => ({ id, triggers: [{ event: `m/${id}` }], retries: 2 }));
    await host.register(service, functions, { appName: 'm' });
    await service.post('/e/key', [
      { name: 'm/works', data: {}, id: 'one' },
      { name: 'm/works', data: {} },
      { name: 'm/fails', data: {} },
      { name: 'm/nobody', data: {} },
    ]);
    await service.post('/e/key', { name: 'm/works', data: {}, id: 'one' });
    const [sleeping] = (await service.post('/e/key', { name: 'm/sleeps', data: {} })).body.ids;
    const { body } = await service.waitFor(
      `/v1/events/${sleeping}/runs`,
      ({ body }) => body.data?.[0]?.status === 'Running',
    );
    await service.request('DELETE', `/v1/runs/${body.data[0].run_id}`);
    // The event of the failed run counts too.
    const data = await counted({
      events: 6,
      duplicates: 1,
      runs_started: 4,
      runs_completed: 2,
      runs_failed: 1,
      runs_cancelled: 1,
    });
    expect(data.step_seconds).to.equal(60);

    const stats = (await service.get('/v1/functions/stats')).body.data;
    for (const { last_started_at: at } of stats) expect(Date.now() - Date.parse(at)).to.be.within(0, 60_000);
    expect(stats.map(({ last_started_at: _, ...counts }: { last_started_at: string }) => counts)).to.deep.equal([
      { function_id: 'm-fails', started: 1, completed: 0, failed: 1, cancelled: 0 },
      { function_id: 'm-sleeps', started: 1, completed: 0, failed: 0, cancelled: 1 },
      { function_id: 'm-works', started: 2, completed: 2, failed: 0, cancelled: 0 },
    ]);
    const [{ hours }] = (await service.get('/v1/functions/stats?fields=hours')).body.data;
    expect(hours.started).to.have.length(25);
    expect(hours.started.reduce((sum: number, count: number) => sum + count)).to.equal(1);
    expect(hours.failed.at(-1) + hours.failed.at(-2)).to.equal(1);
    const { failing_functions } = (await service.get('/v1/overview')).body.data;
    expect(failing_functions).to.deep.equal([
      { function_id: 'm-fails', name: 'fails', completed: 0, failed: 1, cancelled: 0 },
    ]);
  });

  it('GET /v1/metrics measures the latency of responses to senders and of run starts', async () => {
    host.on('f', () => ({}));
    await host.register(service, [{ id: 'f', triggers: [{ event: 'm/x' }] }], { appName: 'm' });
    for (let n = 0; n < 20; n++) await service.post('/e/key', { name: 'm/x', data: {} });
    // Measured from its own ts, not from its receipt.
    await service.post('/e/key', { name: 'm/x', data: {}, ts: Date.now() + 1_000 });
    const data = await counted({ runs_completed: 21 });
    const point = data.points.find(({ ack_ms }: { ack_ms: unknown }) => ack_ms !== null);
    expect(point.ack_ms.p50).to.be.within(0.05, 2_000);
    expect(point.ack_ms.p95).to.be.at.least(point.ack_ms.p50);
    const started = data.points.find(({ start_ms }: { start_ms: unknown }) => start_ms !== null);
    expect(started.start_ms.p50).to.be.within(0.05, 5_000);
  });

  it('GET /v1/metrics chooses the step by the time range and includes empty steps', async () => {
    const to = Date.now();
    for (const [hours, step] of [
      [1, 60],
      [6, 60],
      [24, 300],
      [7 * 24, 3_600],
    ] as const) {
      const { data } = (await service.get(`/v1/metrics?from=${to - hours * HOUR_MS}&to=${to}`)).body;
      expect(data.step_seconds).to.equal(step);
      const times = data.points.map(({ at }: { at: string }) => Date.parse(at));
      expect(times.length).to.be.within((hours * 3_600) / step, (hours * 3_600) / step + 1);
      for (const [i, at] of times.entries()) if (i > 0) expect(at - times[i - 1]).to.equal(step * 1_000);
      expect(data.points[0]).to.include({ events: 0, runs_started: 0, ack_ms: null, start_ms: null });
      expect(Date.parse(data.from)).to.be.at.least(to - hours * HOUR_MS);
      expect(data.to).to.equal(new Date(to).toISOString());
    }
  });

  it('GET /v1/metrics returns the same totals for every step size', async () => {
    await service.post(
      '/e/key',
      [1, 2, 3].map((n) => ({ name: 'm/x', data: { n } })),
    );
    await counted({ events: 3 });
    const from = (hours: number) => `?from=${Date.now() - hours * HOUR_MS}`;
    for (const hours of [6, 24, 100]) await counted({ events: 3 }, from(hours));
  });

  it('GET /v1/metrics returns metrics of one environment', async () => {
    await service.post('/v1/environments', { name: 'b', kind: 'branch' });
    await service.post('/e/key', { name: 'm/x', data: {} });
    await counted({ events: 1 });
    const { data } = (await service.get('/v1/metrics?x-service-env=b')).body;
    expect(sums(data).events).to.equal(0);
  });

  it('GET /v1/metrics rejects a time range that ends before it begins', async () => {
    for (const query of ['?from=2000&to=1000', `?from=${Date.now() + HOUR_MS}`, '?from=yesterday']) {
      const { status, body } = await service.get(`/v1/metrics${query}`);
      expect([status, body.code], query).to.deep.equal([400, 'input_invalid']);
    }
    const old = await service.get('/v1/metrics?from=1000&to=2000');
    expect([old.status, old.body.data.points]).to.deep.equal([200, []]);
  });

  it('metrics expire, and a process that shuts down writes its counts and removes its status', async () => {
    await host.register(service, [{ id: 'f', triggers: [{ event: 'm/x' }] }], { appName: 'm' });
    const [id] = (await service.post('/e/key', { name: 'm/x', data: {} })).body.ids;
    await service.waitFor(`/v1/events/${id}/runs`, ({ body }) => body.data?.[0]?.status === 'Completed');
    for (const process of [...service.webs, ...service.workers]) await process.stop();
    const keys = await keysOf(service.redis, service.prefix);
    expect(keys.filter((key) => /:process(es)?\b/.test(key))).to.deep.equal([]);
    const metrics = keys.filter((key) => /:(function-)?metrics:/.test(key));
    expect(metrics.length).to.equal(3);
    for (const key of metrics) {
      expect(await service.redis.pttl(key), key).to.be.within(7 * 24 * HOUR_MS - 60_000, (7 * 24 + 3) * HOUR_MS);
    }
    const hours = await service.redis.hgetall(metrics.find((key) => key.includes(':3600000:')) as string);
    expect(hours).to.include({ '0e': '1', '0s': '1', '0c': '1' });
    // They have already stopped.
    service.webs.length = 0;
    service.workers.length = 0;
  });
});
