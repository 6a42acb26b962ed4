import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { whyNotPublic } from '../src/model/public-address.ts';
import { type AppHost, startAppHost } from './support/app-host.ts';
import { type Service, startService } from './support/service.ts';

async function end(server: Server): Promise<void> {
  server.close();
  server.closeAllConnections();
  await once(server, 'close');
}

describe('calls to apps', () => {
  let host: AppHost;
  beforeEach(async () => {
    host = await startAppHost();
  });
  afterEach(() => host.close());

  async function firstError(service: Service, eventName: string) {
    const { body } = await service.post('/e/key', { name: eventName, data: {} });
    const [eventId] = body.ids;
    const runs = await service.waitFor(`/v1/events/${eventId}/runs`, ({ body }) => body.data?.[0]?.error);
    return runs.body.data[0].error as { name: string; message: string };
  }

  describe('follow no redirect', () => {
    let service: Service;
    before(async () => {
      service = await startService();
    });
    after(() => service.stop());

    const redirect = () => ({ status: 307, headers: { location: `${other.url}?fnId=reached&stepId=step` } });
    let other: AppHost;
    beforeEach(async () => {
      other = await startAppHost();
    });
    afterEach(() => other.close());

    it('when a function is called', async () => {
      host.on('f', redirect);
      await host.register(service, [{ id: 'f', triggers: [{ event: 'redirect/x' }] }]);
      expect((await firstError(service, 'redirect/x')).message).to.include('307');
      expect(other.calls()).to.deep.equal([]);
    });

    it('when an app is asked to register', async () => {
      const asked: string[] = [];
      const server = createServer(({ method, url }, response) => {
        asked.push(`${method} ${url}`);
        response.writeHead(307, { location: '/elsewhere', 'x-service-sdk': 'test:v1.0.0' }).end();
      }).listen(0, '127.0.0.1');
      await once(server, 'listening');
      try {
        const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api`;
        const { status, body } = await service.post('/v1/apps', { url });
        expect([status, body.code]).to.deep.equal([400, 'app_unreachable']);
        expect(body.error).to.include('307');
        expect(asked).to.deep.equal(['PUT /api']);
      } finally {
        await end(server);
      }
    });

    it('and read no endless answer when an app is asked to register', async () => {
      const server = createServer((_, response) => {
        response.setHeader('x-service-sdk', 'test:v1.0.0');
        const more = () => {
          while (!response.destroyed && response.write('x'.repeat(10_000)));
        };
        response.on('drain', more);
        more();
      }).listen(0, '127.0.0.1');
      await once(server, 'listening');
      try {
        const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api`;
        const { status, body } = await service.post('/v1/apps', { url });
        expect([status, body.code]).to.deep.equal([400, 'app_unreachable']);
        expect(body.error).to.include('larger than 65536 bytes');
      } finally {
        await end(server);
      }
    });
  });

  describe('with BLOCK_PRIVATE_ADDRESSES', () => {
    let service: Service;
    before(async () => {
      service = await startService({ env: { BLOCK_PRIVATE_ADDRESSES: 'true' } });
    });
    after(() => service.stop());

    const LITERALS: [host: string, kind: string][] = [
      ['127.0.0.1', 'loopback'],
      ['127.1', 'loopback'],
      ['2130706433', 'loopback'],
      ['0.0.0.0', 'unspecified'],
      ['10.1.2.3', 'private'],
      ['172.16.0.1', 'private'],
      ['192.168.1.1', 'private'],
      ['169.254.169.254', 'link-local'],
      ['100.100.100.200', 'carrier-grade-nat'],
      ['168.63.129.16', 'metadata'],
      ['[::1]', 'loopback'],
      ['[::]', 'unspecified'],
      ['[::ffff:127.0.0.1]', 'loopback'],
      ['[::ffff:a9fe:a9fe]', 'link-local'],
      ['[::127.0.0.1]', ''],
      ['[fe80::1]', 'link-local'],
      ['[fd00:ec2::254]', 'unique-local'],
      ['[64:ff9b::7f00:1]', ''],
    ];

    it('reach no private address, however it is written', async () => {
      const port = new URL(host.url).port;
      for (const [address, kind] of LITERALS) {
        const { status, body } = await service.post('/v1/apps', { url: `http://${address}:${port}/api` });
        expect([status, body.code], address).to.deep.equal([400, 'address_blocked']);
        expect(body.error).to.include(kind).and.include('BLOCK_PRIVATE_ADDRESSES');
      }
    });

    it('reach none by a name that resolves to one', async () => {
      host.offer(service, [{ id: 'f', triggers: [{ event: 'named/x' }] }]);
      const url = host.url.replace('127.0.0.1', 'localhost');
      const { status, body } = await service.post('/v1/apps', { url });
      expect([status, body.code]).to.deep.equal([400, 'address_blocked']);
      expect(body.error).to.match(/localhost leads to (127\.0\.0\.1|::1), which is no public address \(loopback\)/);
      expect((await service.get('/v1/functions')).body.data).to.deep.equal([]);
    });

    for (const name of ['127.0.0.1', 'localhost']) {
      it(`do not reach a function at ${name}: the run says why`, async () => {
        const app = { appName: `app-${name.replaceAll('.', '-')}` };
        const registration = host.registration([{ id: 'f', triggers: [{ event: `blocked/${name}` }] }], app);
        const elsewhere = JSON.parse(JSON.stringify(registration).replaceAll('127.0.0.1', name));
        const headers = { 'x-service-sdk': 'test:v1.0.0' };
        expect((await service.post('/fn/register', elsewhere, headers)).status).to.equal(200);
        const error = await firstError(service, `blocked/${name}`);
        expect(error.name).to.equal('AddressBlocked');
        expect(error.message).to.include('is not called').and.include('(loopback)');
        expect(host.calls()).to.deep.equal([]);
      });
    }
  });

  it('may go to public addresses and to no others', () => {
    for (const address of ['8.8.8.8', '1.1.1.1', '::ffff:8.8.8.8', '2606:4700:4700::1111']) {
      expect(whyNotPublic(address), address).to.equal(undefined);
    }
    for (const address of [
      'fec0::1',
      '240.0.0.1',
      '224.0.0.1',
      'ff02::1',
      '192.0.0.192',
      'fe80::1%eth0',
      'nonsense',
      '',
    ]) {
      expect(whyNotPublic(address), address).to.be.a('string');
    }
  });
});
