import { createHmac, generateKeyPairSync } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { expect } from 'chai';
import { forward } from '../../cli/src/listen/forward.ts';
import { keyHeaders } from '../support/auth.ts';
import { makeCertificate } from '../support/certificates.ts';
import { type CliCommand, cli, startCli } from '../support/cli.ts';
import { type RequestBody, request } from '../support/http.ts';
import { type Service, startService } from '../support/service.ts';
import { until } from '../support/until.ts';

interface Received {
  method: string;
  url: string;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

const SECRET = 'whsec_of_the_test_of_listen';

describe('tidegate listen', () => {
  let service: Service;
  let app: Server;
  let to: string;
  let received: Received[];
  let status = 200;
  let listening: CliCommand[];

  before(async () => {
    service = await startService({ dev: false, workers: 0 });
    app = createServer(async (message, response) => {
      const { method = '', url = '', headers } = message;
      received.push({ method, url, headers, body: await buffer(message) });
      response.writeHead(status).end('said the app');
    });
    await new Promise<void>((resolve) => app.listen(0, '127.0.0.1', resolve));
    to = `http://127.0.0.1:${(app.address() as AddressInfo).port}`;
  });
  beforeEach(() => {
    [received, listening, status] = [[], [], 200];
  });
  afterEach(async () => {
    for (const { child } of listening) child.kill('SIGKILL');
    await Promise.all(listening.map(({ exitCode }) => exitCode));
  });
  after(async () => {
    app.close();
    await service.stop();
  });

  async function make(name: string, fields: object = {}): Promise<{ id: string; url: string; name: string }> {
    const transform = 'const transform = () => null;';
    const { status, body } = await service.post('/v1/webhooks', { name, transform, ...fields }, service.apiHeaders);
    expect(status, JSON.stringify(body)).to.equal(201);
    return body.data;
  }

  async function listen(args: string[], path = ''): Promise<CliCommand> {
    const command = startCli(['listen', ...args, '--to', to + path], { service });
    listening.push(command);
    await until(() => command.stderr().includes('→'), { describe: 'it listens' });
    return command;
  }

  const deliver = (url: string, body: RequestBody, headers: Record<string, string> = {}) =>
    request('POST', url, { body, headers });
  const forwarded = (count: number) =>
    until(() => received.length >= count, { describe: () => `${count} requests are forwarded` });

  it('forwards a request unchanged, so that the app can verify it, and prints the response of the app', async () => {
    const webhook = await make('Stripe of listen', { provider: 'stripe', secrets: [SECRET] });
    const command = await listen([webhook.name], '/hooks/stripe?from=tidegate');
    const body = '{"id": "evt_1",  "type":"invoice.paid", "text": "é"}';
    const seconds = Math.floor(Date.now() / 1_000);
    const signature = `t=${seconds},v1=${createHmac('sha256', SECRET).update(`${seconds}.${body}`).digest('hex')}`;
    await deliver(`${webhook.url}?a=%20b&a=2`, body, {
      'stripe-signature': signature,
      'content-type': 'application/json',
    });
    await forwarded(1);
    const [{ method, url, headers, body: got }] = received as [Received];
    expect([method, url, got.toString()]).to.deep.equal(['POST', '/hooks/stripe?from=tidegate&a=%20b&a=2', body]);
    expect(headers).to.include({ 'stripe-signature': signature, 'content-type': 'application/json' });
    expect(headers).to.include({ host: new URL(to).host, 'x-forwarded-host': new URL(service.url).host });
    await command.prints(/Stripe of listen {2}POST \S+ {2}ignored {2}→ 200 in \d+ ms/);
    expect(await command.interrupt()).to.equal(130);
  });

  it('forwards to a server with a self-signed certificate on this machine only', async () => {
    const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
    const certificate = makeCertificate({ subject: 'app', publicKey, issuer: 'app', issuerKey: privateKey });
    const key = privateKey.export({ type: 'pkcs8', format: 'pem' });
    const server = createTlsServer({ key, cert: certificate.toString() }, (_, response) => response.end('ok'));
    await new Promise<void>((resolve) => server.listen(0, resolve));
    const { port } = server.address() as AddressInfo;
    const request = { method: 'POST', query_string: '', headers: [], body: '', withheld: [] };
    const result = async (host: string) => {
      const target = { to: new URL(`https://${host}:${port}`), headers: [], signal: AbortSignal.timeout(30_000) };
      return forward(request, target);
    };
    try {
      expect((await result('localhost')).status).to.equal(200);
      expect((await result('127.0.0.1')).status).to.equal(200);
      // Not a name of this machine, although it leads here.
      const { status, error } = await result('0.0.0.0');
      expect(status).to.equal(null);
      expect(error).to.match(/^self-signed certificate/);
    } finally {
      server.close();
      server.closeAllConnections();
    }
  });

  it('forwards binary bodies of several webhooks, and marks responses that are errors', async () => {
    const [one, other] = [await make('one'), await make('other')];
    const command = await listen([one.id, 'other']);
    status = 500;
    const bytes = Buffer.from([0, 255, 128, 10]);
    await deliver(one.url, bytes);
    await forwarded(1);
    await deliver(other.url, '{}');
    await forwarded(2);
    expect(received[0]?.body.equals(bytes)).to.equal(true);
    await command.prints(/other {2}POST \S+ {2}ignored {2}→ 500 in \d+ ms {2}said the app/);
  });

  it('sends the header that --header sets instead of a withheld token', async () => {
    const webhook = await make('GitLab', { provider: 'gitlab', secrets: ['token-of-gitlab'] });
    const command = await listen([webhook.id]);
    await deliver(webhook.url, '{}', { 'x-gitlab-token': 'token-of-gitlab', 'x-gitlab-event': 'Push Hook' });
    await forwarded(1);
    expect(received[0]?.headers).to.have.property('x-gitlab-event').and.not.have.property('x-gitlab-token');
    await command.prints('not sent: x-gitlab-token; set them with --header');
    await listen([webhook.id, '-H', 'X-Gitlab-Token: of my own', '--since', '5m']);
    await forwarded(2);
    expect(received[1]?.headers['x-gitlab-token']).to.equal('of my own');
  });

  it('leaves out re-runs and requests that failed verification, unless --all asks for them', async () => {
    const webhook = await make('forged', { provider: 'stripe', secrets: [SECRET] });
    const open = await make('rerun');
    const response = await deliver(webhook.url, '{"forged": true}');
    expect(response.status).to.equal(401);
    const first = await deliver(open.url, '{"first": true}');
    const id = first.headers.get('x-request-id');
    const path = `/v1/webhooks/${open.id}/requests/${id}`;
    await service.waitFor(path, ({ status }) => status === 200);
    await service.post(`${path}/rerun`, { dry_run: false }, service.apiHeaders);
    const log = `/v1/webhooks/${open.id}/requests`;
    await service.waitFor(log, ({ body }) => body.data.length === 2);
    await listen([webhook.id, open.id, '--since', '5m']);
    await forwarded(1);
    expect(received.map(({ body }) => body.toString())).to.deep.equal(['{"first": true}']);
    received = [];
    await listen([webhook.id, '--since', '5m', '--all']);
    await forwarded(1);
    expect(received[0]?.body.toString()).to.equal('{"forged": true}');
  });

  it('continues after an outage of the service with each request that came meanwhile, once and in order', async () => {
    const own = await startService({ processes: true, dev: false, workers: 0, webs: 2 });
    try {
      const fields = { name: 'away', transform: 'const transform = () => null;' };
      const { url } = (await own.post('/v1/webhooks', fields, own.apiHeaders)).body.data;
      const command = startCli(['listen', 'away', '--to', to], { service: own });
      listening.push(command);
      await until(() => command.stderr().includes('→'), { describe: 'it listens' });
      await deliver(url, '1');
      await forwarded(1);
      const [web] = own.webs.splice(0, 1);
      await web?.kill();
      for (const body of ['2', '3']) await deliver(own.url + new URL(url).pathname, body);
      await until(() => command.stderr().includes('trying again'), { describe: 'it notices' });
      own.env.PORT = String(web?.port);
      await own.startWeb();
      await forwarded(3);
      expect(received.map(({ body }) => body.toString())).to.deep.equal(['1', '2', '3']);
      await command.prints('Connected again');
    } finally {
      await own.stop();
    }
  });

  it('says what is wrong: an unknown webhook, a key without access, an unreachable app', async () => {
    const webhook = await make('errors');
    const missing = await cli(['listen', 'nope', '--to', to], { service });
    expect(missing.exitCode).to.equal(3);
    expect(missing.stderr).to.include('There is no webhook with the ID or name "nope"').and.include('"errors"');
    const { authorization = '' } = await keyHeaders(service, 'read');
    await deliver(webhook.url, '{}');
    const env = { TIDEGATE_API_KEY: authorization.replace('Bearer ', '') };
    const refused = await cli(['listen', webhook.id, '--to', to, '--since', '5m'], { service, env });
    expect([refused.exitCode, received.length]).to.deep.equal([4, 0]);
    const command = startCli(['listen', webhook.id, '--to', 'http://127.0.0.1:9', '--since', '5m', '--json'], {
      service,
    });
    listening.push(command);
    const line = JSON.parse((await command.prints('\n')).trim());
    expect(line).to.include({ webhook: 'errors', status: null, error: 'nothing listens at 127.0.0.1:9' });
  });
});
