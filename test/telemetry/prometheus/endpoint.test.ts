import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { freePort } from '../../../scripts/lib/ports.ts';
import { readConfig } from '../../../src/config.ts';
import { request } from '../../support/http.ts';
import { startOwnRedis } from '../../support/own-redis.ts';
import { type Scrape, scrape } from '../../support/scrape.ts';
import { type Service, startService } from '../../support/service.ts';
import type { ServiceProcess } from '../../support/service-process.ts';
import { until } from '../../support/until.ts';

const TOKEN = 'metrics-token-0123456789';
const GIVEN = { authorization: `Bearer ${TOKEN}` };

const at = (process: ServiceProcess | undefined) => `http://127.0.0.1:${process?.metricsPort}`;

describe('Metrics endpoint', () => {
  let service: Service;
  afterEach(() => service.stop());

  const codes = async (url: string, headers: Record<string, string>[]) => {
    const responses = await Promise.all(headers.map((given) => request('GET', `${url}/metrics`, { headers: given })));
    return responses.map(({ status, body }) => body.code ?? status);
  };

  for (const dev of [true, false]) {
    const mode = dev ? 'dev mode' : 'production';

    it(`does not exist by default (${mode})`, async () => {
      service = await startService({ dev });
      expect([service.webs[0]?.metricsPort, service.workers[0]?.metricsPort]).to.deep.equal([undefined, undefined]);
      expect(await codes(service.url, [{}, service.apiHeaders, GIVEN])).to.deep.equal(Array(3).fill('not_found'));
    });

    it(`is a separate port of each process with METRICS_PORT (${mode})`, async () => {
      service = await startService({ dev, env: { METRICS_PORT: '0' } });
      for (const process of [service.webs[0], service.workers[0]]) {
        expect((await scrape(at(process))).types.size, process?.role).to.be.greaterThan(30);
      }
      expect(await codes(service.url, [{}, service.apiHeaders, GIVEN])).to.deep.equal(Array(3).fill('not_found'));
    });

    it(`is on web's public port for METRICS_TOKEN only (${mode})`, async () => {
      service = await startService({ dev, env: { METRICS_TOKEN: TOKEN } });
      expect((await scrape(service.url, GIVEN)).value('tidegate_redis_up')).to.equal(1);
      const wrong = [
        {},
        { authorization: `Bearer ${TOKEN}x` },
        { authorization: `Basic ${TOKEN}` },
        service.apiHeaders,
      ];
      expect(await codes(service.url, wrong)).to.deep.equal(Array(4).fill('credentials_invalid'));
      expect(await codes(`${service.url}/metrics?token=${TOKEN}#`, [{}])).to.deep.equal(['credentials_invalid']);
      expect((await service.get('/v1/events', GIVEN)).status).to.equal(dev ? 200 : 401);
      expect(service.workers[0]?.metricsPort).to.equal(undefined);
    });
  }

  it('also requires METRICS_TOKEN on METRICS_PORT', async () => {
    service = await startService({ env: { METRICS_TOKEN: TOKEN, METRICS_PORT: '0' } });
    for (const process of [service.webs[0], service.workers[0]]) {
      const wrong = await request('GET', `${at(process)}/metrics`, { headers: { authorization: 'Bearer no' } });
      expect(wrong.status).to.equal(401);
      expect(wrong.body).to.include({ code: 'credentials_invalid', status: 401 });
      expect(wrong.headers.get('x-request-id')).to.be.a('string').and.not.equal('');
      expect(await codes(at(process), [{}])).to.deep.equal(['credentials_invalid']);
      await scrape(at(process), GIVEN);
    }
  });

  it('serves nothing but GET /metrics on METRICS_PORT', async () => {
    service = await startService({ env: { METRICS_PORT: '0' } });
    for (const process of [service.webs[0], service.workers[0]]) {
      for (const [method, path] of [
        ['GET', '/'],
        ['GET', '/health'],
        ['GET', '/v1/events'],
        ['POST', '/e/key'],
        ['POST', '/metrics'],
        ['GET', '/metrics/x'],
      ] as const) {
        const { status, body } = await request(method, at(process) + path);
        expect([status, body.code], `${method} ${path}`).to.deep.equal([404, 'not_found']);
      }
    }
  });

  it('responds to a request with an unread body on METRICS_PORT at once, and closes its connection', async () => {
    service = await startService({ env: { METRICS_PORT: '0' } });
    for (const process of [service.webs[0], service.workers[0]]) {
      const socket = connect(Number(process?.metricsPort), '127.0.0.1');
      socket.write('POST /metrics HTTP/1.1\r\nhost: x\r\ncontent-length: 1000000000\r\n\r\nx');
      const response = await text(socket);
      expect(response)
        .to.match(/^HTTP\/1\.1 404 /)
        .and.match(/\r\nconnection: close\r\n/i);
    }
  });

  it('fails the start of a second process with the same METRICS_PORT, with an error that says so', async () => {
    const port = await freePort();
    service = await startService({ processes: true, workers: 0, env: { METRICS_PORT: String(port) } });
    for (const start of [() => service.startWorker(), () => service.startWeb()]) {
      const failed = await start().then(
        () => '',
        (error: Error) => error.message,
      );
      expect(failed)
        .to.include(`METRICS_PORT: got ${port}`)
        .and.include(`127.0.0.1:${port}: another process listens there`);
      expect(failed).to.include('its own METRICS_PORT').and.include('exit code 1');
    }
    expect((await scrape(`http://127.0.0.1:${port}`)).value('tidegate_processes', { kind: 'worker' })).to.equal(0);
  });
});

describe('Metrics while Redis is down', () => {
  it('omit gauges from Redis, and include them when Redis is back', async () => {
    const redis = await startOwnRedis();
    // A key that is not looked up in Redis.
    const env = { REDIS_URL: redis.url, METRICS_PORT: '0', EVENT_KEYS: 'known-event-key-0123' };
    const service = await startService({ env });
    const processes = [...service.webs, ...service.workers];
    const eventually = (process: ServiceProcess, describe: string, condition: (found: Scrape) => boolean) =>
      until(async () => [await scrape(at(process))].find(condition), { describe: `${process.role}: ${describe}` });
    try {
      await redis.stop();
      for (const process of processes) {
        const away = await eventually(process, 'away', (found) => found.value('tidegate_redis_up') === 0);
        expect(away.text).not.to.match(/^tidegate_(queue_|runs_active|redis_used|processes)/m);
        expect(away.value('process_resident_memory_bytes')).to.be.greaterThan(1_000_000);
      }
      expect((await service.post('/e/known-event-key-0123', { name: 'x', data: {} })).status).to.equal(503);
      const refused = (found: Scrape) => found.value('tidegate_http_errors_total', { code: 'unavailable' }) === 1;
      const scraped = await eventually(service.webs[0] as ServiceProcess, 'it has counted the request', refused);
      expect(scraped.value('tidegate_commit_failures_total')).to.equal(1);
      await redis.start();
      const sent = async () => (await service.post('/e/known-event-key-0123', { name: 'x', data: {} })).status === 200;
      await until(sent, { describe: 'events are accepted again' });
      for (const process of processes) {
        const done = (found: Scrape) => found.value('tidegate_queue_jobs', { queue: 'ingest', state: 'waiting' }) === 0;
        await eventually(process, 'back, and the event ingested', done);
      }
    } finally {
      await service.stop();
      await redis.remove();
    }
  });
});

describe('Settings of metrics', () => {
  const wrong = (env: Record<string, string>) => () => readConfig({ MODE: 'dev', ...env });

  it('that are invalid stop the start with an error', () => {
    expect(wrong({ METRICS_PORT: '8288' })).to.throw('METRICS_PORT: got 8288, the same as PORT');
    expect(wrong({ METRICS_PORT: 'x' })).to.throw('METRICS_PORT: got "x"');
    expect(wrong({ METRICS_TOKEN: 'short' })).to.throw('METRICS_TOKEN: got 5 characters');
    const secrets = { MODE: 'production', SECRET_KEY: TOKEN.padEnd(32, '-') };
    expect(() => readConfig({ ...secrets, METRICS_TOKEN: secrets.SECRET_KEY })).to.throw(
      'METRICS_TOKEN: the same as SECRET_KEY',
    );
  });
});
