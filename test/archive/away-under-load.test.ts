import { setTimeout } from 'node:timers/promises';
import { expect } from 'chai';
import type pg from 'pg';
import { fromUuid } from '../../src/archive/database.ts';
import { type AppHost, startAppHost } from '../support/app-host.ts';
import { connectPostgres, schemaOf } from '../support/postgres.ts';
import { PostgresProxy } from '../support/postgres-proxy.ts';
import { type Service, startService } from '../support/service.ts';
import { until } from '../support/until.ts';

/** 3.6 s. */
const HOT_HOURS = '0.001';
const HOT_MS = 3_600;
const EVERY_MS = 40;

describe('A Postgres that is unavailable under load', () => {
  let service: Service;
  let apps: AppHost;
  let proxy: PostgresProxy;
  let postgres: pg.Client;

  beforeEach(async () => {
    proxy = await PostgresProxy.start();
    service = await startService({ archive: true, env: { DATABASE_URL: proxy.url, HOT_HOURS } });
    apps = await startAppHost();
    postgres = await connectPostgres(schemaOf(service.prefix));
  });
  afterEach(async () => {
    await postgres.end();
    await apps.close();
    await service.stop();
    await proxy.stop();
  });

  const archived = async (table: 'events' | 'runs') =>
    (await postgres.query<{ id: string }>(`SELECT id FROM ${table}`)).rows.map(({ id }) => fromUuid(id));

  it('affects no sender and no function; Redis keeps everything, and all of it is archived once afterwards', async () => {
    apps.on('fn', () => ({ body: 'done' }));
    await apps.register(service, [{ id: 'fn', triggers: [{ event: 'a' }] }]);
    const acknowledged: string[] = [];
    const refused: unknown[] = [];
    let isOver = false;
    const sender = (async () => {
      for (let n = 0; !isOver; n++) {
        const { status, body } = await service.post('/e/key', { name: 'a', id: `n-${n}`, data: { n } });
        if (status === 200) acknowledged.push(...body.ids);
        else refused.push({ status, body });
        await setTimeout(EVERY_MS);
      }
    })();
    try {
      await until(async () => (await archived('events')).length > 0, { describe: 'it archives' });
      proxy.leave();
      const before = acknowledged.length;
      // Longer than all that is hot now stays hot.
      await setTimeout(2 * HOT_MS);
      expect(acknowledged.length).to.be.greaterThan(before);
      const during = acknowledged.slice(before);
      await until(() => apps.calls('fn').length >= before + during.length, { describe: 'functions run' });
      for (const id of during.slice(0, 20)) {
        const found = await service.get(`/v1/events/${id}/runs`);
        expect([found.status, found.body.data?.length], JSON.stringify(found.body)).to.deep.equal([200, 1]);
      }
    } finally {
      isOver = true;
      await sender;
      proxy.comeBack();
    }
    expect(refused).to.deep.equal([]);
    await until(async () => (await archived('runs')).length >= acknowledged.length, {
      describe: 'all is archived',
      timeoutMs: 40_000,
    });
    const events = await archived('events');
    expect(events.toSorted()).to.deep.equal(acknowledged.toSorted());
    const runs = await archived('runs');
    expect(new Set(runs).size).to.equal(acknowledged.length).and.equal(runs.length);
    expect(apps.calls('fn')).to.have.length(acknowledged.length);
  });
});
