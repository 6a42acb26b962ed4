import { expect } from 'chai';
import { Redis } from 'ioredis';
import { fromUuid } from '../../src/archive/database.ts';
import { migrate } from '../../src/archive/migrate.ts';
import { type OwnRedis, startOwnRedis } from '../support/own-redis.ts';
import { connectPostgres, dropSchema, postgresUrl, schemaOf } from '../support/postgres.ts';
import { PostgresProxy } from '../support/postgres-proxy.ts';
import { type Scrape, scrape } from '../support/scrape.ts';
import { type Service, startService } from '../support/service.ts';
import { until } from '../support/until.ts';

const MIB = 1_048_576;
/** 3.6 s. */
const HOT_HOURS = '0.001';

describe('GET /v1/overview about the archive', () => {
  let service: Service;
  let proxy: PostgresProxy;
  beforeEach(async () => {
    proxy = await PostgresProxy.start();
  });
  afterEach(async () => {
    await service.stop();
    await proxy.stop();
  });

  const archive = async () => (await service.get('/v1/overview')).body.data.archive;
  const waitForState = (state: string) => {
    return service.waitFor('/v1/overview', ({ body }) => body.data.archive.state === state);
  };

  it('says that there is no archive', async () => {
    service = await startService({ workers: 0 });
    expect(await archive()).to.deep.equal({ state: 'off', behind_seconds: null, room_seconds: null, reason: null });
  });

  it('says that Postgres is unavailable, why, and how long events have waited; and that it is back', async () => {
    service = await startService({ archive: true, env: { DATABASE_URL: proxy.url, HOT_HOURS, METRICS_PORT: '0' } });
    expect(await archive()).to.include({ state: 'ok', behind_seconds: 0, reason: null });
    const ofWorker = () => scrape(`http://127.0.0.1:${service.workers[0]?.metricsPort}`);
    await until(async () => (await ofWorker()).value('tidegate_archive_up') === 1, { describe: 'the archive is up' });
    proxy.leave();
    await service.post('/e/key', { name: 'a', data: {} });
    const away = await waitForState('unavailable');
    expect(away.body.data.archive.reason).to.include('Postgres');
    await service.waitFor('/v1/overview', ({ body }) => body.data.archive.behind_seconds > 3);
    const isAway = (scraped: Scrape) =>
      scraped.value('tidegate_archive_up') === 0 &&
      Number(scraped.value('tidegate_archive_lag_seconds')) > 1 &&
      Number(scraped.value('tidegate_archive_shipments_failed_total')) > 0;
    await until(async () => isAway(await ofWorker()), { describe: 'the worker sees it, too, and counts what failed' });
    await service.logs('archive: unavailable; Redis keeps everything');
    // What is hot goes on.
    expect((await service.post('/e/key', { name: 'a', data: {} })).status).to.equal(200);
    proxy.comeBack();
    await waitForState('ok');
    await until(async () => (await ofWorker()).value('tidegate_archive_rows_shipped_total', { kind: 'events' }) === 2, {
      describe: 'both events are archived',
    });
    await service.waitFor('/v1/overview', ({ body }) => body.data.archive.behind_seconds === 0);
  });
});

describe('An outdated schema', () => {
  it('keeps everything in Redis until the migrations have run, and the overview says so', async () => {
    const proxy = await PostgresProxy.start();
    const schema = `test_behind_${process.pid}_${Date.now()}`;
    const env = { DATABASE_URL: proxy.url, DATABASE_SCHEMA: schema, HOT_HOURS: '1', LOG_LEVEL: 'info' };
    const service = await startService({ dev: false, env });
    try {
      const { body } = await service.waitFor(
        '/v1/overview',
        (response) => response.body.data.archive.state === 'unavailable',
      );
      expect(body.data.archive.reason).to.match(/behind this version: run "scripts\/start release".*0001_archive/);
      for (const process of [...service.webs, ...service.workers]) {
        const told = () => process.output().match(/"level":"error"[^\n]*behind this version/g);
        await until(told, { describe: 'the log tells of it' });
        expect(told()).to.have.lengthOf(1);
        expect(process.running()).to.equal(true);
      }
      await migrate({ url: postgresUrl(), tlsVerify: true, schema });
      await service.waitFor('/v1/overview', (response) => response.body.data.archive.state === 'ok');
    } finally {
      await service.stop();
      await proxy.stop();
      await dropSchema(schema);
    }
  });
});

describe('Backpressure while Postgres is unavailable', () => {
  let own: OwnRedis;
  let admin: Redis;
  let proxy: PostgresProxy;
  let service: Service;
  beforeEach(async () => {
    own = await startOwnRedis();
    admin = new Redis(own.url);
    proxy = await PostgresProxy.start();
  });
  afterEach(async () => {
    await service.stop();
    admin.disconnect();
    await own.remove();
    await proxy.stop();
  });

  it('starts before Redis is full; acknowledged events are archived when Postgres is back', async () => {
    service = await startService({
      archive: true,
      env: { REDIS_URL: own.url, DATABASE_URL: proxy.url, HOT_HOURS, REDIS_MEMORY_LIMIT_PERCENT: '80' },
    });
    const acknowledged: string[] = [];
    const text = 'x'.repeat(20_000);
    const send = async () => {
      const { status, body } = await service.post('/e/key', { name: 'a', data: { text } });
      if (status === 200) acknowledged.push(...body.ids);
      return body;
    };
    await send();
    proxy.leave();
    const used = Number(/used_memory:(\d+)/.exec(await admin.info('memory'))?.[1]);
    await admin.config('SET', 'maxmemory', Math.floor((used + 6 * MIB) / 0.8), 'maxmemory-policy', 'noeviction');
    await until(async () => (await send()).code === 'memory_short', {
      describe: 'events are rejected',
      timeoutMs: 60_000,
    });
    expect(acknowledged.length).to.be.greaterThan(50);
    await service.waitFor('/v1/overview', ({ body }) => body.data.archive.state === 'unavailable');
    // Workers may have freed a little.
    expect((await service.get('/v1/overview')).body.data.archive.room_seconds).to.be.at.most(1);
    // Redis has room for everything that workers need.
    expect(await admin.set('still', 'taken')).to.equal('OK');
    proxy.comeBack();
    const postgres = await connectPostgres(schemaOf(service.prefix));
    try {
      const archived = async () => {
        const { rows } = await postgres.query<{ id: string }>('SELECT id FROM events');
        const ids = new Set(rows.map(({ id }) => fromUuid(id)));
        return acknowledged.every((id) => ids.has(id)) && ids.size === acknowledged.length;
      };
      await until(archived, { describe: 'all acknowledged events are archived, each once', timeoutMs: 60_000 });
      await until(async () => (await send()).code === undefined, {
        describe: 'events are accepted',
      });
    } finally {
      await postgres.end();
    }
  });
});
