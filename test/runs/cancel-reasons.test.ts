import { expect } from 'chai';
import { type AppHost, startAppHost } from '../support/app-host.ts';
import { addUser, keyHeaders, sessionHeaders } from '../support/auth.ts';
import type { HttpResponse } from '../support/http.ts';
import { type Service, startService } from '../support/service.ts';

const SLEEPS = { status: 206, body: [{ id: 'a'.repeat(40), op: 'Sleep', name: '1h' }] };

const BY_DEV_MODE = { cause: 'request', id: null, by: { kind: 'dev', id: 'dev', name: 'dev mode' } };
const step = (letter: string, op: string, displayName: string, opts: object) => ({
  id: letter.repeat(40),
  op,
  displayName,
  opts,
});

describe('The reason of a cancelled run', () => {
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
    const { body } = await service.waitFor(
      `/v1/events/${id}/runs`,
      (response) => response.body.data?.[0]?.run_started_at,
    );
    return body.data[0].run_id;
  }
  async function reasonOf(runId: string) {
    const path = `/v1/runs/${runId}`;
    const { body } = await service.waitFor(path, (response) => response.body.data?.status === 'Cancelled');
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
    expect(body.data.cancel_reason).to.deep.equal(BY_DEV_MODE);
    await service.post('/e/key', { name: 'trial/ended', data: {} });
    expect(await reasonOf(runId)).to.deep.equal(BY_DEV_MODE);
    const listed = await service.get('/v1/runs?status=Cancelled');
    expect(listed.body.data[0].cancel_reason).to.deep.equal(BY_DEV_MODE);
  });

  it('is the event that matched its cancel trigger', async () => {
    const runId = await startRun();
    const [eventId] = (await service.post('/e/key', { name: 'trial/ended', data: {} })).body.ids;
    expect(await reasonOf(runId)).to.deep.equal({ cause: 'event', id: eventId, by: null });
  });

  it('is the bulk cancellation that found it', async () => {
    const runId = await startRun();
    const started_before = new Date(Date.now() + 60_000).toISOString();
    const { body } = await service.post('/v1/cancellations', { app_id: 'shop', function_id: 'trial', started_before });
    expect(await reasonOf(runId)).to.deep.equal({ cause: 'bulk_cancellation', id: body.data.id, by: null });
  });

  it('is shown beside the steps in progress, which stay in the history as cancelled', async () => {
    host.on('trial', () => ({
      status: 206,
      body: [
        step('b', 'Sleep', 'a day', { duration: '1d' }),
        step('c', 'WaitForEvent', 'approval', {
          event: 'refund/approved',
          if: 'async.data.id == event.data.id',
          timeout: '2d',
        }),
        step('d', 'StepPlanned', 'charge', {}),
      ],
    }));
    const runId = await startRun();
    const pendingIn = (response: HttpResponse, status: string) =>
      response.body.data.history.filter((entry: { status: string }) => entry.status === status);
    const waiting = await service.waitFor(
      `/v1/runs/${runId}`,
      (response) => pendingIn(response, 'Waiting').length === 3,
    );
    await service.request('DELETE', `/v1/runs/${runId}`);
    const cancelled = pendingIn(await service.get(`/v1/runs/${runId}`), 'Cancelled');
    expect(cancelled.map(({ name, op }: { name: string; op: string }) => [name, op])).to.have.deep.members([
      ['a day', 'Sleep'],
      ['approval', 'WaitForEvent'],
      ['charge', 'StepPlanned'],
    ]);
    for (const entry of cancelled) {
      const { name, started_at, until } = entry;
      const before = pendingIn(waiting, 'Waiting').find((item: { name: string }) => item.name === name);
      expect({ started_at, until }).to.deep.equal({ started_at: before.started_at, until: before.until });
      expect(Date.parse(entry.ended_at)).to.be.at.least(Date.parse(started_at));
    }
    const wait = cancelled.find((entry: { name: string }) => entry.name === 'approval');
    expect(wait).to.include({ waits_for: 'refund/approved', if: 'async.data.id == event.data.id' });
  });
});

describe('The reason of a run that was cancelled by request', () => {
  let service: Service;
  let host: AppHost;
  before(async () => {
    service = await startService({ dev: false });
    host = await startAppHost();
    host.on('trial', () => SLEEPS);
    await host.register(service, [{ id: 'trial', triggers: [{ event: 'trial/begun' }] }], { appName: 'shop' });
  });
  after(async () => {
    await host.close();
    await service.stop();
  });

  it('names the user or the API key', async () => {
    await addUser(service, 'ada@example.com', 'member');
    const reasons = [];
    for (const headers of [await sessionHeaders(service, 'ada@example.com'), await keyHeaders(service, 'write')]) {
      const { body } = await service.post('/v1/functions/shop-trial/invoke', { data: {} }, service.apiHeaders);
      const path = `/v1/runs/${body.data.run_id}`;
      await service.waitFor(path, (response) => response.body.data?.run_started_at);
      await service.request('DELETE', path, undefined, headers);
      reasons.push((await service.get(path)).body.data.cancel_reason);
    }
    expect(reasons.map(({ cause, by: { kind, name } }) => [cause, kind, name])).to.deep.equal([
      ['request', 'user', 'ada@example.com'],
      ['request', 'api-key', 'write'],
    ]);
  });
});
