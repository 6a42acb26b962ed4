import { expect } from 'chai';
import { type AppHost, startAppHost } from '../support/app-host.ts';
import { type Service, startService } from '../support/service.ts';

describe('POST /v1/events/match', () => {
  let service: Service;
  let host: AppHost;
  before(async () => {
    service = await startService();
    host = await startAppHost();
    const triggers = (expression?: string) => [{ event: 'order/paid', ...(expression && { expression }) }];
    await host.register(service, [
      { id: 'always', triggers: triggers() },
      { id: 'large', triggers: triggers('event.data.total > 100') },
      { id: 'broken', triggers: triggers('event.data.total.x.y') },
      { id: 'paused', triggers: triggers() },
      { id: 'other', triggers: [{ event: 'order/shipped' }] },
    ]);
    await service.post('/v1/functions/test-app-paused/pause', {});
  });
  after(async () => {
    await host.close();
    await service.stop();
  });

  const match = (event: object) => service.post('/v1/events/match', event);

  it('names the functions that an event would trigger, and sends nothing', async () => {
    const { status, body } = await match({ name: 'order/paid', data: { total: 200 } });
    expect(status, JSON.stringify(body)).to.equal(200);
    expect(body.data.functions).to.deep.include({ function_id: 'test-app-always', outcome: 'runs' });
    expect(body.data.functions).to.deep.include({ function_id: 'test-app-large', outcome: 'runs' });
    expect(body.data.functions).to.deep.include({ function_id: 'test-app-paused', outcome: 'paused' });
    expect(body.data.total).to.equal(body.data.functions.length);
    const small = (await match({ name: 'order/paid', data: { total: 1 } })).body.data.functions;
    expect(small.map((item: { function_id: string }) => item.function_id)).to.not.include('test-app-large');
    expect((await service.get('/v1/events')).body.data).to.deep.equal([]);
    expect(host.calls('always')).to.have.length(0);
  });

  it('names no function for an event without listeners, and rejects an invalid event', async () => {
    expect((await match({ name: 'order/none', data: {} })).body.data).to.deep.equal({ functions: [], total: 0 });
    expect((await match({ data: {} })).status).to.equal(400);
  });
});
