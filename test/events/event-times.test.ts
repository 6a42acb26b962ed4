import { expect } from 'chai';
import { type AppHost, startAppHost } from '../support/app-host.ts';
import { type Service, startService } from '../support/service.ts';
import { bucketKey, overflowKey } from '../support/stored-event.ts';

const DAY_MS = 86_400_000;
const MOMENT_MS = 60_000;

describe('An event with a future ts', () => {
  let service: Service;
  let host: AppHost;
  before(async () => {
    service = await startService({ env: { EVENT_MAX_FUTURE_DAYS: '30' } });
    host = await startAppHost();
  });
  after(async () => {
    await host.close();
    await service.stop();
  });

  const ahead = (ms: number) => ({ name: 'ahead/x', data: {}, ts: Date.now() + ms });
  const ingested = (id: string) => service.stored(id);

  it('is accepted up to EVENT_MAX_FUTURE_DAYS, and rejected beyond that with field and limit', async () => {
    expect((await service.post('/e/key', ahead(30 * DAY_MS - MOMENT_MS))).status).to.equal(200);
    const { status, body } = await service.post('/e/key', [ahead(0), ahead(30 * DAY_MS + MOMENT_MS)]);
    expect([status, body.code, body.index, body.field]).to.deep.equal([400, 'event_invalid', 1, 'ts']);
    expect(body.error).to.include('30 days').and.include('EVENT_MAX_FUTURE_DAYS');
  });

  it('is rejected beyond the limit even when sent manually or by a transform', async () => {
    const far = ahead(31 * DAY_MS);
    const byHand = await service.post('/v1/events', far);
    expect([byHand.status, byHand.body.code, byHand.body.field]).to.deep.equal([400, 'event_invalid', 'ts']);
    const transform = `function transform() { return ${JSON.stringify(far)}; }`;
    const made = await service.post('/v1/webhooks', { name: 'w', transform });
    const hooked = await service.post(new URL(made.body.data.url).pathname, {});
    expect([hooked.status, hooked.body.code]).to.deep.equal([400, 'transform_failed']);
    expect(hooked.body.error).to.include('30 days');
    expect((await service.post('/v1/transforms/test', { transform, body: {} })).body.code).to.equal('transform_failed');
  });

  it('is kept beyond the retention only for a run that begins at that time', async () => {
    const { ids } = (await service.post('/e/key', ahead(20 * DAY_MS))).body;
    await ingested(ids[0]);
    expect(await service.redis.exists(overflowKey(service, ids[0]))).to.equal(0);
    expect(await service.redis.pttl(bucketKey(service, ids[0]))).to.be.at.most(7 * DAY_MS + 3_600_000);

    await host.register(service, [{ id: 'f', triggers: [{ event: 'ahead/x' }] }]);
    const waited = (await service.post('/e/key', ahead(20 * DAY_MS))).body.ids[0];
    await service.waitFor(`/v1/events/${waited}/runs`, ({ body }) => body.data?.length === 1);
    const ttl = await service.redis.pttl(overflowKey(service, waited));
    expect(ttl).to.be.within(27 * DAY_MS - MOMENT_MS, 27 * DAY_MS);
  });
});
