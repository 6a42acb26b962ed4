import { appRoutes } from '@bull-board/api/dist/routes.js';
import { expect } from 'chai';
import { BOARD_ACCESS } from '../../src/api/operations/board-access.ts';
import { ACCESS } from '../../src/model/auth/access.ts';
import { type AppHost, startAppHost } from '../support/app-host.ts';
import { type Headers, keyHeaders } from '../support/auth.ts';
import type { HttpResponse } from '../support/http.ts';
import { type Service, startService } from '../support/service.ts';
import { until } from '../support/until.ts';

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

  it('serves its page at /queues', async () => {
    const page = await fetch(`${service.url}/queues`);
    expect(page.status).to.equal(200);
    expect(await page.text()).to.include('Tidegate queues');
  });

  it('shows both queues', async () => {
    expect((await queues()).map(({ name }) => name)).to.deep.equal(['ingest', 'runs', 'timers']);
  });

  it('shows a failed attempt with its error and the time of the next attempt', async () => {
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

describe('Access to Bull Board', () => {
  let service: Service;
  const holders: Record<string, Headers> = {};
  before(async () => {
    service = await startService({ dev: false, workers: 0 });
    for (const access of ACCESS) holders[access] = await keyHeaders(service, access);
    await service.redis.rpush(`${service.prefix}:queue:runs:wait`, 'kept');
    await service.redis.hset(`${service.prefix}:queue:runs:kept`, { name: 'n', data: '{}', opts: '{}', timestamp: 1 });
  });
  after(() => service.stop());

  /** The changing routes of the installed version. */
  const changing = appRoutes.api.flatMap(({ method, route }) =>
    [method].flat().flatMap((verb) => (verb === 'get' ? [] : [`${verb.toUpperCase()} ${route}`])),
  );
  const ask = (name: string, headers: Headers, job = 'nope') => {
    const [method, route] = name.split(' ') as [string, string];
    const path = route
      .replace(':queueName', 'runs')
      .replace(':jobId', job)
      .replace(':queueStatus', 'failed')
      .replace(/:\w+/, 'nope');
    return service.request(method, `/queues${path}`, {}, headers);
  };

  it('has a rule for every changing route of the installed version, and for no other', () => {
    expect(Object.keys(BOARD_ACCESS).sort()).to.deep.equal(changing.sort());
  });

  it('rejects every change by readers', async () => {
    for (const name of changing) expect((await ask(name, holders.read as Headers)).status, name).to.equal(403);
  });

  it('lets members make harmless changes and admins destructive ones, and nobody forge events', async () => {
    for (const name of changing) {
      const [write, admin] = [holders.write, holders.admin].map((headers) => ask(name, headers as Headers));
      const [ofMember, ofAdmin] = [await write, await admin] as [HttpResponse, HttpResponse];
      if (BOARD_ACCESS[name] === 'admin')
        expect([ofMember.status, ofMember.body.code], name).to.deep.equal([403, 'access_denied']);
      else expect(ofMember.status, name).not.to.equal(403);
      expect(ofAdmin.status, name).not.to.equal(403);
      const isRefused =
        ofAdmin.status === 404 && String(ofAdmin.body.error).includes('action of Bull Board is turned off');
      expect(isRefused, name).to.equal(BOARD_ACCESS[name] === undefined);
    }
    for (const name of ['POST /api/queues/:queueName/add', 'PUT /api/queues/:queueName/obliterate']) {
      expect(BOARD_ACCESS[name], name).to.equal(undefined);
    }
    for (const name of ['PUT /api/queues/:queueName/empty', 'PUT /api/queues/:queueName/:jobId/clean']) {
      expect(BOARD_ACCESS[name], name).to.equal('admin');
    }
  });

  it('rejects paths that are not exactly one of its routes', async () => {
    for (const path of [
      '/api/queues/runs/obliterate/',
      '/api/queues/runs/OBLITERATE',
      '//api/queues/runs/obliterate',
      '/api/nope',
    ]) {
      const { status } = await service.request('PUT', `/queues${path}`, {}, holders.admin as Headers);
      expect(status, path).to.equal(404);
    }
  });

  it('records each change in the audit log with its queue and job', async () => {
    const last = async () => (await service.get('/v1/audit?limit=1')).body.data[0];
    await service.redis.rpush(`${service.prefix}:queue:runs:wait`, 'gone');
    await service.redis.hset(`${service.prefix}:queue:runs:gone`, { name: 'n', data: '{}', opts: '{}', timestamp: 1 });
    expect((await ask('PUT /api/queues/:queueName/:jobId/clean', holders.admin as Headers, 'gone')).status).to.equal(
      204,
    );
    expect(await last()).to.include({
      action: 'PUT /queues/api/queues/:queueName/:jobId/clean',
      target: 'runs/gone',
      summary: 'Bull Board: Remove one job',
    });
    const path = '/queues/api/queues/runs/concurrency';
    expect((await service.request('PUT', path, { concurrency: 5 }, holders.admin)).status).to.equal(200);
    const words = { 'by an admin, role': 7, ['x'.repeat(10_000)]: 1 };
    expect((await service.request('PUT', '/queues/api/queues/runs/resume', words, holders.admin)).status).to.equal(200);
    expect((await last()).summary, 'what the sender calls its fields').to.equal('Bull Board: Resume one queue');
    expect((await service.request('PUT', path, { concurrency: 5 }, holders.admin)).status).to.equal(200);
    expect(await last()).to.include({
      action: 'PUT /queues/api/queues/:queueName/concurrency',
      target: 'runs',
      summary: 'Bull Board: Set the global concurrency limit of one queue, concurrency 5',
    });
  });

  it('rejects an unreadable body with the reason', async () => {
    const put = (body: string) =>
      service.request('PUT', '/queues/api/queues/runs/resume', body, {
        ...holders.admin,
        'content-type': 'application/json',
      });
    for (const [body, status, code] of [
      ['{"concurrency": 5', 400, 'body_not_json'],
      [JSON.stringify({ text: 'x'.repeat(2_000_000) }), 413, 'body_too_large'],
    ] as const) {
      const response = await put(body);
      expect([response.status, response.body.code]).to.deep.equal([status, code]);
    }
  });

  it('has pages of at most twenty jobs, and truncates long data', async () => {
    const data = JSON.stringify({ text: 'x'.repeat(100_000) });
    for (let n = 0; n < 30; n++) {
      await service.redis.rpush(`${service.prefix}:queue:runs:wait`, `job-${n}`);
      await service.redis.hset(`${service.prefix}:queue:runs:job-${n}`, { name: 'n', data, opts: '{}', timestamp: 1 });
    }
    for (const asked of [
      'jobsPerPage=1000000',
      'jobsPerPage=21',
      'jobsPerPage=5&jobsPerPage=1000',
      'jobsPerPage=1e9',
    ]) {
      const path = `/queues/api/queues?activeQueue=runs&status=waiting&page=1&${asked}`;
      const { body } = await service.get(path, holders.read);
      const jobs = body.queues.find(({ name }: { name: string }) => name === 'runs').jobs;
      expect(jobs.length, asked).to.equal(20);
      expect(JSON.stringify(body).length, asked).to.be.lessThan(2_000_000);
    }
    const few = await service.get('/queues/api/queues?activeQueue=runs&status=waiting&jobsPerPage=5', holders.read);
    expect(few.body.queues[1].jobs.length).to.equal(5);
  });
});

describe('health', () => {
  it('is served at /livez, /readyz and /health', async () => {
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
  it('logs carry the request ID from receipt to run, and no payload', async () => {
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
      for (const part of ['test-app-f', '"role":"web"']) {
        await until(() => lines().some((line) => line.includes(part)), { describe: `a line of it has ${part}` });
      }
      expect(service.output()).not.to.include('4242-4242');
      expect(service.output()).not.to.include('secret-key');
    } finally {
      await service.stop();
      await host.close();
    }
  });
});
