import { createHash } from 'node:crypto';
import { expect } from 'chai';
import Koa from 'koa';
import { type ClientOptions, Tidegate } from 'tidegate';
import { serve as serveKoa } from 'tidegate/koa';
import { serve } from 'tidegate/node';
import { useCleanEnv, useServers } from './servers.ts';

const SIGNING_KEY = 'signkey-test-0123456789ABcdef';
const REGISTERED = { body: { ok: true, modified: true } };

function shop(options: Partial<ClientOptions>) {
  const client = new Tidegate({ id: 'shop', isDev: true, ...options });
  const sendReceipt = client.createFunction(
    {
      id: 'send-receipt',
      name: 'Send receipt',
      retries: 2,
      triggers: [{ event: 'order/paid', if: 'event.data.total > 10' }, { cron: '0 * * * *' }],
    },
    () => {},
  );
  const audit = client.createFunction({ id: 'audit', triggers: { event: 'order/*' } }, () => {});
  return { client, functions: [sendReceipt, audit] };
}

describe('Registering a TypeScript app', () => {
  useCleanEnv();
  const { listen, startService, deadUrl } = useServers();

  async function put(url: string, headers: Record<string, string> = {}) {
    const response = await fetch(url, { method: 'PUT', headers });
    return { status: response.status, headers: response.headers, body: JSON.parse(await response.text()) };
  }

  it('repeats the ID of the what-if that asks for its registration', async () => {
    const service = await startService(REGISTERED);
    const url = `${await listen(serve(shop({ baseUrl: service.url })))}/api/service`;
    await put(url, { 'x-service-what-if': '01K7' });
    await put(url);
    expect(service.requests.map(({ headers }) => headers['x-service-what-if'])).to.deep.equal(['01K7', undefined]);
  });

  it('sends its URL and its functions to the service', async () => {
    const service = await startService(REGISTERED);
    const url = `${await listen(serve(shop({ baseUrl: service.url })))}/api/service`;
    const response = await put(url);
    expect(response).to.deep.include({ status: 200, body: { message: 'Registered', modified: true } });
    expect(response.headers.get('x-service-sdk')).to.equal('ts:v0.1.0');

    const [request] = service.requests;
    expect(request).to.include({ method: 'POST', url: '/fn/register' });
    expect(request?.headers).to.include({
      'content-type': 'application/json',
      'x-service-sdk': 'ts:v0.1.0',
      'x-service-framework': 'nodejs',
      'x-service-expected-server-kind': 'dev',
    });
    expect(request?.headers).not.to.have.any.keys('authorization', 'x-service-env');
    expect(JSON.parse(request?.body ?? '')).to.deep.equal({
      url,
      deployType: 'ping',
      appName: 'shop',
      sdk: 'ts:v0.1.0',
      v: '0.1',
      framework: 'nodejs',
      functions: [
        {
          id: 'shop-send-receipt',
          name: 'Send receipt',
          triggers: [{ event: 'order/paid', expression: 'event.data.total > 10' }, { cron: '0 * * * *' }],
          steps: {
            step: {
              id: 'step',
              name: 'step',
              runtime: { type: 'http', url: `${url}?fnId=shop-send-receipt&stepId=step` },
              retries: { attempts: 2 },
            },
          },
        },
        {
          id: 'shop-audit',
          name: 'audit',
          triggers: [{ event: 'order/*' }],
          steps: {
            step: {
              id: 'step',
              name: 'step',
              runtime: { type: 'http', url: `${url}?fnId=shop-audit&stepId=step` },
              retries: { attempts: 4 },
            },
          },
        },
      ],
    });
  });

  it('sends the flow control of a function unchanged', async () => {
    const service = await startService(REGISTERED);
    const client = new Tidegate({ id: 'shop', isDev: true, baseUrl: service.url });
    const flow = {
      throttle: { limit: 2, period: '1m' },
      rateLimit: { limit: 3, period: '1h', key: 'event.data.customer' },
      debounce: { period: '5s' },
      priority: { run: 'event.data.vip ? 60 : 0' },
      singleton: { mode: 'skip' },
      idempotency: 'event.data.id',
      timeouts: { start: '1h', finish: '1d' },
    } as const;
    const batchEvents = { maxSize: 10, timeout: '5s', if: 'event.data.small' };
    const limit = { limit: 1, key: 'event.data.id' };
    const cancel = [{ event: 'order/refunded', if: 'event.data.id == async.data.id', timeout: '1d' }];
    const triggers = { event: 'order/paid' } as const;
    const functions = [
      client.createFunction({ id: 'all', triggers, concurrency: 5, cancelOn: cancel, ...flow }, () => {}),
      client.createFunction({ id: 'keyed', triggers, concurrency: limit }, () => {}),
      client.createFunction({ id: 'batched', triggers, batchEvents }, () => {}),
      client.createFunction(
        { id: 'runs', triggers, concurrency: { fn: limit, step: [limit, { limit: 9 }] } },
        () => {},
      ),
    ];
    await put(await listen(serve({ client, functions })));
    const [all, keyed, batched, runs] = JSON.parse(service.requests[0]?.body ?? '').functions;
    expect(all).to.deep.include({ concurrency: 5, cancel, ...flow });
    expect(all).not.to.have.property('cancelOn');
    expect(keyed.concurrency).to.deep.equal([limit]);
    expect(batched.batchEvents).to.deep.equal(batchEvents);
    expect(runs.concurrency).to.deep.equal({ fn: [limit], step: [limit, { limit: 9 }] });
  });

  it('registers onFailure as a separate function, and runs it with the error', async () => {
    const service = await startService(REGISTERED);
    const client = new Tidegate({ id: 'shop', isDev: true, baseUrl: service.url });
    const fn = client.createFunction(
      {
        id: 'fn',
        triggers: { event: 'order/paid' },
        onFailure: ({ error, event, step }) =>
          step.run('tell', () => [error instanceof Error, error.name, error.message, event.data.event.data.total]),
      },
      () => {},
    );
    const url = await listen(serve({ client, functions: [fn] }));
    await put(url);
    const { functions } = JSON.parse(service.requests[0]?.body ?? '');
    expect(functions[1]).to.deep.include({
      id: 'shop-fn-failure',
      name: 'fn (failure)',
      triggers: [{ event: 'inngest/function.failed', expression: "event.data.function_id == 'shop-fn'" }],
    });
    const event = {
      name: 'inngest/function.failed',
      data: { error: { name: 'RangeError', message: 'too far' }, event: { name: 'order/paid', data: { total: 3 } } },
    };
    const body = JSON.stringify({ event, ctx: { run_id: '01R' } });
    const response = await fetch(functions[1].steps.step.runtime.url, { method: 'POST', body });
    const [op] = (await response.json()) as { data: unknown }[];
    expect(op?.data).to.deep.equal([true, 'RangeError', 'too far', 3]);
  });

  it('ignores the Host header of the registration request outside dev mode', async () => {
    const service = await startService(REGISTERED);
    const app = shop({ isDev: false, baseUrl: service.url, signingKey: SIGNING_KEY });
    const url = await listen(serve(app));
    const { status, body } = await put(`${url}/api/service`, { host: 'evil.example' });
    expect(status).to.equal(500);
    expect(body.message).to.include('SERVICE_SERVE_ORIGIN').and.include('serveOrigin').and.include('SERVICE_DEV=1');
    expect(service.requests).to.have.length(0);

    process.env.SERVICE_SERVE_ORIGIN = 'https://shop.example/';
    await put(`${url}/api/service`, { host: 'evil.example' });
    expect(JSON.parse(service.requests[0]?.body ?? '').url).to.equal('https://shop.example/api/service');
  });

  it('names an invalid serve origin in its error', async () => {
    const app = shop({ baseUrl: 'http://127.0.0.1:1' });
    for (const serveOrigin of ['shop.example', 'https://shop.example/api']) {
      const { status, body } = await put(await listen(serve({ ...app, serveOrigin })));
      expect(status).to.equal(500);
      expect(body.message).to.include(JSON.stringify(serveOrigin));
    }
  });

  it('authenticates with the fallback key if the service does not know the first key', async () => {
    const service = await startService({ status: 401, body: { error: 'Who are you?' } }, REGISTERED);
    const keys = { signingKey: SIGNING_KEY, signingKeyFallback: 'signkey-test-00ff' };
    const app = shop({ isDev: false, baseUrl: service.url, ...keys });
    const { status } = await put(await listen(serve({ ...app, serveOrigin: 'https://shop.example' })));
    expect(status).to.equal(200);
    const hash = createHash('sha256').update(Buffer.from('00ff', 'hex')).digest('hex');
    expect(service.requests[1]?.headers.authorization).to.equal(`Bearer signkey-test-${hash}`);
  });

  it('rejects a function of another app', () => {
    const { functions } = shop({});
    const other = new Tidegate({ id: 'other', isDev: true });
    expect(() => serve({ client: other, functions })).to.throw(TypeError, 'of the app "shop", not "other"');
  });

  it('also works from Koa', async () => {
    const service = await startService(REGISTERED);
    const app = new Koa().use(serveKoa({ ...shop({ baseUrl: service.url }), path: '/api/service' }));
    const url = `${await listen(app.callback())}/api/service`;
    expect((await put(url)).status).to.equal(200);
    expect(JSON.parse(service.requests[0]?.body ?? '')).to.include({ url, framework: 'koa' });
  });

  it('sends the hash of the signing key and its environment outside dev mode', async () => {
    const service = await startService(REGISTERED);
    const options = { isDev: false, baseUrl: service.url, signingKey: SIGNING_KEY, env: 'pr-12' };
    await put(await listen(serve({ ...shop(options), serveOrigin: 'https://shop.example' })));
    const hash = createHash('sha256').update(Buffer.from('0123456789ABcdef', 'hex')).digest('hex');
    expect(service.requests[0]?.headers).to.include({
      authorization: `Bearer signkey-test-${hash}`,
      'x-service-env': 'pr-12',
      'x-service-expected-server-kind': 'cloud',
    });
  });

  it('sends an https URL behind a TLS proxy, but ignores x-forwarded-host', async () => {
    const service = await startService(REGISTERED);
    const url = await listen(serve(shop({ baseUrl: service.url })));
    await put(`${url}/hooks?x=1`, { 'x-forwarded-proto': 'https, http', 'x-forwarded-host': 'evil.example' });
    expect(JSON.parse(service.requests[0]?.body ?? '').url).to.equal(`${url.replace('http:', 'https:')}/hooks`);
  });

  it('sends the configured URL', async () => {
    const service = await startService(REGISTERED);
    const options = { ...shop({ baseUrl: service.url }), serveOrigin: 'https://shop.example/', path: '/api/service' };
    await put(`${await listen(serve(options))}/api/service`);
    expect(JSON.parse(service.requests[0]?.body ?? '').url).to.equal('https://shop.example/api/service');
  });

  it('returns the message of the service', async () => {
    const service = await startService({ body: { ok: true, modified: false, message: 'Nothing has changed' } });
    const { status, body } = await put(await listen(serve(shop({ baseUrl: service.url }))));
    expect(status).to.equal(200);
    expect(body).to.deep.equal({ message: 'Nothing has changed', modified: false });
  });

  it('responds with 500 and the reason if the service rejects the registration', async () => {
    const service = await startService({ status: 400, body: { error: 'Function "shop-audit": bad trigger' } });
    const { status, body } = await put(await listen(serve(shop({ baseUrl: service.url }))));
    expect(status).to.equal(500);
    expect(body.message).to.include(service.url).and.include('Function "shop-audit": bad trigger');
  });

  it('responds with 500 if the base URL is not the service', async () => {
    const service = await startService({ status: 404, body: 'Not found' });
    const { status, body } = await put(await listen(serve(shop({ baseUrl: service.url }))));
    expect(status).to.equal(500);
    expect(body.message).to.include('it answered 404');
  });

  it('responds with 500 if the service cannot be reached', async () => {
    const baseUrl = await deadUrl();
    const { status, body } = await put(await listen(serve(shop({ baseUrl }))));
    expect(status).to.equal(500);
    expect(body.message).to.include(baseUrl).and.include('ECONNREFUSED');
  });

  it('responds with 500 and names the variable if the signing key is missing', async () => {
    const service = await startService(REGISTERED);
    const { status, body } = await put(
      await listen(serve({ ...shop({ isDev: false, baseUrl: service.url }), serveOrigin: 'https://shop.example' })),
    );
    expect(status).to.equal(500);
    expect(body.message).to.include('SERVICE_SIGNING_KEY');
    expect(service.requests).to.have.length(0);
  });
});
