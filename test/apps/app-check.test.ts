import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { type AddressInfo, createServer as createTcpServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { Tidegate } from 'tidegate';
import { serve } from 'tidegate/node';
import { type Service, startService } from '../support/service.ts';

const SDK = { 'x-service-sdk': 'test:v1.0.0' };
let appNumber = 0;

describe('app check', () => {
  const servers: Server[] = [];
  let dev: Service;
  let production: Service;
  before(async () => {
    [dev, production] = await Promise.all([startService({ workers: 0 }), startService({ workers: 0, dev: false })]);
  });
  afterEach(() => {
    for (const server of servers.splice(0)) server.close();
  });
  after(() => Promise.all([dev.stop(), production.stop()]));

  async function listen(server: Server): Promise<number> {
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return (server.address() as AddressInfo).port;
  }
  const host = async (listener: RequestListener) =>
    `http://127.0.0.1:${await listen(createServer(listener))}/api/service`;

  /** An app that responds with this to a probe. */
  const saying = (said: object, status = 200, headers: Record<string, string> = SDK): RequestListener => {
    return (_, response) => void response.writeHead(status, headers).end(JSON.stringify(said));
  };

  async function register(service: Service, url: string, events = ['check/x']): Promise<string> {
    const appName = `app-${++appNumber}`;
    const functions = events.map((event, i) => ({
      id: `${appName}-${i}`,
      triggers: [{ event }],
      steps: { step: { id: 'step', runtime: { type: 'http', url } } },
    }));
    const body = { url, appName, functions, sdk: 'test:v1', v: '0.1' };
    const response = await service.post('/fn/register', body, { ...SDK, ...service.appHeaders });
    expect(response.status, JSON.stringify(response.body)).to.equal(200);
    return appName;
  }
  async function check(service: Service, name: string) {
    const { status, body } = await service.post(`/v1/apps/${name}/check`, undefined, service.apiHeaders);
    expect(status, JSON.stringify(body)).to.equal(200);
    const { problems, ...rest } = body.data;
    for (const { message, fix } of problems) {
      expect(message).to.be.a('string').and.not.equal('');
      expect(fix).to.match(/\.$/);
    }
    return { ...rest, problems, codes: problems.map(({ code }: { code: string }) => code) };
  }

  it('POST /v1/apps/:name/check reports no problem for a healthy app in the same mode with the registered functions', async () => {
    const name = await register(dev, await host(saying({ function_count: 1, mode: 'dev' })));
    const found = await check(dev, name);
    expect(found).to.deep.include({ ok: true, status: 200, problems: [] });
    expect(found.answered_in_ms).to.be.within(0, 5_000);
  });

  it('POST /v1/apps/:name/check reports a refused connection', async () => {
    const server = createServer();
    const port = await listen(server);
    server.close();
    const found = await check(dev, await register(dev, `http://127.0.0.1:${port}/api/service`));
    expect(found).to.deep.include({ ok: false, answered_in_ms: null, status: null, codes: ['refused'] });
  });

  it('POST /v1/apps/:name/check reports a host name that does not resolve', async () => {
    expect((await check(dev, await register(dev, 'http://app.invalid/api/service'))).codes).to.deep.equal(['dns']);
  });

  it('POST /v1/apps/:name/check reports an invalid certificate', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'app-check-'));
    const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
    const subject = ['-subj', '/CN=localhost', '-days', '1', '-nodes'];
    const made = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-keyout', key, '-out', cert];
    execFileSync('openssl', ['req', '-x509', ...made, ...subject], { stdio: 'ignore' });
    const server = createSecureServer({ key: readFileSync(key), cert: readFileSync(cert) });
    const url = `https://localhost:${await listen(server)}/api/service`;
    expect((await check(dev, await register(dev, url))).codes).to.deep.equal(['tls']);
    rmSync(folder, { recursive: true });
  });

  it('POST /v1/apps/:name/check reports a broken connection', async () => {
    const port = await listen(createTcpServer((socket) => socket.destroy()));
    expect((await check(dev, await register(dev, `http://127.0.0.1:${port}/`))).codes).to.deep.equal(['broken']);
  });

  it('POST /v1/apps/:name/check reports a server that is not an app, redirects or requires authentication', async () => {
    const stranger = await check(dev, await register(dev, await host(saying({ hello: 1 }, 200, {}))));
    expect(stranger).to.deep.include({ ok: false, status: 200, codes: ['not_an_app'] });
    const moved = await check(dev, await register(dev, await host(saying({}, 301, { location: '/x' }))));
    expect(moved.codes).to.deep.equal(['redirect']);
    const closed = await check(dev, await register(dev, await host(saying({}, 401, {}))));
    expect(closed.problems[0].fix).to.include('allow the service');
  });

  it('POST /v1/apps/:name/check reports the error of an app that cannot list its functions', async () => {
    const found = await check(dev, await register(dev, await host(saying({ message: 'SERVICE_DEV is odd' }, 500))));
    expect(found.codes).to.deep.equal(['status']);
    expect(found.problems[0].message).to.include('SERVICE_DEV is odd');
  });

  it('POST /v1/apps/:name/check reports an app in the other mode', async () => {
    const cloud = await check(dev, await register(dev, await host(saying({ function_count: 1, mode: 'cloud' }))));
    expect(cloud.codes).to.deep.equal(['mode']);
    const inDev = await host(saying({ function_count: 1, mode: 'dev' }));
    expect((await check(production, await register(production, inDev))).codes).to.deep.equal(['mode']);
  });

  it('POST /v1/apps/:name/check reports functions that differ from the registered ones, and ignores failure handlers', async () => {
    const events = ['check/x', 'check/y', 'inngest/function.failed'];
    for (const [count, codes] of [
      [1, ['function_count']],
      [2, []],
      [3, []],
      [4, ['function_count']],
    ] as const) {
      const name = await register(dev, await host(saying({ function_count: count, mode: 'dev' })), events);
      expect((await check(dev, name)).codes, `${count}`).to.deep.equal(codes);
    }
  });

  it('POST /v1/apps/:name/check reports the error of the last registration', async () => {
    const url = await host((request, response) => {
      if (request.method === 'PUT') response.writeHead(500, SDK).end('{"message":"no key"}');
      else saying({ function_count: 1, mode: 'dev' })(request, response);
    });
    const name = await register(dev, url);
    await dev.post('/v1/apps', { url });
    const found = await check(dev, name);
    expect(found.codes).to.deep.equal(['sync_failed']);
    expect(found.problems[0].message).to.include('no key');
  });

  describe('app check in production', () => {
    let ran = 0;
    const hosting = (signingKey: string | undefined) => {
      const client = new Tidegate({ id: 'checked', isDev: false, ...(signingKey && { signingKey }) });
      const fn = client.createFunction({ id: 'f', triggers: { event: 'check/x' } }, () => void ran++);
      return host(serve({ client, functions: [fn] }));
    };

    it('POST /v1/apps/:name/check in production reports no problem for an app with the signing key', async () => {
      const found = await check(production, await register(production, await hosting(production.env.SIGNING_KEY)));
      expect(found.problems).to.deep.equal([]);
    });

    it('POST /v1/apps/:name/check in production reports a wrong signing key', async () => {
      const other = await hosting('signkey-test-ffffffffffffffffffffffffffffffff');
      expect((await check(production, await register(production, other))).codes).to.deep.equal(['signing_key']);
    });

    it('POST /v1/apps/:name/check in production runs no function', () => {
      expect(ran).to.equal(0);
    });
  });

  it('POST /v1/apps/:name/check reports a blocked address', async () => {
    const service = await startService({ workers: 0, env: { BLOCK_PRIVATE_ADDRESSES: 'true' } });
    try {
      const name = await register(service, await host(saying({})));
      expect((await check(service, name)).codes).to.deep.equal(['blocked']);
    } finally {
      await service.stop();
    }
  });

  describe('app check without admin access', () => {
    let member: Record<string, string>;
    before(async () => {
      const key = { name: 'member', access: 'write' };
      const { body } = await production.post('/v1/api-keys', key, production.apiHeaders);
      member = { authorization: `Bearer ${body.data.secret}` };
    });

    it('POST /v1/apps/:name/check without admin access shows only whether the app is reachable', async () => {
      const nobody = createServer();
      const port = await listen(nobody);
      nobody.close();
      const away = [
        `http://127.0.0.1:${port}/api`,
        'http://app.invalid/api',
        'http://169.254.169.254/latest/meta-data',
        await host(saying({ hello: 'a stranger' }, 404, {})),
      ];
      const responses = [];
      for (const url of away) {
        const name = await register(production, url);
        responses.push((await production.post(`/v1/apps/${name}/check`, undefined, member)).body.data);
      }
      expect(responses[0]).to.deep.include({ ok: false, reachable: false, answered_in_ms: null, status: null });
      expect(responses[0].problems.map(({ code }: { code: string }) => code)).to.deep.equal(['unreachable']);
      for (const response of responses) expect(response).to.deep.equal(responses[0]);
      const there = await register(production, await host(saying({ function_count: 9, mode: 'dev' })));
      expect((await production.post(`/v1/apps/${there}/check`, undefined, member)).body.data).to.deep.equal({
        ok: true,
        reachable: true,
        answered_in_ms: null,
        status: null,
        problems: [],
      });
    });

    it('POST /v1/apps and GET /v1/apps hide the reason of a failed registration without admin access', async () => {
      const url = await host((_, response) => void response.writeHead(200).end('the secrets of an intranet page'));
      const name = await register(production, url);
      const refused = await production.post('/v1/apps', { url }, member);
      expect([refused.status, refused.body.code]).to.deep.equal([400, 'app_unreachable']);
      expect(refused.body.error).to.include('ask an admin for the reason').and.not.include('sdk header');
      const asMember = (await production.get(`/v1/apps/${name}`, member)).body.data.last_sync;
      expect(asMember).to.include({ succeeded: false });
      expect(asMember.error).to.include('ask an admin for the reason');
      expect((await production.get(`/v1/apps/${name}`)).body.data.last_sync.error).to.include('no sdk header');
    });
  });

  it('POST /v1/apps/:name/check responds with 404 for an unknown app', async () => {
    const { status, body } = await dev.post('/v1/apps/nope/check');
    expect([status, body.code]).to.deep.equal([404, 'not_found']);
  });
});
