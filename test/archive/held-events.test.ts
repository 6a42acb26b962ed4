import { expect } from 'chai';
import { type AppHost, startAppHost } from '../support/app-host.ts';
import { type Service, startService } from '../support/service.ts';
import { storedText } from '../support/stored-event.ts';
import { until } from '../support/until.ts';

/** 3.6 s. */
const HOT_HOURS = '0.001';

describe('An event that is archived while it waits in a batch or a debounce', () => {
  let service: Service;
  let host: AppHost;

  before(async () => {
    service = await startService({ archive: true, env: { HOT_HOURS } });
    host = await startAppHost();
  });

  after(async () => {
    await host.close();
    await service.stop();
  });

  it('is restored to Redis for the run', async () => {
    for (const id of ['batch', 'debounce']) host.on(id, () => ({ body: 'done' }));
    await host.register(service, [
      { id: 'batch', triggers: [{ event: 'held/x' }], batchEvents: { maxSize: 10, timeout: '15s' } },
      { id: 'debounce', triggers: [{ event: 'held/x' }], debounce: { period: '15s' } },
    ]);
    const { body } = await service.post('/e/key', { name: 'held/x', data: { total: 3 } });
    const id = body.ids[0];
    await until(async () => (await storedText(service, id)) === null, {
      timeoutMs: 60_000,
      describe: 'it is archived',
    });
    expect(host.calls('batch').length + host.calls('debounce').length).to.equal(0);
    await until(() => host.calls('batch').length === 1 && host.calls('debounce').length === 1, {
      timeoutMs: 60_000,
      describe: 'both functions are called',
    });
    expect(host.calls('batch')[0]?.body.events[0].data).to.deep.equal({ total: 3 });
    expect(host.calls('debounce')[0]?.body.event.data).to.deep.equal({ total: 3 });
  });
});
