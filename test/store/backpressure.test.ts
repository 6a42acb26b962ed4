import { once } from 'node:events';
import { connect } from 'node:net';
import { expect } from 'chai';
import { Redis } from 'ioredis';
import { Tidegate } from '../../clients/typescript/src/index.ts';
import { type AppHost, startAppHost } from '../support/app-host.ts';
import { type HttpResponse, request } from '../support/http.ts';
import { type OwnRedis, startOwnRedis } from '../support/own-redis.ts';
import { type Service, startService } from '../support/service.ts';
import { until } from '../support/until.ts';

const MIB = 1_048_576;
const HALF = 0.5;

describe('Backpressure before Redis is out of memory', () => {
  let own: OwnRedis;
  let admin: Redis;
  let host: AppHost;
  let service: Service;
  beforeEach(async () => {
    own = await startOwnRedis();
    admin = new Redis(own.url);
    host = await startAppHost();
  });
  afterEach(async () => {
    await service.stop();
    await host.close();
    admin.disconnect();
    await own.remove();
  });

  const start = async (env: Record<string, string> = {}, workers = 0) => {
    service = await startService({
      dev: false,
      workers,
      env: { REDIS_URL: own.url, LOG_LEVEL: 'info', REDIS_MEMORY_LIMIT_PERCENT: String(100 * HALF), ...env },
    });
  };
  const send = (body: object = { name: 'full/x', data: {} }) => service.post(service.eventPath, body);
  const api = (method: string, path: string, body?: object) => service.request(method, path, body, service.apiHeaders);
  const isFull = async () => (await service.get('/health')).body.intake === 'full';

  /** A little past the mark, and far from where Redis refuses. */
  async function fill(): Promise<void> {
    await admin.setrange('filler', 40 * MIB, 'x');
    const used = Number(/used_memory:(\d+)/.exec(await admin.info('memory'))?.[1]);
    await admin.config('SET', 'maxmemory', Math.floor(used / 1.01 / HALF), 'maxmemory-policy', 'noeviction');
    await until(isFull, { describe: 'the service has noticed' });
  }
  const empty = () => admin.del('filler');

  function expectLater({ status, body, headers }: HttpResponse, code: 'memory_short' | 'backlog_full'): void {
    expect([status, body.code]).to.deep.equal([code === 'memory_short' ? 503 : 429, code]);
    const seconds = Number(headers.get('retry-after'));
    expect(seconds).to.be.within(2, 30);
    expect(body.error).to.include(`after ${seconds} s`);
  }

  it('POST /e/:key responds with 503 and Retry-After above the memory threshold, and accepts events when there is room again', async () => {
    await start();
    expect((await send()).status).to.equal(200);
    await fill();
    expectLater(await send(), 'memory_short');
    expect(await admin.set('still', 'taken')).to.equal('OK');
    expect((await request('POST', `${service.url}/e/nobody`, { body: {} })).status).to.equal(401);
    await empty();
    await until(async () => (await send()).status === 200, { describe: 'events are taken in' });
    const said = service.output();
    expect(said.match(/backpressure: events are rejected/g)).to.have.lengthOf(1);
    expect(said.match(/backpressure ended/g)).to.have.lengthOf(1);
    expect(said).to.include('REDIS_MEMORY_LIMIT_PERCENT').and.not.include('"level":"error"');
  });

  it('registrations of apps are rejected above the memory threshold', async () => {
    await start();
    const functions = [{ id: 'f', triggers: [{ event: 'full/x' }] }];
    expect((await host.register(service, functions)).status).to.equal(200);
    await fill();
    expectLater(await host.register(service, functions), 'memory_short');
    await empty();
    await until(async () => (await host.register(service, functions)).status === 200, { describe: 'it is registered' });
  });

  it('requests are rejected before their body is read', async () => {
    await start();
    await fill();
    const socket = connect(service.webs[0]?.port as number, '127.0.0.1');
    socket.write(
      `POST ${service.eventPath} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n{`,
    );
    const [response] = await once(socket, 'data');
    expect(String(response))
      .to.match(/^HTTP\/1\.1 503 /)
      .and.include('memory_short');
    socket.destroy();
  });

  it('webhook requests are rejected and not logged, and events that users send, repeat or assign are rejected too', async () => {
    await start();
    const transform = 'function transform(evt) { return { name: "hook/x", data: evt }; }';
    const webhook = (await api('POST', '/v1/webhooks', { name: 'w', transform, environment: 'production' })).body.data;
    const deliver = () => request('POST', webhook.url, { body: {} });
    const first = await deliver();
    const requests = `/v1/webhooks/${webhook.id}/requests`;
    const logged = async () => (await api('GET', requests)).body.data;
    await until(async () => (await logged()).length === 1, { describe: 'the request is logged' });
    const [{ id }] = await logged();
    await fill();
    expectLater(await deliver(), 'memory_short');
    expectLater(await api('POST', '/v1/events', { name: 'full/x', data: {} }), 'memory_short');
    expectLater(await api('POST', `${requests}/${id}/rerun`, { dry_run: false }), 'memory_short');
    expectLater(await api('POST', '/v1/holding/assign', { environment: 'production' }), 'memory_short');
    expectLater(await api('POST', '/v1/functions/any/invoke', { data: {} }), 'memory_short');

    expect((await api('POST', `${requests}/${id}/rerun`, { dry_run: true })).status).to.equal(200);
    expect((await api('GET', '/v1/events')).status).to.equal(200);
    expect((await api('POST', '/v1/event-keys', { name: 'k', environment: 'production' })).status).to.equal(201);
    expect((await api('DELETE', '/v1/holding?all=true')).status).to.equal(200);
    expect((await logged()).map((item: { ids: string[] }) => item.ids)).to.deep.equal([first.body.ids]);
    expect((await api('DELETE', `/v1/webhooks/${webhook.id}`)).status).to.equal(204);
  });

  it('the overview names the full resource, its use, and the remedy', async () => {
    await start();
    const intake = async () => (await api('GET', '/v1/overview')).body.data.intake;
    expect(await intake()).to.deep.equal({ open: true, full_since: null, reasons: [] });
    await fill();
    const { open, full_since, reasons } = await intake();
    expect(open).to.equal(false);
    expect(Date.parse(full_since)).to.be.at.most(Date.now());
    expect(reasons).to.have.lengthOf(1);
    expect(reasons[0]).to.match(/^Redis uses [\d,]+ bytes; events are rejected above [\d,]+: give Redis more memory/);
  });

  it('workers continue: runs end, and internal events about them are accepted', async () => {
    await start({}, 1);
    const begun = Promise.withResolvers<void>();
    const mayRespond = Promise.withResolvers<void>();
    host.on('fails', async () => {
      begun.resolve();
      await mayRespond.promise;
      return { status: 400, headers: { 'x-service-no-retry': 'true' }, body: { name: 'E', message: 'm' } };
    });
    await host.register(service, [
      { id: 'fails', triggers: [{ event: 'full/x' }] },
      { id: 'hears', triggers: [{ event: 'inngest/function.failed' }] },
    ]);
    const { body } = await send();
    await begun.promise;
    await fill();
    mayRespond.resolve();
    await host.nextCall('hears');
    const runs = await api('GET', `/v1/events/${body.ids[0]}/runs`);
    expect(runs.body.data[0].status).to.equal('Failed');
    expectLater(await send(), 'memory_short');
  });

  it('the TypeScript client waits for Retry-After and sends again', async () => {
    await start();
    await fill();
    const statuses: number[] = [];
    const client = new Tidegate({
      id: 'shop',
      baseUrl: service.url,
      eventKey: service.env.EVENT_KEYS as string,
      fetch: async (url, init) => {
        const response = await fetch(url, init);
        statuses.push(response.status);
        if (statuses.length === 1) {
          await empty();
          await until(async () => !(await isFull()), { describe: 'there is room' });
        }
        return response;
      },
    });
    const { ids } = await client.send({ name: 'full/x', data: {} });
    expect(ids).to.have.lengthOf(1);
    expect(statuses).to.deep.equal([503, 200]);
  });

  for (const [queue, setting] of [
    ['ingest', 'INGEST_BACKLOG_MAX'],
    ['runs', 'RUN_BACKLOG_MAX'],
  ] as const) {
    it(`POST /e/:key responds with 503 and Retry-After while the backlog of ${queue} is full`, async () => {
      await start({ [setting]: '3', RUN_CONCURRENCY: '1' }, queue === 'runs' ? 1 : 0);
      const barrier = Promise.withResolvers<void>();
      host.on('f', async () => {
        await barrier.promise;
        return {};
      });
      await host.register(service, [{ id: 'f', triggers: [{ event: 'full/x' }] }]);
      // One after the other, so that each is a job of its own.
      for (let sent = 0; sent < 5; sent++) await send();
      await until(isFull, { describe: 'the service has noticed' });
      expectLater(await send(), 'backlog_full');
      const { reasons } = (await api('GET', '/v1/overview')).body.data.intake;
      expect(reasons[0]).to.match(
        new RegExp(`jobs wait in the queue "${queue}"; events are rejected above 3: .*${setting} sets`),
      );
      barrier.resolve();
      if (queue === 'ingest') await service.startWorker();
      await until(async () => (await send()).status === 200, { describe: 'events are taken in' });
    });
  }
});
