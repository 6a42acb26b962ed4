import { expect } from 'chai';
import { type AppHost, startAppHost } from '../support/app-host.ts';
import { type Service, startService } from '../support/service.ts';

describe('status', () => {
  let service: Service;
  let host: AppHost;
  before(async () => {
    service = await startService();
    host = await startAppHost();
  });
  after(async () => {
    await host.close();
    await service.stop();
  });

  it('GET /v1/status counts failed runs and held events of the environment, and workers', async () => {
    host.on('refuse', () => ({ status: 400, headers: { 'x-service-no-retry': 'true' }, body: { message: 'no' } }));
    await host.register(service, [{ id: 'refuse', triggers: [{ event: 'status/x' }], retries: 0 }]);
    await service.post('/v1/environments', { name: 'other', kind: 'branch' });
    const transform = 'const transform = () => ({ name: "status/held", data: {} });';
    const { body } = await service.post('/v1/webhooks', { name: 'log', environment: 'branches', transform });
    await service.post(new URL(body.data.url).pathname, {});
    await service.post(service.eventPath, { name: 'status/x', data: {} });
    const counted = await service.waitFor('/v1/status', ({ body: { data } }) => {
      return (
        data.runs_failed_last_hour === 1 && data.open_errors === 1 && data.held_events === 0 && data.workers_alive === 1
      );
    });
    expect(counted.body.data).to.include({ accepts_events: true, open_webhook_issues: 0 });
    const other = await service.get('/v1/status', { 'x-service-env': 'other' });
    expect(other.body.data).to.include({ runs_failed_last_hour: 0, held_events: 1 });
  });
});
