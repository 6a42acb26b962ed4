import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { readConfig } from '../../src/config.ts';
import { RedirectRefused, redirectTarget } from '../../src/functions/redirects.ts';
import { hashedKey } from '../../src/functions/signing.ts';
import { redirected } from '../../src/functions/step-request-client.ts';
import { nonPublicKind } from '../../src/model/network/address.ts';
import { outboundRules } from '../../src/model/network/outbound.ts';
import { type AppHost, startAppHost } from '../support/app-host.ts';
import { type Service, startService } from '../support/service.ts';
import { until } from '../support/until.ts';

const hasError = ({ error }: { error?: unknown }) => Boolean(error);

async function end(server: Server): Promise<void> {
  server.close();
  server.closeAllConnections();
  await once(server, 'close');
}

describe('The HTTP agent for apps', () => {
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

  it('a request of a step that began over HTTPS follows no redirect to plain HTTP', () => {
    const request = { url: 'https://api.example/pay', method: 'POST', headers: { 'x-card': '4242' }, body: '{}' };
    const to = (location: string) => redirected(request, location, 307);
    const blocked = to('http://api.example/pay');
    expect('failure' in blocked && blocked.failure.error.name).to.equal('RedirectBlocked');
    expect(to('/v2/pay')).to.include({ url: 'https://api.example/v2/pay', body: '{}' });
    expect(redirected({ ...request, url: 'http://api.example' }, 'http://other.example/', 307)).to.include({
      body: '{}',
    });
  });

  describe('redirects', () => {
    let service: Service;
    before(async () => {
      service = await startService();
    });
    after(() => service.stop());

    const moved = (location: string, status = 307) => ({ status, headers: { location } });
    let other: AppHost;
    beforeEach(async () => {
      other = await startAppHost();
    });
    afterEach(() => other.close());

    for (const status of [307, 308]) {
      it(`a call follows ${status}, with its method, body, signature, function and step`, async () => {
        host.on('f', () => moved(other.url, status));
        other.on('f', () => ({ body: 'there' }));
        // Registers first, so that its function has the ID; the service keeps the last URL.
        await other.register(service, [{ id: 'f', triggers: [{ event: 'redirect/x' }] }]);
        await host.register(service, [{ id: 'f', triggers: [{ event: 'redirect/x' }] }]);
        const { body } = await service.post('/e/key', { name: 'redirect/x', data: { status } });
        const runs = await service.waitFor(
          `/v1/events/${body.ids[0]}/runs`,
          ({ body }) => body.data?.[0]?.status === 'Completed',
        );
        expect(runs.body.data[0].output).to.equal('there');
        const [[first], [second]] = [host.calls('f'), other.calls('f')];
        expect(second?.raw.equals(first?.raw as Buffer)).to.equal(true);
        expect(second?.stepId).to.equal('step');
        const { host: _, ...headers } = first?.headers ?? {};
        expect(second?.headers).to.include(headers);
      });
    }

    it('a call follows no other redirect', async () => {
      host.on('f', () => moved(other.url, 302));
      await host.register(service, [{ id: 'f', triggers: [{ event: 'redirect/found' }] }]);
      expect((await firstError(service, 'redirect/found')).message).to.include('302');
      expect(other.calls()).to.deep.equal([]);
    });

    it('a call follows three redirects at most', async () => {
      host.on('f', () => moved(host.url));
      await host.register(service, [{ id: 'f', triggers: [{ event: 'redirect/loop' }] }]);
      const { name, message } = await firstError(service, 'redirect/loop');
      expect(name).to.equal('RedirectRefused');
      expect(message).to.include('more than 3 redirects');
      expect(host.calls('f')).to.have.length(4);
    });

    for (const [target, name] of [
      ['http://169.254.169.254/latest/meta-data', 'AddressBlocked'],
      ['http://[::ffff:169.254.169.254]/', 'AddressBlocked'],
      ['ftp://127.0.0.1/', 'RedirectRefused'],
      ['http://', 'RedirectRefused'],
    ] as const) {
      it(`a call does not follow a redirect to ${target}`, async () => {
        host.on('f', () => moved(target));
        await host.register(service, [{ id: 'f', triggers: [{ event: 'redirect/refused' }] }]);
        expect((await firstError(service, 'redirect/refused')).name).to.equal(name);
      });
    }

    it('a redirect from HTTPS to HTTP is not followed', () => {
      const redirectTo = (location: string) => ({ status: 308, headers: { location } });
      expect(redirectTarget('https://app.example/api?fnId=f', redirectTo('/new#here'), 0)).to.equal(
        'https://app.example/new?fnId=f',
      );
      expect(redirectTarget('http://app.example/api', redirectTo('https://user:secret@app.example/api'), 0)).to.equal(
        'https://app.example/api',
      );
      expect(() => redirectTarget('https://app.example/api', redirectTo('http://app.example/api'), 0)).to.throw(
        RedirectRefused,
        'from HTTPS to HTTP',
      );
    });

    it('a sync request follows redirects, three at most', async () => {
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
        expect(body.error).to.include('more than 3 redirects');
        expect(asked).to.deep.equal(['PUT /api', 'PUT /elsewhere', 'PUT /elsewhere', 'PUT /elsewhere']);
      } finally {
        await end(server);
      }
    });

    it('a sync request does not read an endless response', async () => {
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

  describe('BLOCK_PRIVATE_ADDRESSES', () => {
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

    it('BLOCK_PRIVATE_ADDRESSES blocks private addresses in every notation', async () => {
      const port = new URL(host.url).port;
      for (const [address, kind] of LITERALS) {
        const { status, body } = await service.post('/v1/apps', { url: `http://${address}:${port}/api` });
        expect([status, body.code], address).to.deep.equal([400, 'address_blocked']);
        expect(body.error).to.include(kind).and.include('BLOCK_PRIVATE_ADDRESSES');
      }
    });

    it('BLOCK_PRIVATE_ADDRESSES blocks a name that resolves to a private address', async () => {
      host.offer(service, [{ id: 'f', triggers: [{ event: 'named/x' }] }]);
      const url = host.url.replace('127.0.0.1', 'localhost');
      const { status, body } = await service.post('/v1/apps', { url });
      expect([status, body.code]).to.deep.equal([400, 'address_blocked']);
      expect(body.error).to.match(
        /localhost resolves to (127\.0\.0\.1|::1), which is not a public address \(loopback\)/,
      );
      expect((await service.get('/v1/functions')).body.data).to.deep.equal([]);
    });

    for (const name of ['127.0.0.1', 'localhost']) {
      it(`BLOCK_PRIVATE_ADDRESSES blocks a call to a function at ${name}, and the run has the error`, async () => {
        const app = { appName: `app-${name.replaceAll('.', '-')}` };
        const registration = host.registration([{ id: 'f', triggers: [{ event: `blocked/${name}` }] }], app);
        const elsewhere = JSON.parse(JSON.stringify(registration).replaceAll('127.0.0.1', name));
        const headers = { 'x-service-sdk': 'test:v1.0.0' };
        expect((await service.post('/fn/register', elsewhere, headers)).status).to.equal(200);
        const error = await firstError(service, `blocked/${name}`);
        expect(error.name).to.equal('AddressBlocked');
        expect(error.message).to.include('was not called').and.include('(loopback)');
        expect(host.calls()).to.deep.equal([]);
      });
    }
  });

  describe('default outbound rules', () => {
    let service: Service;
    before(async () => {
      service = await startService();
    });
    after(() => service.stop());

    const METADATA: [host: string, kind: string][] = [
      ['169.254.169.254', 'link-local'],
      ['169.254.170.2', 'link-local'],
      ['0xa9fea9fe', 'link-local'],
      ['0251.0376.0251.0376', 'link-local'],
      ['2852039166', 'link-local'],
      ['[::ffff:169.254.169.254]', 'link-local'],
      ['[64:ff9b::a9fe:a9fe]', 'link-local'],
      ['[2002:a9fe:a9fe::1]', 'link-local'],
      ['[fe80::1]', 'link-local'],
      ['[fd00:ec2::254]', 'metadata'],
      ['[fd20:ce::254]', 'metadata'],
      ['100.100.100.200', 'metadata'],
      ['168.63.129.16', 'metadata'],
    ];

    it('link-local and metadata addresses are blocked in every notation', async () => {
      for (const [address, kind] of METADATA) {
        const { status, body } = await service.post('/v1/apps', { url: `http://${address}/latest/meta-data` });
        expect([status, body.code], address).to.deep.equal([400, 'address_blocked']);
        expect(body.error).to.include(kind).and.include('never calls link-local or metadata addresses');
      }
    });

    it('a call to a function at a link-local address is blocked, and the run has the error', async () => {
      const registration = host.registration([{ id: 'f', triggers: [{ event: 'metadata/x' }] }]);
      const elsewhere = JSON.parse(JSON.stringify(registration).replaceAll(/127\.0\.0\.1:\d+/g, '169.254.169.254'));
      const headers = { 'x-service-sdk': 'test:v1.0.0' };
      expect((await service.post('/fn/register', elsewhere, headers)).status).to.equal(200);
      expect((await firstError(service, 'metadata/x')).name).to.equal('AddressBlocked');
    });

    it('private addresses are allowed by default, where apps of a self-hosted service usually run', async () => {
      await host.register(service, [{ id: 'f', triggers: [{ event: 'private/x' }] }]);
      await service.post('/e/key', { name: 'private/x', data: {} });
      await host.nextCall('f');
    });
  });

  it('OUTBOUND_BRANCH_DENY_CIDRS blocks private addresses for branch environments only', async () => {
    const service = await startService({ dev: false, env: { OUTBOUND_BRANCH_DENY_CIDRS: 'private' } });
    try {
      const functions = [{ id: 'f', retries: 0, triggers: [{ event: 'branch/x' }] }];
      await host.register(service, functions);
      await service.post(service.eventPath, { name: 'branch/x', data: {} });
      await host.nextCall('f');
      await service.post('/v1/environments', { name: 'feature', kind: 'branch' }, service.apiHeaders);
      const { body: signing } = await service.get('/v1/environments/feature/signing-key');
      const inBranch = { 'x-service-env': 'feature' };
      await host.register(service, functions, {
        headers: { ...inBranch, authorization: `Bearer ${hashedKey(signing.data.current)}` },
      });
      const key = await service.post('/v1/event-keys', { name: 'b', environment: 'branches' }, service.apiHeaders);
      const sent = await service.post(`/e/${key.body.data.secret}`, { name: 'branch/x', data: {} }, inBranch);
      const headers = { ...service.apiHeaders, ...inBranch };
      const run = await until(
        async () => (await service.get(`/v1/events/${sent.body.ids[0]}/runs`, headers)).body.data?.find(hasError),
        { describe: "the branch's run says why its function was not called" },
      );
      expect(run.error.message).to.include('OUTBOUND_BRANCH_DENY_CIDRS').and.include('127.0.0.1');
      expect(host.calls('f').length).to.equal(1);
    } finally {
      await service.stop();
    }
  });

  describe('outbound rules by CIDR lists', () => {
    const whyNot = (address: string, env: Record<string, string>, branch = false) =>
      outboundRules(readConfig({ MODE: 'dev', ...env }).outbound, branch).refusal(address);

    it('OUTBOUND_DENY_CIDRS blocks its ranges except those in OUTBOUND_ALLOW_CIDRS', () => {
      const env = { OUTBOUND_DENY_CIDRS: '10.0.0.0/8, 2001:db8::/32', OUTBOUND_ALLOW_CIDRS: '10.1.0.0/16' };
      expect(whyNot('10.2.3.4', env)).to.equal('10.2.3.4, which OUTBOUND_DENY_CIDRS denies (10.0.0.0/8)');
      expect(whyNot('::ffff:10.2.3.4', env)).to.include('OUTBOUND_DENY_CIDRS');
      expect(whyNot('64:ff9b::a02:304', env)).to.include('OUTBOUND_DENY_CIDRS');
      expect(whyNot('2001:db8::1', env)).to.include('OUTBOUND_DENY_CIDRS');
      for (const open of ['10.1.3.4', '::ffff:10.1.3.4', '192.168.0.1', '8.8.8.8']) {
        expect(whyNot(open, env), open).to.equal(undefined);
      }
    });

    it('a rule for loopback also covers 0.0.0.0 and ::, which reach this machine', () => {
      for (const range of ['127.0.0.0/8', '::1/128']) {
        const env = { OUTBOUND_BRANCH_DENY_CIDRS: range };
        for (const address of ['0.0.0.0', '::', '::ffff:0.0.0.0']) {
          expect(whyNot(address, env, true), `${address}, ${range}`).to.include('OUTBOUND_BRANCH_DENY_CIDRS');
          expect(whyNot(address, env), address).to.equal(undefined);
        }
      }
    });

    it('"private" covers every address that is not public', () => {
      const env = { OUTBOUND_DENY_CIDRS: 'private', OUTBOUND_ALLOW_CIDRS: '192.168.7.0/24' };
      for (const closed of ['127.0.0.1', '10.0.0.1', 'fd12::1', '192.168.8.1', '100.64.0.1']) {
        expect(whyNot(closed, env), closed).to.be.a('string');
      }
      for (const open of ['192.168.7.9', '8.8.8.8', '2606:4700:4700::1111']) {
        expect(whyNot(open, env), open).to.equal(undefined);
      }
    });

    it('OUTBOUND_ALLOW_CIDRS does not allow what OUTBOUND_BRANCH_DENY_CIDRS blocks', () => {
      const env = { OUTBOUND_BRANCH_DENY_CIDRS: '10.0.0.0/8', OUTBOUND_ALLOW_CIDRS: '10.1.0.0/16' };
      expect(whyNot('10.1.0.1', env)).to.equal(undefined);
      expect(whyNot('10.1.0.1', env, true)).to.include('OUTBOUND_BRANCH_DENY_CIDRS');
    });

    it('no CIDR list allows a link-local or metadata address', () => {
      const env = { OUTBOUND_ALLOW_CIDRS: '0.0.0.0/0,::/0,private' };
      for (const closed of ['169.254.169.254', 'fe80::1', '100.100.100.200', 'fd00:ec2::254', '2002:a9fe:a9fe::1']) {
        expect(whyNot(closed, env), closed).to.include('never calls');
        expect(whyNot(closed, { ...env, BLOCK_PRIVATE_ADDRESSES: 'true' }), closed).to.include('never calls');
      }
    });

    it('an invalid CIDR range in a setting prevents the start', () => {
      for (const wrong of ['10.0.0.0/40', 'intranet', '10.0.0']) {
        expect(() => readConfig({ MODE: 'dev', OUTBOUND_DENY_CIDRS: wrong })).to.throw(/OUTBOUND_DENY_CIDRS.*CIDR/);
      }
    });
  });

  it('web logs the outbound rules when it starts', async () => {
    const env = { LOG_LEVEL: 'info', OUTBOUND_DENY_CIDRS: '10.0.0.0/8', OUTBOUND_BRANCH_DENY_CIDRS: 'private' };
    const service = await startService({ workers: 0, env });
    try {
      expect(service.output().split('\n')[1]).to.include(
        'Apps may run at public and private addresses; not at 10.0.0.0/8; apps of branch environments not at private addresses; never at link-local or metadata addresses',
      );
    } finally {
      await service.stop();
    }
  });

  it('public addresses are allowed, and all others are recognized as not public', () => {
    for (const address of ['8.8.8.8', '1.1.1.1', '::ffff:8.8.8.8', '2606:4700:4700::1111']) {
      expect(nonPublicKind(address), address).to.equal(undefined);
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
      expect(nonPublicKind(address), address).to.be.a('string');
    }
  });
});
