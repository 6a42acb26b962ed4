import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { type Service, startService } from '../support/service.ts';

describe('An app that registers by itself at another path', () => {
  let service: Service;
  let server: Server;
  let origin: string;
  /** How the app responds at a path; others respond with 404. */
  const responders = new Map<string, (response: ServerResponse, request: IncomingMessage) => unknown>();
  const requests: string[] = [];
  let apps = 0;

  const asApp = (response: ServerResponse) => response.writeHead(200, { 'x-inngest-sdk': 'js:v4.0.0' }).end('{}');
  const withStatus = (status: number) => (response: ServerResponse) => response.writeHead(status).end();

  before(async () => {
    service = await startService({ workers: 0, dev: false });
    server = createServer((request, response) => {
      const { pathname } = new URL(request.url ?? '', 'http://app');
      requests.push(`${request.method} ${pathname}`);
      (responders.get(pathname) ?? withStatus(404))(response, request);
    }).listen(0);
    await once(server, 'listening');
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  after(async () => {
    server.closeAllConnections();
    server.close();
    await service.stop();
  });
  beforeEach(() => {
    responders.clear();
    requests.length = 0;
  });

  const register = (app: string, url: string, id = 'f') => {
    const runtime = { type: 'http', url: `${url}?fnId=${app}-${id}&stepId=step` };
    const fn = { id: `${app}-${id}`, triggers: [{ event: 'path/x' }], steps: { step: { id: 'step', runtime } } };
    const body = { url, appName: app, functions: [fn] };
    return service.post('/fn/register', body, { ...service.appHeaders, 'x-inngest-sdk': 'js:v4.0.0' });
  };
  const present = async (app: string) => {
    const { url, declined_url, functions } = (await service.get(`/v1/apps/${app}`)).body.data;
    const [{ id }] = functions;
    const stored = await service.redis.hget(`${service.prefix}:functions:production`, id);
    return { url, declined: declined_url, id, fnUrl: JSON.parse(stored ?? '{}').url };
  };
  /** An app at /api. */
  async function appAt(respond = asApp) {
    const app = `app-${apps++}`;
    // Probes of each app have a path of their own.
    const path = `/${app}/api`;
    responders.set(path, respond);
    expect((await register(app, origin + path)).status).to.equal(200);
    return { app, path, url: origin + path };
  }

  it('stays at the known path while it responds there, and its functions are registered', async () => {
    const { app, url } = await appAt();
    responders.set('/admin', asApp);
    const { status, body } = await register(app, `${origin}/x/%2e%2e/admin`, 'g');
    expect([status, body.ok, body.declined_url]).to.deep.equal([200, true, `${origin}/admin`]);
    expect(body.error).to.include(`tidegate apps sync ${origin}/admin`).and.not.include(url);
    const fnUrl = `${url}?fnId=${app}-g&stepId=step`;
    expect(await present(app)).to.deep.equal({ url, declined: `${origin}/admin`, id: `${app}-g`, fnUrl });
    await service.logs('"msg":"app stays at its path, where it still is"', `"declinedUrl":"${origin}/admin"`);
    expect((await register(app, url, 'g')).body).not.to.have.any.keys('declined_url', 'error');
    expect((await present(app)).declined).to.equal(null);
  });

  it('moves if it has left the known path or rejects signed calls there', async () => {
    const left: ((response: ServerResponse, request: IncomingMessage) => unknown)[] = [
      withStatus(404),
      withStatus(200),
      (response, { method }) => (method === 'POST' ? response.writeHead(401).end() : asApp(response)),
    ];
    for (const respond of left) {
      const { app, path } = await appAt();
      responders.set(path, respond);
      const { status, body } = await register(app, `${origin}/moved`);
      expect([status, body.declined_url]).to.deep.equal([200, undefined]);
      const fnUrl = `${origin}/moved?fnId=${app}-f&stepId=step`;
      expect(await present(app)).to.deep.equal({ url: `${origin}/moved`, declined: null, id: `${app}-f`, fnUrl });
    }
  });

  it('stays if the response of the known path is inconclusive, which a flood can cause', async () => {
    const silent: ((response: ServerResponse, request: IncomingMessage) => unknown)[] = [
      withStatus(429),
      withStatus(503),
      (_, { socket }) => socket.destroy(),
      () => {},
    ];
    for (const respond of silent) {
      const { app, path, url } = await appAt();
      responders.set(path, respond);
      expect((await register(app, `${origin}/moved`)).status).to.equal(200);
      expect((await present(app)).url).to.equal(url);
    }
  });

  it('is asked once at its known path for any number of registrations', async () => {
    const { app, path } = await appAt();
    await Promise.all(Array.from({ length: 20 }, (_, n) => register(app, `${origin}/forged-${n}`)));
    expect(requests).to.deep.equal([`GET ${path}`, `POST ${path}`]);
  });

  it('stays at the known path of another allowed origin', async () => {
    const { app, path } = await appAt();
    const other = origin.replace('127.0.0.1', 'localhost');
    await service.request('PUT', `/v1/allowed-origins/${app}`, { origins: [other] }, service.apiHeaders);
    expect((await register(app, `${other}/admin`)).status).to.equal(200);
    expect((await present(app)).url).to.equal(other + path);
  });

  it('gets no probe at an origin that waits for a confirmation', async () => {
    const { app } = await appAt();
    const other = origin.replace('127.0.0.1', 'localhost.');
    expect((await register(app, `${other}/admin`)).body.code).to.equal('registration_held');
    expect(requests).to.deep.equal([]);
  });

  it('moves when somebody has it register there', async () => {
    const { app } = await appAt();
    responders.set('/moved', async (response) => {
      await register(app, `${origin}/moved`);
      asApp(response);
    });
    const { status } = await service.post('/v1/apps', { url: `${origin}/moved` }, service.apiHeaders);
    expect([status, (await present(app)).url]).to.deep.equal([200, `${origin}/moved`]);
  });

  it('stays where a person moves it while its known path is being asked', async () => {
    const { app, path } = await appAt();
    responders.set('/moved', async (response, { method }) => {
      if (method === 'PUT') await register(app, `${origin}/moved`);
      asApp(response);
    });
    responders.set(path, async (response) => {
      await service.post('/v1/apps', { url: `${origin}/moved` }, service.apiHeaders);
      asApp(response);
    });
    expect((await register(app, `${origin}/admin`)).status).to.equal(200);
    expect(await present(app)).to.include({ url: `${origin}/moved`, declined: `${origin}/admin` });
  });
});
