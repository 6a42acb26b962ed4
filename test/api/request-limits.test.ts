import { once } from 'node:events';
import { createServer, request as rawRequest } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { readBody } from '../../src/api/http/body.ts';
import { type HttpResponse, request } from '../support/http.ts';
import { type Service, startService } from '../support/service.ts';

const HOOK = 'const transform = (evt, headers, query) => ({ name: "limits/x", data: { evt, query } })';
const MOST = 1_000;
const ADMIN = { ADMIN_EMAIL: 'admin@example.com', ADMIN_PASSWORD: 'a long enough password' };

describe('request limits', () => {
  let service: Service;
  let hook: { id: string; path: string };
  before(async () => {
    service = await startService({ dev: false, workers: 0, env: ADMIN });
    const { body } = await service.post('/v1/webhooks', { name: 'limits', transform: HOOK }, service.apiHeaders);
    hook = { id: body.data.id, path: new URL(body.data.url).pathname };
  });
  after(() => service.stop());

  const rejection = ({ status, body }: HttpResponse) => [status, body.code, body.limit];
  const REJECTED = [400, 'too_many_fields', MOST];
  const query = (count: number) => `?${'a&'.repeat(count - 1)}a`;
  const multipart = (parts: number) =>
    `${'--b\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n'.repeat(parts)}--b--\r\n`;
  const post = (type: string, body: string) => service.post(hook.path, body, { 'content-type': type });

  it('a query with more than 1,000 parameters is rejected before authentication', async () => {
    for (const [method, path] of [
      ['GET', '/sign-in'],
      ['GET', '/set-up'],
      ['GET', '/v1/events'],
      ['GET', '/queues'],
      ['GET', '/nothing/here'],
      ['POST', '/e/unknown'],
      ['POST', '/fn/register'],
      ['POST', '/auth/sign-in'],
    ] as const) {
      expect(rejection(await request(method, service.url + path + query(MOST + 1))), path).to.deep.equal(REJECTED);
      expect(rejection(await request(method, service.url + path + query(7_000))), path).to.deep.equal(REJECTED);
    }
  });

  it('a query with 1,000 parameters is accepted', async () => {
    expect((await service.get(`/sign-in${query(MOST)}`)).status).to.equal(200);
    const sent = await service.post(`${hook.path}${query(MOST)}`, { one: 1 });
    expect(sent.status).to.equal(200);
  });

  it('POST /e/:key of a webhook rejects a form with more than 1,000 fields and logs the request', async () => {
    const form = (count: number) => post('application/x-www-form-urlencoded', query(count).slice(1));
    expect((await form(MOST)).status).to.equal(200);
    expect(rejection(await form(MOST + 1))).to.deep.equal(REJECTED);
    expect(rejection(await form(200_000))).to.deep.equal(REJECTED);
    await service.waitFor(`/v1/webhooks/${hook.id}/requests?limit=3`, ({ body }) =>
      body.data.some((item: { reason: string }) => item.reason === 'too_many_fields'),
    );
  });

  it('POST /e/:key of a webhook rejects a multipart body with more than 1,000 parts', async () => {
    const type = 'multipart/form-data; boundary=b';
    expect((await post(type, multipart(MOST))).status).to.equal(200);
    expect(rejection(await post(type, multipart(MOST + 1)))).to.deep.equal(REJECTED);
    // The parser ignores white space between the name and the colon.
    const spaced = multipart(MOST + 1).replaceAll('Content-Disposition:', 'CONTENT-disposition :');
    expect(rejection(await post(type, spaced))).to.deep.equal(REJECTED);
  });

  it('POST /e/:key of a webhook rejects a multipart body with more than 200,000 bytes of part headers', async () => {
    const type = 'multipart/form-data; boundary="b"';
    const headers = (count: number) =>
      `--b\r\n${'A: b\r\n'.repeat(count)}Content-Disposition: form-data; name="a"\r\n\r\n1\r\n`;
    expect((await post(type, `${headers(20_000)}--b--\r\n`)).status).to.equal(200);
    const rejected = [400, 'too_many_fields', 200_000];
    expect(rejection(await post(type, `${headers(40_000)}--b--\r\n`))).to.deep.equal(rejected);
    expect(rejection(await post(type, `${headers(20_000).repeat(2)}--b--\r\n`))).to.deep.equal(rejected);
    const content = `${headers(1).trimEnd()}${'A: b\r\n'.repeat(40_000)}--b--\r\n`;
    expect((await post(type, content)).status).to.equal(200);
  });

  it('POST /auth/sign-in rejects a form with more than 1,000 fields', async () => {
    const body = new URLSearchParams(query(MOST + 1));
    const response = await request('POST', `${service.url}/auth/sign-in`, { body, headers: { origin: service.url } });
    expect(rejection(response)).to.deep.equal(REJECTED);
  });

  it('a query parameter may have any name, even __proto__', async () => {
    // Before there is a user, the page says how to make one.
    await service.waitFor('/v1/users', ({ body }) => body.data.length > 0);
    const path = '/sign-in?__proto__=1&constructor=2&next=/events';
    expect((await service.get(path, {})).body).to.match(/name="next" value="\/events"/);
  });

  it('a request that is rejected before its body has arrived gets the response, and the connection is not reset', async () => {
    const size = 12_000_000;
    for (const [path, status] of [
      [service.eventPath, 413],
      ['/e/unknown', 401],
    ] as const) {
      const socket = connect(Number(new URL(service.url).port), '127.0.0.1');
      const response = text(socket);
      const type = 'content-type: application/json';
      socket.write(`POST ${path} HTTP/1.1\r\nhost: x\r\n${type}\r\ncontent-length: ${size}\r\n\r\n`);
      socket.write(Buffer.alloc(size / 2, ' '));
      await once(socket, 'readable');
      socket.write(Buffer.alloc(size / 2, ' '));
      expect(await response)
        .to.match(new RegExp(`^HTTP/1.1 ${status} `))
        .and.match(/\r\nconnection: close\r\n/i)
        .and.match(new RegExp(`"status":${status}\\}$`));
    }
  });

  it('a body that comes with its headers is read without a listener, and one in two parts is complete', async () => {
    const server = createServer(async (req, res) => {
      // As in the service, where authentication comes first.
      await undefined;
      const body = readBody(req, 1_000);
      const listeners = req.listenerCount('data');
      res.end(`${listeners} ${await body}`);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const head = 'POST / HTTP/1.1\r\nhost: a\r\nconnection: close\r\ncontent-length: 4\r\n\r\n';
    const whole = connect(port, '127.0.0.1');
    whole.write(`${head}tide`);
    expect(await text(whole)).to.match(/\r\n0 tide/);
    const parted = connect(port, '127.0.0.1');
    server.once('request', () => parted.write('de'));
    parted.write(`${head}ti`);
    expect(await text(parted)).to.match(/\r\n1 tide/);
    server.close();
  });

  it('Node responds with 431 to a request line longer than 16 KB', async () => {
    const { hostname, port } = new URL(service.url);
    const status = await new Promise((resolve, reject) => {
      rawRequest({ hostname, port, path: `/sign-in${query(20_000)}` }, (response) => {
        response.resume();
        resolve(response.statusCode);
      })
        .once('error', reject)
        .end();
    });
    expect(status).to.equal(431);
  });

  it('a request target without a path is rejected with 400, not 500', async () => {
    const { hostname, port } = new URL(service.url);
    for (const target of ['http://[', 'http://[::1', 'http://a:b@[/v1/runs']) {
      const socket = connect(Number(port), hostname).setEncoding('utf8');
      socket.end(`GET ${target} HTTP/1.1\r\nHost: ${hostname}\r\nConnection: close\r\n\r\n`);
      const response = (await socket.toArray()).join('');
      expect(response, target).to.match(/^HTTP\/1\.1 400 /);
      // Node rejects some of them itself.
      if (response.includes('x-request-id')) expect(response).to.include('"code":"input_invalid"');
    }
  });

  for (const path of ['/queues', '/v1/runs', '/']) {
    it(`PROPFIND ${path} is rejected with 405, not 501`, async () => {
      const { status, body } = await service.request('PROPFIND', path, undefined, service.apiHeaders);
      expect([status, body.code]).to.deep.equal([405, 'method_not_allowed']);
    });
  }
});
