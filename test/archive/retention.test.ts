import { expect } from 'chai';
import { connectPostgres, schemaOf } from '../support/postgres.ts';
import { PostgresProxy } from '../support/postgres-proxy.ts';
import { type Service, startService } from '../support/service.ts';
import { until } from '../support/until.ts';

const LIMITS = '/v1/environments/production/limits';

describe('The retention of an environment', () => {
  let service: Service;
  afterEach(() => service.stop());

  it('can be set within its limits, and is shown with the environment', async () => {
    service = await startService({ archive: true, workers: 0 });
    const set = (body: object) => service.request('PUT', LIMITS, body);
    expect((await service.get('/v1/environments/production')).body.data.retention_days).to.equal(null);
    expect((await set({ event_max_bytes: 1_000, retention_days: 90 })).body.data).to.include({
      event_max_bytes: 1_000,
      retention_days: 90,
    });
    // Absent: as it was.
    expect((await set({ event_max_bytes: null })).body.data).to.include({ event_max_bytes: null, retention_days: 90 });
    expect((await service.get('/v1/environments')).body.data[0].retention_days).to.equal(90);
    for (const retention_days of [0, 3_651, 1.5, '7']) {
      const { status, body } = await set({ event_max_bytes: null, retention_days });
      expect([status, body.code, body.field]).to.deep.equal([400, 'input_invalid', 'retention_days']);
    }
    expect((await set({ event_max_bytes: null, retention_days: null })).body.data.retention_days).to.equal(null);
  });

  it('cannot be shorter than the time for which everything stays in Redis', async () => {
    service = await startService({ archive: true, workers: 0, env: { HOT_HOURS: '48' } });
    const { status, body } = await service.request('PUT', LIMITS, { event_max_bytes: null, retention_days: 1 });
    expect(status).to.equal(400);
    expect(body.error).to.include('HOT_HOURS (48)');
  });

  it('requires an archive, and the error says so', async () => {
    service = await startService({ workers: 0 });
    const { status, body } = await service.request('PUT', LIMITS, { event_max_bytes: null, retention_days: 30 });
    expect([status, body.code]).to.deep.equal([400, 'input_invalid']);
    expect(body.error).to.match(/needs an archive.*DATABASE_URL/);
    expect((await service.request('PUT', LIMITS, { event_max_bytes: null, retention_days: null })).status).to.equal(
      200,
    );
  });
});

describe('The deletion of a branch', () => {
  it('makes its archived data unreachable, even if Postgres is unavailable at first', async () => {
    const proxy = await PostgresProxy.start();
    const service = await startService({ archive: true, env: { DATABASE_URL: proxy.url, LOG_LEVEL: 'debug' } });
    const client = await connectPostgres(schemaOf(service.prefix));
    try {
      await service.post('/v1/environments', { name: 'gone', kind: 'branch' });
      await client.query("INSERT INTO environments (name) VALUES ('gone')");
      proxy.leave();
      await service.request('DELETE', '/v1/environments/gone');
      const postponed = 'archived data of a deleted environment remains';
      await until(() => service.output().split(postponed).length > 3, { describe: 'rounds' });
      expect((await service.get('/v1/environments/gone')).status).to.equal(200);
      proxy.comeBack();
      await service.waitFor('/v1/environments/gone', ({ status }) => status === 404);
      const { rows } = await client.query('SELECT deleted_at FROM environments');
      expect(rows[0].deleted_at).to.not.equal(null);
    } finally {
      await client.end();
      await service.stop();
      await proxy.stop();
    }
  });
});
