import { expect } from 'chai';
import { type AppHost, startAppHost } from '../support/app-host.ts';
import { type Service, startService } from '../support/service.ts';

describe('overview', () => {
  let service: Service;
  let host: AppHost;
  beforeEach(async () => {
    host = await startAppHost();
  });
  afterEach(async () => {
    await host.close();
    await service.stop();
  });

  const overview = async () => (await service.get('/v1/overview')).body.data;

  it('GET /v1/overview lists live processes and drops a killed process', async () => {
    service = await startService({ processes: true, webs: 1, workers: 2 });
    const { body } = await service.waitFor('/v1/overview', ({ body }) => body.data.processes.length === 3);
    const { processes, workers_alive } = body.data;
    expect(workers_alive).to.equal(2);
    const pids = [...service.webs, ...service.workers].map(({ pid }) => pid);
    expect(processes.map(({ pid }: { pid: number }) => pid)).to.have.members(pids);
    for (const one of processes) {
      expect(one.kind).to.equal(one.pid === pids[0] ? 'web' : 'worker');
      expect(one.memory_bytes).to.be.greaterThan(1_000_000);
      expect(Date.parse(one.seen_at)).to.be.at.least(Date.parse(one.started_at));
    }
    await service.killWorker(0);
    await service.workers[1]?.stop();
    service.workers.length = 1;
    await service.waitFor('/v1/overview', ({ body }) => body.data.workers_alive === 0);
  });

  it('GET /v1/overview shows the jobs in the queues and how long the oldest has waited', async () => {
    service = await startService({ workers: 0 });
    const { queues } = await overview();
    expect(queues).to.deep.equal(
      ['ingest', 'runs', 'timers'].map((name, i) => {
        const processed = { since: queues[i].processed.since, completed: 0, failed: 0 };
        return { name, waiting: 0, active: 0, delayed: 0, failed: 0, processed, oldest_waiting_at: null };
      }),
    );
    const before = Date.now();
    await service.post('/e/key', { name: 'o/x', data: {} });
    const after = Date.now();
    await service.post('/e/key', { name: 'o/x', data: {} });
    const [ingest] = (await overview()).queues;
    expect(ingest).to.include({ waiting: 2, active: 0 });
    expect(Date.parse(ingest.oldest_waiting_at)).to.be.within(before, after);
  });

  it('GET /v1/overview counts the attempts of jobs of each queue in the last minutes', async () => {
    service = await startService({ env: { RETRY_SCALE: '0.001' } });
    let calls = 0;
    host.on('f', () => ({ status: ++calls === 1 ? 500 : 200, body: {} }));
    await host.register(service, [{ id: 'f', triggers: [{ event: 'o/x' }], retries: 1 }]);
    await service.post('/e/key', { name: 'o/x', data: {} });
    await service.post('/e/key', { name: 'o/other', data: {} });
    const processedOf = (body: { data: { queues: { name: string; processed: object }[] } }) =>
      Object.fromEntries(body.data.queues.map(({ name, processed }) => [name, processed])) as Record<
        string,
        { since: string; completed: number; failed: number }
      >;
    const { body } = await service.waitFor('/v1/overview', ({ body }) => {
      const { ingest, runs } = processedOf(body);
      return ingest?.completed === 2 && runs?.completed === 1;
    });
    const { ingest, runs } = processedOf(body);
    expect([ingest?.failed, runs?.failed]).to.deep.equal([0, 1]);
    expect(Date.now() - Date.parse(runs?.since as string)).to.be.within(5 * 60_000, 7 * 60_000);
  });

  it('GET /v1/overview counts the wait of a scheduled event from its own ts', async () => {
    service = await startService({ env: { RUN_CONCURRENCY: '1' } });
    let respond = () => {};
    host.on('f', () => new Promise((resolve) => (respond = () => resolve({}))));
    await host.register(service, [{ id: 'f', triggers: [{ event: 'o/x' }] }]);
    await service.post('/e/key', { name: 'o/x', data: {} });
    await host.nextCall('f');
    const ts = Date.now() + 1_500;
    await service.post('/e/key', { name: 'o/x', data: {}, ts });
    const { body } = await service.waitFor('/v1/overview', ({ body }) => body.data.queues[1].oldest_waiting_at);
    expect(body.data.queues[1].active).to.equal(1);
    expect(Date.parse(body.data.queues[1].oldest_waiting_at)).to.be.within(ts - 100, ts + 1_000);
    respond();
    await host.nextCall('f');
    respond();
  });

  it('GET /v1/overview shows the state of Redis and warnings with a fix', async () => {
    service = await startService({ workers: 0 });
    const { redis } = await overview();
    expect(redis.version).to.match(/^\d+\.\d+/);
    expect(redis.used_memory_bytes).to.be.greaterThan(0);
    expect(redis).to.have.all.keys(
      'version',
      'used_memory_bytes',
      'max_memory_bytes',
      'maxmemory_policy',
      'appendonly',
      'appendfsync',
      'warnings',
      'cluster',
    );
    expect(redis.cluster).to.equal(null);
    expect(redis.appendonly).to.be.a('boolean');
    const aof = redis.warnings.some((warning: string) => warning.startsWith('appendonly is off'));
    expect(aof).to.equal(!redis.appendonly);
  });
});
