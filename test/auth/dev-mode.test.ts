import { get, request as rawRequest } from 'node:http';
import { expect } from 'chai';
import { type AppHost, startAppHost } from '../support/app-host.ts';
import { type Service, startService } from '../support/service.ts';

const LISTED = 'https://events.example.com';
const WEBHOOK = { name: 'x', transform: 'function transform(evt) { return { data: {}, ...evt }; }' };
const EVENT = '{"name":"dev/x","data":{}}';

describe('dev mode', () => {
  let service: Service;
  let host: AppHost;
  before(async () => {
    host = await startAppHost();
    service = await startService({ env: { DEV_ALLOWED_ORIGINS: `${LISTED}, http://dev.example:8288` } });
  });
  after(async () => {
    await service.stop();
    await host.close();
  });

  const ROUTES = [
    ['POST', '/e/any-key'],
    ['OPTIONS', '/e/any-key'],
    ['POST', '/v1/webhooks'],
    ['GET', '/v1/events'],
    ['GET', '/v0/runs/x/actions'],
    ['POST', '/fn/register'],
    ['POST', '/auth/sign-out'],
    ['GET', '/queues'],
    ['GET', '/'],
  ] as const;

  it('dev mode warns in its first log line that it is not for production', async () => {
    await service.logs('\n');
    expect(service.output().split('\n')[1]).to.include('not for production');
  });

  it('dev mode rejects requests from pages of other hosts at every route', async () => {
    for (const origin of ['https://evil.example', 'null', 'http://localhost.evil.example', `${LISTED}.evil.example`]) {
      for (const [method, path] of ROUTES) {
        const headers = { origin, 'content-type': 'text/plain' };
        const response = await service.request(method, path, method === 'POST' ? EVENT : undefined, headers);
        expect([response.status, response.body.code], `${origin} ${method} ${path}`).to.deep.equal([
          403,
          'origin_untrusted',
        ]);
        expect(response.headers.get('access-control-allow-origin'), path).to.equal(null);
      }
    }
    expect((await service.get('/v1/events?name=dev/x')).body.data).to.deep.equal([]);
  });

  it('dev mode says how to allow an origin, and what to do about a page without one', async () => {
    const rejected = async (origin: string) => (await service.post('/e/any-key', EVENT, { origin })).body.error;
    expect(await rejected('https://app.example:8443')).to.include('DEV_ALLOWED_ORIGINS=https://app.example:8443');
    for (const origin of ['null', 'file:///tmp/x.html', 'chrome-extension://abc']) {
      expect(await rejected(origin), origin)
        .to.include('Open the page by http://')
        .and.not.include('DEV_ALLOWED');
    }
  });

  it('dev mode rejects unknown host names and says how to allow one', async () => {
    for (const name of [
      'rebound.example',
      'localhost.evil.example',
      '127.0.0.1.evil.example',
      '10.0.0.1',
      'a.docker.internal',
    ]) {
      for (const [method, path] of ROUTES) expect((await sentTo(name, method, path)).status, path).to.equal(403);
    }
    const { body } = await sentTo('rebound.example', 'GET', '/v1/events');
    expect(body.error).to.include('DEV_ALLOWED_ORIGINS=http://rebound.example');
    const ofContainers = 'host.containers.internal:8288';
    const { body: unresolved } = await sentTo(ofContainers, 'GET', '/v1/events');
    expect(unresolved.error).to.include(`DEV_ALLOWED_ORIGINS=http://${ofContainers}`);
  });

  it('dev mode accepts the host names of this machine and of DEV_ALLOWED_ORIGINS', async () => {
    for (const name of [
      'localhost:1',
      '127.0.0.1',
      '127.3.2.1:99',
      '[::1]:80',
      '0.0.0.0:8288',
      '[::]',
      'shop.localhost',
      'dev.example',
      'events.example.com',
    ]) {
      expect((await sentTo(name, 'GET', '/v1/events')).status, name).to.equal(200);
    }
  });

  it('dev mode lets local and allowed pages send events and read the response (CORS)', async () => {
    for (const origin of ['http://localhost:5173', service.url, 'http://[::1]:3000', LISTED]) {
      const headers = { origin, 'content-type': 'application/json' };
      const sent = await service.post('/e/any-key', EVENT, headers);
      expect(sent.status, origin).to.equal(200);
      expect(sent.headers.get('access-control-allow-origin')).to.equal(origin);
      expect(sent.headers.get('vary')?.toLowerCase()).to.include('origin');
      const rejected = await service.post('/e/any-key', {}, headers);
      expect(rejected.status, origin).to.equal(400);
      expect(rejected.headers.get('access-control-allow-origin')).to.equal(origin);
      expect(rejected.headers.get('vary')?.toLowerCase()).to.include('origin');
      const preflight = await service.request('OPTIONS', '/e/any-key', undefined, { origin });
      expect(preflight.status).to.equal(204);
      expect(preflight.headers.get('access-control-allow-origin')).to.equal(origin);
      expect(preflight.headers.get('access-control-allow-private-network')).to.equal('true');
      expect((await service.post('/v1/webhooks', WEBHOOK, headers)).status).to.equal(201);
    }
    const api = await service.get('/v1/events', { origin: LISTED });
    expect(api.headers.get('access-control-allow-origin')).to.equal(null);
  });

  it('dev mode accepts programs, which send no Origin header', async () => {
    const sent = await service.post('/e/any-key', EVENT, { 'content-type': 'application/json' });
    expect([sent.status, sent.headers.get('access-control-allow-origin')]).to.deep.equal([200, null]);
    expect((await service.post('/v1/webhooks', WEBHOOK)).status).to.equal(201);
  });

  it('dev mode rejects a foreign Host header even when a trusted proxy forwards a local one', async () => {
    const proxied = await startService({ workers: 0, env: { TRUST_PROXY: '1' } });
    try {
      const { status } = await sentTo(
        'rebound.example',
        'GET',
        '/v1/events',
        { 'x-forwarded-host': 'localhost' },
        proxied,
      );
      expect(status).to.equal(403);
      const foreign = await sentTo(
        'localhost',
        'GET',
        '/v1/events',
        { 'x-forwarded-host': 'rebound.example' },
        proxied,
      );
      expect(foreign.status).to.equal(403);
    } finally {
      await proxied.stop();
    }
  });

  describe('environments of events in dev mode', () => {
    const selecting = (env: string | undefined) => (env ? { 'x-service-env': env } : {});
    const send = (path: string, env?: string) => service.post(path, { name: 'placed/x', data: {} }, selecting(env));
    const isIn = async (env: string, id: string) => {
      await service.waitFor(`/v1/events/${id}?x-service-env=${env}`, ({ status }) => status === 200);
    };
    before(async () => {
      await service.post('/v1/environments', { name: 'branch-a', kind: 'branch' });
      await service.post('/v1/environments', { name: 'closed', kind: 'branch' });
      await service.post('/v1/environments/closed/archive');
    });

    it('dev mode accepts an unknown event key for the selected environment, by default production', async () => {
      await isIn('production', (await send('/e/whatever')).body.ids[0]);
      await isIn('production', (await send('/e/whatever', 'production')).body.ids[0]);
      await isIn('branch-a', (await send('/e/whatever', 'branch-a')).body.ids[0]);
      await isIn('branch-a', (await send('/e/whatever?x-service-env=branch-a')).body.ids[0]);
      const unknown = await send('/e/whatever', 'nowhere');
      expect([unknown.status, unknown.body.code]).to.deep.equal([404, 'environment_unknown']);
      expect((await send('/e/whatever', 'closed')).body.code).to.equal('environment_archived');
    });

    it('dev mode treats a known event key like production mode', async () => {
      const made = await service.post('/v1/event-keys', { name: 'k', environment: 'branches' });
      const path = `/e/${made.body.data.secret}`;
      expect((await send(path)).body.code).to.equal('environment_missing');
      expect((await send(path, 'production')).body.code).to.equal('environment_mismatch');
      expect((await send(path, 'nowhere')).body.code).to.equal('environment_unknown');
      await isIn('branch-a', (await send(path, 'branch-a')).body.ids[0]);
    });

    it('dev mode holds webhook events without an environment, like production mode', async () => {
      const { body } = await service.post('/v1/webhooks', { ...WEBHOOK, environment: 'branches' });
      const path = new URL(body.data.url).pathname;
      await isIn('branch-a', (await send(path, 'branch-a')).body.ids[0]);
      for (const [selection, reason] of [
        [undefined, 'selection_missing'],
        ['nowhere', 'environment_unknown'],
        ['production', 'environment_mismatch'],
      ] as const) {
        const [id] = (await send(path, selection)).body.ids;
        expect((await service.get(`/v1/holding/${id}`)).body.data.reason).to.equal(reason);
      }
    });

    it('dev mode sends an event of an unknown key to the functions of the selected environment', async () => {
      host.on('f', () => ({ body: 'in the branch' }));
      const registered = await host.register(service, [{ id: 'f', triggers: [{ event: 'branch/x' }] }], {
        headers: { 'x-service-env': 'branch-b' },
      });
      expect(registered.status, JSON.stringify(registered.body)).to.equal(200);
      const sent = await service.post('/e/key', { name: 'branch/x', data: {} }, { 'x-service-env': 'branch-b' });
      const runs = await service.waitFor(
        `/v1/events/${sent.body.ids[0]}/runs?x-service-env=branch-b`,
        ({ body }) => body.data?.[0]?.status === 'Completed',
      );
      expect(runs.body.data[0].output).to.equal('in the branch');
      expect((await service.get('/v1/functions')).body.data).to.deep.equal([]);
    });
  });

  /** What a page sees whose host name resolves to this service (DNS rebinding). */
  function sentTo(
    name: string,
    method: string,
    path: string,
    headers: Record<string, string> = {},
    to = service,
    // biome-ignore lint/suspicious/noExplicitAny: tests say what they expect of it
  ): Promise<{ status: number | undefined; body: any }> {
    const { promise, resolve, reject } = Promise.withResolvers<{ status: number | undefined; body: unknown }>();
    const ask = method === 'GET' ? get : rawRequest;
    ask(to.url + path, { method, headers: { ...headers, host: name } }, async (response) => {
      const text = Buffer.concat(await Array.fromAsync(response)).toString();
      resolve({ status: response.statusCode, body: text.startsWith('{') ? JSON.parse(text) : text });
    })
      .on('error', reject)
      .end();
    return promise;
  }
});
