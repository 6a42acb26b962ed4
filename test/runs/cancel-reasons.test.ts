import { expect } from 'chai';
import { type AppHost, startAppHost } from '../support/app-host.ts';
import { type Service, startService } from '../support/service.ts';

const SLEEPS = { status: 206, body: [{ id: 'a'.repeat(40), op: 'Sleep', name: '1h' }] };

describe('the reason of a cancelled run', () => {
  let service: Service;
  let host: AppHost;
  before(async () => {
    service = await startService();
    host = await startAppHost();
    host.on('trial', () => SLEEPS);
    const functions = [{ id: 'trial', triggers: [{ event: 'trial/begun' }], cancel: [{ event: 'trial/ended' }] }];
    await host.register(service, functions, { appName: 'shop' });
  });
  after(async () => {
    await host.close();
    await service.stop();
  });

  async function startRun(): Promise<string> {
    const [id] = (await service.post('/e/key', { name: 'trial/begun', data: {} })).body.ids;
    const { body } = await service.waitFor(`/v1/events/${id}/runs`, (answer) => answer.body.data?.[0]?.run_started_at);
    return body.data[0].run_id;
  }
  async function reasonOf(runId: string) {
    const path = `/v1/runs/${runId}`;
    const { body } = await service.waitFor(path, (answer) => answer.body.data?.status === 'Cancelled');
    return body.data.cancel_reason;
  }

  it('is null for a run that was not cancelled', async () => {
    const runId = await startRun();
    expect((await service.get(`/v1/runs/${runId}`)).body.data.cancel_reason).to.equal(null);
    await service.request('DELETE', `/v1/runs/${runId}`);
  });

  it('is the request that cancelled it, and stays when it is cancelled again', async () => {
    const runId = await startRun();
    const { body } = await service.request('DELETE', `/v1/runs/${runId}`);
    expect(body.data.cancel_reason).to.deep.equal({ cause: 'request', id: null });
    await service.post('/e/key', { name: 'trial/ended', data: {} });
    expect(await reasonOf(runId)).to.deep.equal({ cause: 'request', id: null });
    const listed = await service.get('/v1/runs?status=Cancelled');
    expect(listed.body.data[0].cancel_reason).to.deep.equal({ cause: 'request', id: null });
  });

  it('is the event that met its cancel trigger', async () => {
    const runId = await startRun();
    const [eventId] = (await service.post('/e/key', { name: 'trial/ended', data: {} })).body.ids;
    expect(await reasonOf(runId)).to.deep.equal({ cause: 'event', id: eventId });
  });

  it('is the bulk cancellation that found it', async () => {
    const runId = await startRun();
    const started_before = new Date(Date.now() + 60_000).toISOString();
    const { body } = await service.post('/v1/cancellations', { app_id: 'shop', function_id: 'trial', started_before });
    expect(await reasonOf(runId)).to.deep.equal({ cause: 'bulk_cancellation', id: body.data.id });
  });
});
