import { expect } from 'chai';
import { type AppHost, startAppHost } from '../support/app-host.ts';
import { type Service, startService } from '../support/service.ts';

describe('The overview', () => {
  let service: Service;
  let host: AppHost;
  before(async () => {
    service = await startService();
    host = await startAppHost();
    host.on('ship', () => ({}));
    const throttle = { limit: 1, period: '1h' };
    await host.register(service, [{ id: 'ship', name: 'Ship', triggers: [{ event: 'order/paid' }], throttle }], {
      appName: 'shop',
    });
  });
  after(async () => {
    await host.close();
    await service.stop();
  });

  it('names the functions whose calls a limit has held back for five minutes', async () => {
    await service.post(service.eventPath, [
      { name: 'order/paid', data: {} },
      { name: 'order/paid', data: {} },
    ]);
    await service.waitFor('/v1/runs?status=Queued', ({ body }) => body.data.length === 1);
    await service.waitFor('/v1/runs?status=Completed', ({ body }) => body.data.length === 1);
    const holds = async () => (await service.get('/v1/overview')).body.data.limit_holds;
    expect(await holds()).to.deep.equal([]);
    await service.post('/v1/dev/clock', { advance: '10m' });
    const [{ since, ...hold }, ...others] = await holds();
    expect([hold, others]).to.deep.equal([{ function_id: 'shop-ship', name: 'Ship', waiting: 1 }, []]);
    expect(Date.parse(since)).to.be.within(Date.now() - 700_000, Date.now() + 60_000);
  });
});
