import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, get, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import Koa from 'koa';
import { dashboardPage } from '../../src/api/dashboard.ts';
import { addUser, cookieOf, PASSWORD, postForm, sessionHeaders } from '../support/auth.ts';
import { request } from '../support/http.ts';
import { type Service, startService } from '../support/service.ts';

const HTML = { accept: 'text/html' };

describe("The dashboard's page", () => {
  let service: Service;
  before(async () => {
    service = await startService({ workers: 0 });
  });
  after(() => service.stop());

  it('every dashboard path serves the page, including deep links', async () => {
    const paths = [
      '/',
      '/events',
      '/runs/01JX',
      '/apps/shop',
      '/webhooks/x?tab=requests',
      '/held-events',
      '/audit-log',
    ];
    for (const path of paths) {
      const { status, headers, body } = await service.get(path, HTML);
      expect([status, headers.get('content-type')], path).to.deep.equal([200, 'text/html; charset=utf-8']);
      expect(body, path).to.include('<div id="root">');
      expect(headers.get('cache-control'), path).to.equal('no-store');
    }
    for (const path of ['/nothing', '/eventsx', '/v1/nothing', '/assets/nothing.js']) {
      expect((await service.get(path, HTML)).status, path).to.equal(404);
    }
    expect((await service.post('/events')).status).to.equal(404);
  });

  it("the CSP allows only the dashboard's own scripts, and styles with a nonce per response", async () => {
    const [first, second] = await Promise.all([service.get('/', HTML), service.get('/', HTML)]);
    const nonceOf = ({ headers }: typeof first) =>
      /style-src 'self' 'nonce-([\w+/=]{24})'/.exec(headers.get('content-security-policy') ?? '')?.[1];
    expect(nonceOf(first)).to.be.a('string').and.not.equal(nonceOf(second));
    expect(first.body)
      .to.include(`nonce="${nonceOf(first)}"`)
      .and.not.include('__CSP_NONCE__');
    const policy = first.headers.get('content-security-policy') ?? '';
    expect(policy.split('; ')).to.include.members([
      "default-src 'none'",
      "script-src 'self'",
      "frame-ancestors 'none'",
    ]);
    expect(policy).not.to.match(/unsafe/);
    expect(first.body).not.to.match(/<script(?![^>]* src="\/assets\/)/);
    expect(first.body).not.to.match(/\son\w+=|\sstyle=/);
  });

  it('assets are immutable and served compressed to clients that accept it', async () => {
    const { body } = await service.get('/', HTML);
    const [, script] = /src="(\/assets\/[^"]+\.js)"/.exec(body) ?? [];
    for (const [accepted, encoding] of [
      ['br, gzip', 'br'],
      ['gzip', 'gzip'],
      ['identity', undefined],
    ] as const) {
      const { status, headers } = await plainGet(service.url + script, accepted);
      expect([status, headers['content-encoding']], accepted).to.deep.equal([200, encoding]);
      expect(headers['cache-control'])
        .to.match(/max-age=31536000/)
        .and.match(/immutable/);
      expect(headers['content-type']).to.match(/javascript/);
      expect(headers.vary).to.match(/accept-encoding/i);
    }
    for (const path of [
      '/assets/../index.html',
      '/assets/%2e%2e/index.html',
      '/assets/../../package.json',
      '/assets/%zz.js',
      '/index.html',
    ]) {
      const { status } = await plainGet(service.url + path, 'identity');
      expect(status, path).to.equal(404);
    }
  });

  it('without a build, a page explains how to build; after the build the dashboard appears', async () => {
    const dist = mkdtempSync(join(tmpdir(), 'tidegate-dist-'));
    const server = createServer(new Koa().use(dashboardPage(dist)).callback()).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/runs`;
    try {
      const without = await request('GET', url);
      expect(without.status).to.equal(503);
      expect(without.body).to.include('npm run build');
      writeFileSync(join(dist, 'index.html'), '<p>built</p>');
      expect((await request('GET', url)).body).to.equal('<p>built</p>');
    } finally {
      server.close();
      server.closeAllConnections();
      rmSync(dist, { recursive: true });
    }
  });
});

describe("The dashboard's page behind sign-in", () => {
  let service: Service;
  before(async () => {
    service = await startService({ dev: false, workers: 0 });
    await addUser(service, 'ada@example.com', 'read-only');
  });
  after(() => service.stop());

  it('requests without a session redirect to sign-in and back', async () => {
    const path = '/runs?status=Failed&env=staging';
    const away = await service.get(path, HTML);
    const signInAt = `/sign-in?next=${encodeURIComponent(path)}`;
    expect([away.status, away.headers.get('location')]).to.deep.equal([302, signInAt]);
    const back = await postForm(service, '/auth/sign-in', { email: 'ada@example.com', password: PASSWORD, next: path });
    expect([back.status, back.headers.get('location')]).to.deep.equal([303, path]);
    const page = await service.get(path, { ...HTML, ...cookieOf(back) });
    expect([page.status, page.body.includes('id="root"')]).to.deep.equal([200, true]);
  });

  it('without a session only static files are served', async () => {
    expect((await service.get('/', {})).status).to.equal(401);
    expect((await service.get('/favicon.svg', {})).status).to.equal(200);
    const headers = await sessionHeaders(service, 'ada@example.com');
    const { body } = await service.get('/', { ...HTML, ...headers });
    const [, script] = /src="(\/assets\/[^"]+\.js)"/.exec(body) ?? [];
    expect((await service.get(script as string, {})).status).to.equal(200);
  });
});

/** Raw response: `fetch` would decompress it and normalize the path. */
function plainGet(url: string, encoding: string): Promise<{ status: number; headers: IncomingHttpHeaders }> {
  const { hostname, port } = new URL(url);
  const path = url.slice(`http://${hostname}:${port}`.length);
  return new Promise((resolve, reject) => {
    get({ hostname, port, path, headers: { 'accept-encoding': encoding } }, (response) => {
      response.resume().on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers }));
    }).on('error', reject);
  });
}
