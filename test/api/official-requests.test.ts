import { expect } from 'chai';
import { hashedKey } from '../../src/functions/signing.ts';
import { type AppHost, startAppHost } from '../support/app-host.ts';
import { type Headers, keyHeaders } from '../support/auth.ts';
import type { HttpResponse } from '../support/http.ts';
import { type Service, startService } from '../support/service.ts';
import { until } from '../support/until.ts';

const FAILS = { status: 400, headers: { 'x-service-no-retry': 'true' }, body: { name: 'Bad', message: 'no' } };

describe('Requests that users of the official SDKs send', () => {
  let service: Service;
  let host: AppHost;
  let key: string;
  let byKey: Headers;
  before(async () => {
    service = await startService({ dev: false });
    host = await startAppHost();
    host.on('fails', () => FAILS);
    host.on('works', () => ({ status: 200, body: { sum: 3 } }));
    host.offer(
      service,
      [
        { id: 'works', triggers: [{ event: 'rest/works' }] },
        { id: 'fails', triggers: [{ event: 'rest/fails' }] },
      ],
      { appName: 'shop' },
    );
    await service.post('/v1/apps', { url: host.url }, service.apiHeaders);
    const response = await service.get('/v1/environments/production/signing-key', service.apiHeaders);
    key = response.body.data.current;
    byKey = { authorization: `Bearer ${hashedKey(key)}` };
  });
  after(async () => {
    await host.close();
    await service.stop();
  });

  const waitFor = (path: string, condition: (response: HttpResponse) => boolean) =>
    until(
      async () => {
        const response = await service.get(path, byKey);
        return condition(response) && response;
      },
      { describe: () => path },
    );

  it('can send signals with the signing key only', async () => {
    const signal = { signal: 'nobody waits', data: 1 };
    expect((await service.post('/v1/signals', signal)).status).to.equal(401);
    const { status, body } = await service.post('/v1/signals', signal, byKey);
    expect([status, body.code]).to.deep.equal([404, 'not_found']);
  });

  async function send(name: string): Promise<string> {
    return (await service.post(service.eventPath, { name, data: { n: 1 } })).body.ids[0];
  }
  const ended = (eventId: string) => waitFor(`/v1/events/${eventId}/runs`, ({ body }) => body.data?.[0]?.ended_at);

  it('are authenticated by the signing key of the selected environment, hashed or plain', async () => {
    for (const secret of [key, hashedKey(key), hashedKey(key).replace(/^signkey-\w+-/, '')]) {
      expect((await service.get('/v1/events', { authorization: `Bearer ${secret}` })).status).to.equal(200);
    }
    expect((await service.get('/v1/events', { authorization: 'Bearer signkey-production-00' })).status).to.equal(401);
    const elsewhere = { ...byKey, 'x-inngest-env': 'elsewhere' };
    expect((await service.get('/v1/events', elsewhere)).status).to.equal(401);
  });

  it('have no access to keys, webhooks and users with a signing key', async () => {
    for (const path of ['/v1/api-keys', '/v1/webhooks', '/v1/users', '/v1/environments/production/signing-key']) {
      const { status, body } = await service.get(path, byKey);
      expect([status, body.code], path).to.deep.equal([403, 'access_denied']);
    }
    expect((await service.get('/v1/stream', byKey)).status).to.equal(403);
  });

  it('read events by their internal ID', async () => {
    const id = await send('rest/none');
    const { body } = await waitFor(`/v1/events/${id}`, ({ status }) => status === 200);
    expect(body.data).to.include({ id, internal_id: id, name: 'rest/none', receivedAt: body.data.received_at });
    expect(body.data.environmentID).to.match(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(body.metadata).to.include({ cached_until: null }).and.to.have.property('fetched_at');
    const own = await service.get(`/v1/events/${id}`, service.apiHeaders);
    expect(own.body.data.id).to.equal(id);
    const sent = await service.post(service.eventPath, { name: 'rest/none', id: 'of-the-sender', data: {} });
    const [kept] = sent.body.ids;
    const byHeader = { ...service.apiHeaders, 'x-inngest-sdk': 'inngest-js:v4' };
    const { body: mine } = await service.stored(kept);
    expect(mine.data.id).to.equal('of-the-sender');
    expect((await service.get(`/v1/events/${kept}`, byHeader)).body.data.id).to.equal(kept);
  });

  it('page through events by internal ID', async () => {
    const ids = [await send('rest/page'), await send('rest/page'), await send('rest/page')];
    await waitFor('/v1/events?name=rest/page', ({ body }) => body.data?.length === 3);
    const page = async (cursor: string) =>
      (await service.get(`/v1/events?name=rest/page&limit=1&cursor=${cursor}`, byKey)).body.data[0].id;
    expect(await page(ids[2] as string)).to.equal(ids[1]);
    expect(await page(ids[1] as string)).to.equal(ids[0]);
    expect((await service.get(`/v1/events?cursor=${'0'.repeat(26)}`, byKey)).status).to.equal(404);
  });

  it('read runs: the output of a failed run is its error, and a new run is Running', async () => {
    const [run] = (await ended(await send('rest/fails'))).body.data;
    expect(run).to.deep.include({ status: 'Failed', output: { name: 'Bad', message: 'no' } });
    expect(run).to.include({ function_version: 1, original_run_id: null, batch_id: null, cron: null });
    const { body } = await service.get(`/v1/runs/${run.run_id}`, byKey);
    expect(body.data).to.deep.include({ status: 'Failed', output: { name: 'Bad', message: 'no' } });
    expect((await service.get(`/v1/runs/${run.run_id}/jobs`, byKey)).body.data).to.deep.equal([]);
    const future = { name: 'rest/works', data: {}, ts: Date.now() + 60_000 };
    const [id] = (await service.post(service.eventPath, future)).body.ids;
    const path = `/v1/events/${id}/runs`;
    const [queued] = (await waitFor(path, ({ body }) => body.data?.length === 1)).body.data;
    expect(queued).to.include({ status: 'Running', run_started_at: queued.queued_at, ended_at: null });
    const [own] = (await service.get(path, service.apiHeaders)).body.data;
    expect(own).to.include({ status: 'Queued', run_started_at: null });
    const jobs = await waitFor(`/v1/runs/${queued.run_id}/jobs`, ({ body }) => body.data?.length === 1);
    expect(jobs.body.data[0]).to.include({ position: 0, attempt: 0 });
  });

  it('list the functions of an app', async () => {
    const { body } = await service.get('/v1/apps/shop/functions', byKey);
    expect(body.data.map(({ id }: { id: string }) => id)).to.deep.equal(['shop-fails', 'shop-works']);
    expect((await service.get('/v1/apps/none/functions', byKey)).status).to.equal(404);
  });

  describe('invoke a function', () => {
    it('by its ID', async () => {
      const { status, body } = await service.post('/invoke/shop-works', { data: { a: 1 }, user: { id: 7 } }, byKey);
      expect(status, JSON.stringify(body)).to.equal(200);
      expect(body).to.deep.include({ id: body.data.internal_id, status: 200 });
      const call = await host.nextCall('works');
      expect(call.body.event).to.deep.include({ name: 'inngest/function.invoked', user: { id: 7 } });
      expect((await service.post('/invoke/none', { data: {} }, byKey)).status).to.equal(404);
    });

    it('by its app, once for each idempotency key', async () => {
      const invoke = (body: object) => service.post('/v2/apps/shop/functions/works/invoke', body, byKey);
      const first = await invoke({ data: { b: 1 }, idempotencyKey: 'k1' });
      expect(first.status, JSON.stringify(first.body)).to.equal(200);
      const again = await invoke({ data: { b: 1 }, idempotencyKey: 'k1' });
      expect([again.status, again.body.data]).to.deep.equal([409, first.body.data]);
      const other = await invoke({ data: { b: 1 }, idempotency_key: 'k2' });
      expect(other.body.data.runId).to.not.equal(first.body.data.runId);
      expect((await invoke({})).status).to.equal(400);
      expect((await invoke({ data: null })).status).to.equal(400);
    });
  });

  it('get an error that names a feature that does not exist', async () => {
    const { status, body } = await service.post('/v1/traces/userland', {}, byKey);
    expect([status, body.code]).to.deep.equal([501, 'feature_unsupported']);
    expect(body.error).to.include('extended traces');
    expect((await service.post('/v1/traces/userland', {})).status).to.equal(401);
    const reader = await keyHeaders(service, 'read');
    expect((await service.get('/v0/gql', reader)).body.error).to.include('GraphQL');
  });
});

describe('GET /dev', () => {
  it('lists all functions for tools of the official SDKs, in dev mode only', async () => {
    const service = await startService({ workers: 0 });
    const host = await startAppHost();
    try {
      await host.register(service, [{ id: 'f', triggers: [{ event: 'x' }] }]);
      const { body } = await service.get('/dev');
      expect(body.functions[0]).to.deep.include({ id: 'test-app-f', triggers: [{ event: 'x' }] });
      expect(body).to.include({ isMissingSigningKey: false, authed: false });
    } finally {
      await host.close();
      await service.stop();
    }
  });
});
