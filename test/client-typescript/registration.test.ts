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

  it('tells the service its address and its functions', async () => {
    const service = await startService(REGISTERED);
    const url = `${await listen(serve(shop({ baseUrl: service.url })))}/api/service`;
    const answer = await put(url);
    expect(answer).to.deep.include({ status: 200, body: { message: 'Registered', modified: true } });
    expect(answer.headers.get('x-service-sdk')).to.equal('ts:v0.1.0');

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

  it('works from Koa too', async () => {
    const service = await startService(REGISTERED);
    const app = new Koa().use(serveKoa({ ...shop({ baseUrl: service.url }), path: '/api/service' }));
    const url = `${await listen(app.callback())}/api/service`;
    expect((await put(url)).status).to.equal(200);
    expect(JSON.parse(service.requests[0]?.body ?? '')).to.include({ url, framework: 'koa' });
  });

  it('proves itself outside dev mode, with the hash of the signing key, and names its environment', async () => {
    const service = await startService(REGISTERED);
    const options = { isDev: false, baseUrl: service.url, signingKey: SIGNING_KEY, env: 'pr-12' };
    await put(await listen(serve(shop(options))));
    const hash = createHash('sha256').update(Buffer.from('0123456789ABcdef', 'hex')).digest('hex');
    expect(service.requests[0]?.headers).to.include({
      authorization: `Bearer signkey-test-${hash}`,
      'x-service-env': 'pr-12',
      'x-service-expected-server-kind': 'cloud',
    });
  });

  it('gives the https address behind a proxy that ends TLS, but believes nobody about the host', async () => {
    const service = await startService(REGISTERED);
    const url = await listen(serve(shop({ baseUrl: service.url })));
    await put(`${url}/hooks?x=1`, { 'x-forwarded-proto': 'https, http', 'x-forwarded-host': 'evil.example' });
    expect(JSON.parse(service.requests[0]?.body ?? '').url).to.equal(`${url.replace('http:', 'https:')}/hooks`);
  });

  it('gives the address it was configured with', async () => {
    const service = await startService(REGISTERED);
    const options = { ...shop({ baseUrl: service.url }), serveOrigin: 'https://shop.example/', path: '/api/service' };
    await put(`${await listen(serve(options))}/api/service`);
    expect(JSON.parse(service.requests[0]?.body ?? '').url).to.equal('https://shop.example/api/service');
  });

  it("answers in the service's words", async () => {
    const service = await startService({ body: { ok: true, modified: false, message: 'Nothing has changed' } });
    const { status, body } = await put(await listen(serve(shop({ baseUrl: service.url }))));
    expect(status).to.equal(200);
    expect(body).to.deep.equal({ message: 'Nothing has changed', modified: false });
  });

  it('answers 500 with the reason when the service refuses', async () => {
    const service = await startService({ status: 400, body: { error: 'Function "shop-audit": bad trigger' } });
    const { status, body } = await put(await listen(serve(shop({ baseUrl: service.url }))));
    expect(status).to.equal(500);
    expect(body.message).to.include(service.url).and.include('Function "shop-audit": bad trigger');
  });

  it('answers 500 when something else answers at the address of the service', async () => {
    const service = await startService({ status: 404, body: 'Not found' });
    const { status, body } = await put(await listen(serve(shop({ baseUrl: service.url }))));
    expect(status).to.equal(500);
    expect(body.message).to.include('it answered 404');
  });

  it('answers 500 when the service cannot be reached', async () => {
    const baseUrl = await deadUrl();
    const { status, body } = await put(await listen(serve(shop({ baseUrl }))));
    expect(status).to.equal(500);
    expect(body.message).to.include(baseUrl).and.include('ECONNREFUSED');
  });

  it('answers 500 and names the variable when it lacks the signing key', async () => {
    const service = await startService(REGISTERED);
    const { status, body } = await put(await listen(serve(shop({ isDev: false, baseUrl: service.url }))));
    expect(status).to.equal(500);
    expect(body.message).to.include('SERVICE_SIGNING_KEY');
    expect(service.requests).to.have.length(0);
  });
});
