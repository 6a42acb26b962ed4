import { expect } from 'chai';
import { type AppHost, startAppHost } from './support/app-host.ts';
import { type Service, startService } from './support/service.ts';
import { until } from './support/until.ts';

describe('Bull Board', () => {
  let service: Service;
  let host: AppHost;
  before(async () => {
    service = await startService();
    host = await startAppHost();
  });
  after(async () => {
    await service.stop();
    await host.close();
  });

  interface Board {
    queues: { name: string; counts: Record<string, number>; jobs: BoardJob[] }[];
  }
  interface BoardJob {
    id: string;
    name: string;
    failedReason: string;
    delay: number;
    opts: { attempts: number };
  }
  const queues = async (query = '') => ((await service.get(`/queues/api/queues${query}`)).body as Board).queues;

  it('is a page at /queues', async () => {
    const page = await fetch(`${service.url}/queues`);
    expect(page.status).to.equal(200);
    expect(await page.text()).to.include('Tidegate queues');
  });

  it('shows both queues', async () => {
    expect((await queues()).map(({ name }) => name)).to.deep.equal(['ingest', 'runs']);
  });

  it('shows a failed attempt with its error and when it is tried next', async () => {
    host.on('f', () => ({ status: 500, body: { name: 'Busy', message: 'not yet' } }));
    await host.register(service, [{ id: 'f', triggers: [{ event: 'board/x' }], retries: 2 }], { appName: 'board' });
    const { body } = await service.post('/e/key', { name: 'board/x', data: {} });
    await host.nextCall('f');
    const job = await until(
      async () =>
        (await queues('?activeQueue=runs&status=delayed&page=1'))[1]?.jobs.find(({ name }) => name === 'board-f'),
      { describe: 'the job waits for its next try' },
    );
    const [run] = (await service.get(`/v1/events/${body.ids[0]}/runs`)).body.data;
    expect(job.id).to.equal(run.run_id);
    expect(job.failedReason).to.equal('Busy: not yet');
    expect(job.delay).to.be.within(15_000, 45_000);
    expect(job.opts.attempts).to.equal(3);
  });
});

describe('health', () => {
  it('is told at /livez, /readyz and /health', async () => {
    const service = await startService({ workers: 0 });
    try {
      for (const path of ['/livez', '/readyz', '/health']) {
        const { status, body } = await service.get(path);
        expect([status, body.status], path).to.deep.equal([200, 'ok']);
      }
      expect((await service.get('/health')).body).to.include({ mode: 'dev', redis: 'ok' });
    } finally {
      await service.stop();
    }
  });
});

describe('logs', () => {
  it('carry the request from its receipt to its run, and no payload', async () => {
    const service = await startService({ env: { LOG_LEVEL: 'debug' } });
    const host = await startAppHost();
    try {
      await host.register(service, [{ id: 'f', triggers: [{ event: 'log/x' }] }]);
      const { headers } = await service.post('/e/secret-key', { name: 'log/x', data: { card: '4242-4242' } });
      const requestId = headers.get('x-request-id') as string;
      const lines = () =>
        service
          .output()
          .split('\n')
          .filter((line) => line.includes(requestId));
      await until(() => lines().some((line) => line.includes('test-app-f')), { describe: 'the run is logged' });
      expect(lines().some((line) => line.includes('"role":"web"'))).to.equal(true);
      expect(service.output()).not.to.include('4242-4242');
      expect(service.output()).not.to.include('secret-key');
    } finally {
      await service.stop();
      await host.close();
    }
  });
});
