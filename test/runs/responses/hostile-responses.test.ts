import { expect } from 'chai';
import { type AppHost, startAppHost } from '../../support/app-host.ts';
import { findKeys } from '../../support/redis.ts';
import { type Service, startService } from '../../support/service.ts';
import { HOSTILE_RESPONSES } from './cases/all.ts';

const PATIENCE_MS = 60_000;

describe('Hostile responses', function () {
  this.timeout(2 * PATIENCE_MS);
  let service: Service;
  let host: AppHost;
  let eventId: string;
  before(async () => {
    service = await startService({ processes: 'worker', env: { RETRY_SCALE: '0.0001' } });
    host = await startAppHost();
    for (const [n, { respond }] of HOSTILE_RESPONSES.entries()) host.on(`f${n}`, respond);
    const functions = HOSTILE_RESPONSES.map((_, n) => ({
      id: `f${n}`,
      triggers: [{ event: 'hostile/x' }],
      retries: 1,
    }));
    expect((await host.register(service, functions)).status).to.equal(200);
    eventId = (await service.post('/e/key', { name: 'hostile/x', data: {} })).body.ids[0];
  });
  after(async () => {
    await host.close();
    await service.stop();
  });

  for (const [n, { name, must }] of HOSTILE_RESPONSES.entries()) {
    it(`${name}: the run is ${must.error ?? must.status}`, async () => {
      const path = `/v1/events/${eventId}/runs`;
      const functionId = `test-app-f${n}`;
      // biome-ignore lint/suspicious/noExplicitAny: a run as the API tells it
      const ofFunction = (body: any) => body.data?.find((run: any) => run.function_id === functionId);
      const { body } = await service.waitFor(path, ({ body }) => ofFunction(body)?.ended_at, PATIENCE_MS);
      const run = ofFunction(body);
      expect([run.status, run.error?.name], JSON.stringify(run.error)).to.deep.equal([must.status, must.error]);
      if (must.says) expect(run.error.message).to.include(must.says);
      if ('output' in must) expect(run.output).to.deep.equal(must.output);
      expect(host.calls(`f${n}`)).to.have.lengthOf(must.calls);
    });
  }

  it('after all hostile responses the next run completes, no job waits, and no process has died', async () => {
    host.on('well', () => ({ body: 'well' }));
    await host.register(service, [{ id: 'well', triggers: [{ event: 'well/x' }] }], { appName: 'other-app' });
    const { body } = await service.post('/e/key', { name: 'well/x', data: {} });
    await service.waitFor(`/v1/events/${body.ids[0]}/runs`, ({ body }) => body.data?.[0]?.status === 'Completed');
    expect(service.workers[0]?.running()).to.equal(true);
    for (const key of [':active-runs', ':queue:runs:delayed']) {
      expect(await findKeys(service.redis, service.prefix, new RegExp(`^${key}$`))).to.deep.equal([]);
    }
  });
});
