import { expect } from 'chai';
import { Tidegate } from 'tidegate';
import { serve } from 'tidegate/fetch';
import { rejection, useCleanEnv, useServers } from './servers.ts';

const SIGNING_KEY = 'signkey-test-0123456789abcdef';
const event = { name: 'order/paid', data: {} };

describe('A message of the TypeScript client names SERVICE_DEV and the port', () => {
  useCleanEnv();
  const { startService, deadUrl } = useServers();

  async function registered(client: Tidegate): Promise<string> {
    const url = 'http://127.0.0.1:3000/api/service';
    const response = await serve({ client, functions: [], serveOrigin: 'http://127.0.0.1:3000' })(
      new Request(url, { method: 'PUT' }),
    );
    return ((await response.json()) as { message: string }).message;
  }

  it('when no service listens where an app in dev mode looks for it', async () => {
    const baseUrl = await deadUrl();
    const client = new Tidegate({ id: 'shop', isDev: true, baseUrl });
    for (const message of [await registered(client), (await rejection(client.send(event))).message]) {
      expect(message)
        .to.include(`The service at ${baseUrl} could not be reached`)
        .and.include('set SERVICE_DEV to its address');
      expect(message).to.include('port 8288');
    }
  });

  it('when the service responds with 401 to an app in production mode', async () => {
    const service = await startService({ status: 401, body: { error: 'The key is not valid', code: 'unauthorized' } });
    const client = new Tidegate({
      id: 'shop',
      isDev: false,
      baseUrl: service.url,
      eventKey: 'k',
      signingKey: SIGNING_KEY,
    });
    for (const message of [await registered(client), (await rejection(client.send(event))).message]) {
      expect(message).to.include('The key is not valid').and.include('The app is in production mode');
      expect(message).to.include('SERVICE_DEV=1').and.include('port 8288');
    }
  });

  it('when the service responds with 401 to an app in dev mode', async () => {
    const service = await startService({ status: 401, body: { error: 'The key is not valid', code: 'unauthorized' } });
    const client = new Tidegate({ id: 'shop', isDev: true, baseUrl: service.url });
    for (const message of [await registered(client), (await rejection(client.send(event))).message]) {
      expect(message).to.include('The app is in dev mode').and.include('unset SERVICE_DEV');
    }
  });

  it('when a service in dev mode calls an app in production mode', async () => {
    const client = new Tidegate({ id: 'shop', isDev: false, signingKey: SIGNING_KEY });
    const request = new Request('http://127.0.0.1:3000/?fnId=shop-fn&stepId=step', { method: 'POST', body: '{}' });
    const response = await serve({ client, functions: [] })(request);
    const { message } = (await response.json()) as { message: string };
    expect([response.status, /SERVICE_DEV=1/.test(message), /port 8288/.test(message)]).to.deep.equal([
      401,
      true,
      true,
    ]);
  });

  it('when an app in production mode has no keys', async () => {
    const error = await rejection(new Tidegate({ id: 'shop', baseUrl: 'https://service.example' }).send(event));
    expect(error.message).to.include('SERVICE_EVENT_KEY').and.include('SERVICE_DEV=1').and.include('8288');
  });

  it('unless the service is elsewhere', async () => {
    const client = new Tidegate({
      id: 'shop',
      isDev: false,
      baseUrl: 'http://service.invalid',
      eventKey: 'k',
      fetch: () => Promise.reject(new Error('no')),
    });
    const { message } = await rejection(client.send(event, { timeoutMs: 100 }));
    expect(message).not.to.include('SERVICE_DEV');
  });
});
