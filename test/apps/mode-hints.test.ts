import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { Inngest } from 'inngest';
import { createServer as serveInngest } from 'inngest/node';
import { Tidegate } from 'tidegate';
import { serve } from 'tidegate/node';
import { freePort } from '../../scripts/lib/ports.ts';
import { request } from '../support/http.ts';
import { type Service, startService } from '../support/service.ts';

describe('Apps that do not find a service in dev mode', () => {
  let service: Service;
  let address: string;
  before(async () => {
    const port = await freePort();
    address = `http://127.0.0.1:${port}`;
    service = await startService({ workers: 0, env: { PORT: String(port) } });
  });
  after(() => service.stop());

  async function asked(listener: Parameters<typeof createServer>[1], path = '/api/service'): Promise<string> {
    const server = createServer(listener).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const { status, body } = await service.post('/v1/apps', { url: `http://127.0.0.1:${port}${path}` });
    server.closeAllConnections();
    server.close();
    expect([status, body.code], body.error).to.deep.equal([400, 'app_unreachable']);
    return body.error;
  }

  it('are told to set SERVICE_DEV when they are in production mode without keys', async () => {
    const error = await asked(serve({ client: new Tidegate({ id: 'cloud', isDev: false }), functions: [] }));
    expect(error).to.include('status 500').and.include(`start the app with SERVICE_DEV=${address}`);
  });

  it('are told to set INNGEST_DEV when they use an official SDK', async () => {
    const client = new Inngest({ id: 'cloud', isDev: false, baseUrl: 'http://127.0.0.1:1' });
    const server = serveInngest({ client, functions: [] });
    const error = await asked(server.listeners('request')[0] as Parameters<typeof createServer>[1], '/api/inngest');
    expect(error).to.include('or INNGEST_DEV where it has an official Inngest SDK').and.include(address);
  });

  it('are told the address when they look for the service on another port', async () => {
    const client = new Tidegate({ id: 'elsewhere', isDev: true, baseUrl: `http://127.0.0.1:${await freePort()}` });
    const error = await asked(serve({ client, functions: [] }));
    expect(error).to.include('ECONNREFUSED').and.include('In dev mode a service listens on port 8288');
    expect(error).to.include(`start the app with SERVICE_DEV=${address}`);
  });

  it('are told the kind of the service and what to set when they expect another kind', async () => {
    const body = { url: 'http://127.0.0.1:1/api', appName: 'a', functions: [] };
    const told = async (dialect: string) => {
      const headers = { [`x-${dialect}-sdk`]: 'js:v1', [`x-${dialect}-expected-server-kind`]: 'cloud' };
      return (await request('POST', `${service.url}/fn/register`, { body, headers })).body.error;
    };
    expect(await told('service')).to.include(
      `the app is in production mode; start the app with SERVICE_DEV=${address}`,
    );
    expect(await told('inngest')).to.include(`INNGEST_DEV=${address}`);
  });
});
