import { expect } from 'chai';
import { ulid } from 'ulid';
import { dropSchema } from '../support/postgres.ts';
import { PostgresProxy } from '../support/postgres-proxy.ts';
import { type Service, startService } from '../support/service.ts';
import { until } from '../support/until.ts';

describe('A Postgres that keeps its connections but does not respond', () => {
  let service: Service;
  let proxy: PostgresProxy;
  beforeEach(async () => {
    proxy = await PostgresProxy.start();
    service = await startService({ archive: true, workers: 0, env: { DATABASE_URL: proxy.url, HOT_HOURS: '1' } });
  });
  afterEach(async () => {
    await service.stop();
    await proxy.stop();
  });

  it('delays look-ups before they get 503, does not prevent starts, and is used again when it is back', async () => {
    const old = `/v1/events/${ulid(Date.now() - 7_200_000)}`;
    expect((await service.get(old)).status).to.equal(404);
    proxy.freeze();
    const found = await service.get(old);
    expect([found.status, found.body.code]).to.deep.equal([503, 'archive_unavailable']);
    // What is hot does not wait.
    expect((await service.post('/e/key', { name: 'a', data: {} })).status).to.equal(200);
    // Processes start all the same, and work.
    const [worker] = await Promise.all([service.startWorker(), service.startWeb()]);
    expect(worker.output()).to.include('migrations did not run, because Postgres is away');
    const [id] = (await service.post('/e/key', { name: 'b', data: {} })).body.ids;
    await service.stored(id);
    await dropSchema(service.env.DATABASE_SCHEMA ?? '');
    proxy.leave();
    proxy.comeBack();
    // The worker runs the migrations that it could not run when it started.
    await until(async () => (await service.get(old)).status === 404, {
      describe: 'it is asked again',
    });
  });
});
