import { expect } from 'chai';
import { Tidegate } from 'tidegate';
import { serve as serveCloudflare } from 'tidegate/cloudflare';
import { serve as serveLambda } from 'tidegate/lambda';
import { useCleanEnv, useServers } from './servers.ts';

describe('The adapter for Cloudflare', () => {
  useCleanEnv();
  const { startService } = useServers();
  const request = (method: string, body?: string) =>
    new Request('https://shop.example/api/service?fnId=shop-fn&stepId=step', { method, ...(body && { body }) });

  it('reads settings from the bindings of each request, also for events that functions send', async () => {
    const [first, second] = [await startService(), await startService()];
    const client = new Tidegate({ id: 'shop' });
    const fn = client.createFunction({ id: 'fn', triggers: { event: 'a' } }, async ({ step }) => {
      await client.send({ name: 'between/steps', data: {} });
      await step.sendEvent('tell', { name: 'from/step', data: {} });
    });
    const worker = serveCloudflare({ client, functions: [fn] });
    const call = JSON.stringify({ event: { name: 'a', data: {}, id: '01E', ts: 1 }, ctx: { run_id: '01R' } });
    const bindings = (url: string) => ({
      SERVICE_DEV: url,
      SERVICE_EVENT_KEY: 'key-of-worker',
      SERVICE_KV: { get() {} },
    });
    expect((await worker(request('POST', call), bindings(first.url))).status).to.equal(206);
    expect((await worker({ request: request('POST', call), env: bindings(second.url) })).status).to.equal(206);
    for (const { requests } of [first, second]) {
      expect(requests.map(({ url }) => url)).to.deep.equal(['/e/key-of-worker', '/e/key-of-worker']);
    }
    const { mode } = (await (await worker(request('GET'), {})).json()) as { mode: string };
    expect(mode).to.equal('cloud');
  });
});

describe('The adapter for AWS Lambda', () => {
  useCleanEnv();
  const { startService } = useServers();

  it('registers the path with the stage of a REST API', async () => {
    const service = await startService({ body: { ok: true, modified: true } });
    const client = new Tidegate({ id: 'shop', isDev: true, baseUrl: service.url });
    const handler = serveLambda({ client, functions: [] });
    const { statusCode } = await handler({
      path: '/api/service',
      httpMethod: 'PUT',
      headers: { Host: 'abc.execute-api.eu-central-1.amazonaws.com', 'X-Forwarded-Proto': 'https' },
      requestContext: { path: '/prod/api/service' },
    });
    expect(statusCode).to.equal(200);
    const { url } = JSON.parse(service.requests[0]?.body ?? '');
    expect(url).to.equal('https://abc.execute-api.eu-central-1.amazonaws.com/prod/api/service');
  });

  it('responds to an event without headers or body', async () => {
    const handler = serveLambda({ client: new Tidegate({ id: 'shop', isDev: true }), functions: [] });
    const { statusCode, isBase64Encoded } = await handler({
      rawPath: '/',
      requestContext: { http: { method: 'GET' } },
    });
    expect([statusCode, isBase64Encoded]).to.deep.equal([200, false]);
    expect((await handler({})).statusCode).to.equal(200);
  });
});
