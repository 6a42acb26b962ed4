import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import { expect } from 'chai';
import { Inngest } from 'inngest';
import { serve as serveInngest } from 'inngest/node';
import { Tidegate } from 'tidegate';
import { serve } from 'tidegate/node';
import { freePort } from '../../scripts/lib/ports.ts';
import { type Service, startService } from '../support/service.ts';
import { until } from '../support/until.ts';

describe('Apps on this machine in dev mode', () => {
  let service: Service;
  let ports: number[];
  let servers: Server[] = [];

  before(async () => {
    ports = await Promise.all(Array.from({ length: 3 }, () => freePort()));
    const env = { DISCOVERY: 'true', DISCOVERY_PORTS: ports.join(), LOG_LEVEL: 'info' };
    service = await startService({ workers: 0, env });
  });
  after(() => service.stop());
  afterEach(async () => {
    for (const server of servers) await end(server);
    servers = [];
  });

  async function listen(index: number, listener: RequestListener): Promise<Server> {
    const server = createServer(listener).listen(ports[index], '127.0.0.1');
    servers.push(server);
    await once(server, 'listening');
    return server;
  }
  async function end(server: Server): Promise<void> {
    if (!server.listening) return;
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  }

  function appOf(id: string, functions: string[], isDev = true): RequestListener {
    const client = new Tidegate({ id, isDev, baseUrl: service.url, signingKey: service.env.SIGNING_KEY });
    return serve({
      client,
      functions: functions.map((fn) => client.createFunction({ id: fn, triggers: { event: `${id}/x` } }, () => 'done')),
    });
  }
  const functionsOf = async (app: string): Promise<string[] | undefined> =>
    (await service.get(`/v1/apps/${app}`)).body.data?.functions.map(({ id }: { id: string }) => id).sort();
  const registered = (app: string, ids: string[]) =>
    until(async () => (await functionsOf(app))?.join() === ids.join(), {
      describe: `${app} has ${ids}`,
    });

  it('are found without a request, whatever their SDK, and registered again when they change or come back', async () => {
    const first = await listen(0, appOf('found', ['a']));
    const client = new Inngest({ id: 'official', isDev: true, baseUrl: service.url });
    const fn = client.createFunction({ id: 'b', triggers: { event: 'official/x' } }, () => 'done');
    await listen(1, serveInngest({ client, functions: [fn] }));
    await Promise.all([registered('found', ['found-a']), registered('official', ['official-b'])]);
    // The number of functions is part of what it says about itself.
    let current = appOf('found', ['a', 'c']);
    await end(first);
    const second = await listen(0, (request, response) => current(request, response));
    await registered('found', ['found-a', 'found-c']);
    current = appOf('found', ['a', 'c', 'd']);
    await registered('found', ['found-a', 'found-c', 'found-d']);
    await end(second);
    await listen(0, appOf('found', ['e']));
    await registered('found', ['found-e']);
    await service.logs('found an app on this machine, and registered it');
  });

  it('that respond on every path keep the path at which they are registered', async () => {
    const server = await listen(2, appOf('anywhere', ['a']));
    const url = `http://127.0.0.1:${ports[2]}/custom/path`;
    expect((await service.post('/v1/apps', { url })).status).to.be.below(300);
    let asked = 0;
    server.on('request', ({ url: path }) => {
      if (path === '/api/inngest') asked++;
    });
    await until(() => asked > 0, { describe: 'other paths are asked', timeoutMs: 40_000 });
    expect((await service.get('/v1/apps/anywhere')).body.data.url).to.include('/custom/path');
  });

  it('in production mode are named in the log, with the setting to change', async () => {
    await listen(2, appOf('cloud', ['a'], false));
    await until(() => service.output().includes('it is in production mode: start the app with SERVICE_DEV='), {
      describe: 'the log says so',
    });
    expect(await functionsOf('cloud')).to.equal(undefined);
  });

  it('that somebody deletes stay away until they restart', async () => {
    const server = await listen(1, appOf('deleted', ['a']));
    await registered('deleted', ['deleted-a']);
    await service.request('DELETE', '/v1/apps/deleted');
    // The service asks it again meanwhile.
    let asked = 0;
    server.on('request', () => {
      asked++;
    });
    await until(() => asked >= 2, { describe: 'it is asked twice' });
    expect(await functionsOf('deleted')).to.equal(undefined);
    await end(server);
    await until(() => !server.listening, { describe: 'it has ended' });
  });

  it('are not searched for when DISCOVERY is false', async () => {
    const quiet = await startService({ workers: 0, env: { DISCOVERY: 'false', DISCOVERY_PORTS: ports.join() } });
    try {
      let asked = 0;
      const app = appOf('quiet', ['a']);
      await listen(0, (request, response) => {
        asked++;
        app(request, response);
      });
      // The other service, which looks for apps, has found it; this one has not.
      await registered('quiet', ['quiet-a']);
      expect(asked).to.be.greaterThan(0);
      expect((await quiet.get('/v1/apps')).body.data).to.deep.equal([]);
    } finally {
      await quiet.stop();
    }
  });
});
