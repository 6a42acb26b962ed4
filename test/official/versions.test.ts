import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { Tidegate } from 'tidegate';
import { serve } from 'tidegate/node';
import { cli, cliOk } from '../support/cli.ts';
import { request } from '../support/http.ts';
import { type HostProgram, startHost } from '../support/program.ts';
import { type Service, startService } from '../support/service.ts';
import { until } from '../support/until.ts';

/** An app at an address of its own. */
interface Deployed {
  url: string;
  stop(): Promise<unknown>;
}

describe('Three versions of an app', () => {
  let service: Service;
  const deployed: Deployed[] = [];
  before(async () => {
    service = await startService({ processes: true, env: { RETRY_SCALE: '0.001' } });
  });
  after(async () => {
    await Promise.all(deployed.map((one) => one.stop()));
    await service.stop();
  });

  async function official(version: string): Promise<HostProgram> {
    const env = { INNGEST_DEV: service.url, TEST_APP_VERSION: version };
    const host = await startHost(process.execPath, ['npm-host.ts', 'inngest', 'versions', 'official'], {
      cwd: import.meta.dirname,
      env,
    });
    expect((await request('PUT', host.url)).status).to.equal(200);
    return host;
  }

  async function own(version: string): Promise<Deployed> {
    const client = new Tidegate({
      id: 'own',
      isDev: true,
      baseUrl: service.url,
      appVersion: version,
      versioning: 'pinned',
    });
    const fn = client.createFunction({ id: 'fn', triggers: { event: 'own/start' } }, async ({ step }) => {
      const first = await step.run('first', () => version);
      await step.waitForEvent('go', { event: 'own/go', timeout: '1h' });
      const last = await step.run('last', () => version);
      return { first, last };
    });
    const server: Server = createServer(serve({ client, functions: [fn] }));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/service`;
    expect((await request('PUT', url)).status).to.equal(200);
    const stop = async () => {
      server.close();
      server.closeAllConnections();
    };
    return { url, stop };
  }

  const send = async (name: string) => (await service.post('/e/key', { name, data: {} })).body.ids[0] as string;

  /** Starts a run and waits until it waits. */
  async function start(app: string): Promise<string> {
    const eventId = await send(`${app}/start`);
    const isWaiting = async () => {
      const [run] = (await service.get(`/v1/events/${eventId}/runs`)).body.data;
      return (
        run && (await service.get(`/v1/runs/${run.run_id}`)).body.data.state.kind === 'waiting_for_event' && run.run_id
      );
    };
    return until(isWaiting, { describe: `a run of ${app} waits` });
  }

  async function output(id: string): Promise<unknown> {
    const { body } = await service.waitFor(`/v1/runs/${id}`, ({ body }) => body.data.ended_at !== null);
    return body.data.output;
  }

  const states = async (app: string) => {
    const { json } = await cliOk(['deploys', 'list', '--app', app, '--json'], { service });
    return Object.fromEntries(json.map(({ version, state }: { version: string; state: string }) => [version, state]));
  };

  for (const { title, app, deploy } of [
    { title: 'with the official TypeScript SDK, pinned by a setting', app: 'official', deploy: official },
    { title: 'with the TypeScript client, pinned in its code', app: 'own', deploy: own },
  ]) {
    it(`${title}: runs end where they began, versions drain and are stopped, one comes back, and runs move`, async () => {
      const first = await deploy('v1');
      deployed.push(first);
      if (app === 'official') await service.request('PATCH', '/v1/apps/official', { versioning: 'pinned' });
      const ofFirst = await start(app);
      const second = await deploy('v2');
      deployed.push(second);
      const [ofSecond, moved] = [await start(app), await start(app)];
      deployed.push(await deploy('v3'));
      const ofThird = await start(app);
      expect(await states(app)).to.deep.equal({ v1: 'draining', v2: 'draining', v3: 'active' });
      const early = await cli(['deploys', 'wait', 'v1', '--app', app, '--timeout', '1s'], { service });
      expect(early.exitCode).to.equal(6);
      expect((await service.post(`/v1/runs/${moved}/move`, { version: 'v3' })).status).to.equal(200);
      await send(`${app}/go`);
      expect(await output(ofFirst)).to.deep.equal({ first: 'v1', last: 'v1' });
      expect(await output(ofSecond)).to.deep.equal({ first: 'v2', last: 'v2' });
      expect(await output(ofThird)).to.deep.equal({ first: 'v3', last: 'v3' });
      expect(await output(moved)).to.deep.equal({ first: 'v2', last: 'v3' });
      await cliOk(['deploys', 'wait', 'v1', '--app', app, '--drained'], { service });
      await first.stop();
      deployed.splice(deployed.indexOf(first), 1);
      await cliOk(['deploys', 'activate', 'v2', '--app', app, '--yes'], { service });
      const [afterwards, last] = [await start(app), await start(app)];
      expect(await states(app)).to.deep.equal({ v1: 'drained', v2: 'active', v3: 'drained' });
      await cliOk(['deploys', 'activate', 'v3', '--app', app, '--yes'], { service });
      const { stdout } = await cliOk(['deploys', 'move', '--app', app, '--from', 'v2', '--to', 'v3', '--yes'], {
        service,
      });
      expect(stdout).to.match(/2 of 2 moved/);
      await cliOk(['deploys', 'wait', 'v2', '--app', app], { service });
      await second.stop();
      deployed.splice(deployed.indexOf(second), 1);
      await send(`${app}/go`);
      for (const run of [afterwards, last]) expect(await output(run)).to.deep.equal({ first: 'v2', last: 'v3' });
    });
  }
});
