import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { expect } from 'chai';
import { Agent } from 'undici';
import { ResponseTooLarge } from '../../src/functions/http-agent.ts';
import { httpPost } from '../../src/functions/http-post.ts';

const PATIENT = { timeoutMs: 30_000, maxBytes: 1_000 };

describe('HTTP POST to an app', () => {
  let server: Server;
  let agent: Agent;
  let url: string;
  let listener: RequestListener;
  beforeEach(async () => {
    agent = new Agent();
    server = createServer((request, response) => listener(request, response)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api?fnId=f`;
  });
  afterEach(async () => {
    await agent.destroy();
    server.close();
    server.closeAllConnections();
    await once(server, 'close');
  });

  async function failureOf(response: Promise<unknown>): Promise<Error> {
    return response.then(
      () => {
        throw new Error('a response came');
      },
      (error: Error) => error,
    );
  }

  it('httpPost sends path, query, headers and body and returns the whole response', async () => {
    listener = async (request, response) => {
      const chunks = await request.toArray();
      response.writeHead(206, { 'x-seen': `${request.method} ${request.url} ${request.headers['x-run-id']}` });
      response.write('gr');
      response.end(`üße: ${Buffer.concat(chunks).toString()}`);
    };
    const { status, headers, body } = await httpPost(agent, url, { 'x-run-id': 'r1' }, 'ä', PATIENT);
    expect([status, headers['x-seen'], body]).to.deep.equal([206, 'POST /api?fnId=f r1', 'grüße: ä']);
  });

  it('httpPost skips informational responses', async () => {
    listener = (_request, response) => {
      response.writeEarlyHints({ link: '</style.css>; rel=preload; as=style' });
      response.writeHead(200, { 'x-service-sdk': 'test:v1.0.0' }).end('"done"');
    };
    const { status, headers, body } = await httpPost(agent, url, {}, '{}', PATIENT);
    expect([status, headers['x-service-sdk'], headers.link, body]).to.deep.equal([
      200,
      'test:v1.0.0',
      undefined,
      '"done"',
    ]);
  });

  it('httpPost stops reading at the response size limit', async () => {
    let closed: Promise<unknown> | undefined;
    listener = (_request, response) => {
      closed = once(response, 'close');
      response.write('x'.repeat(1_000));
      if (over) response.write('x');
      else response.end();
    };
    let over = false;
    expect((await httpPost(agent, url, {}, '{}', PATIENT)).body).to.have.length(1_000);
    over = true;
    expect(await failureOf(httpPost(agent, url, {}, '{}', PATIENT))).to.be.instanceOf(ResponseTooLarge);
    await closed;
  });

  it('httpPost times out at any stage of the response and closes the connection', async () => {
    let closed: Promise<unknown> | undefined;
    listener = (_request, response) => {
      closed = once(response, 'close');
      response.write('the beginning of');
    };
    const failure = await failureOf(httpPost(agent, url, {}, '{}', { ...PATIENT, timeoutMs: 50 }));
    expect(failure.name).to.equal('TimeoutError');
    await closed;
  });

  it('httpPost sends nothing when it times out before it is connected', async () => {
    const requested: string[] = [];
    listener = (request, response) => {
      requested.push(request.url ?? '');
      response.end();
    };
    const mayConnect = Promise.withResolvers<void>();
    const slow = new Agent({
      connect: (_target, callback) => {
        const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
        void Promise.all([once(socket, 'connect'), mayConnect.promise]).then(() => callback(null, socket));
      },
    });
    try {
      const failure = await failureOf(httpPost(slow, url, {}, '{}', { ...PATIENT, timeoutMs: 20 }));
      expect(failure.name).to.equal('TimeoutError');
      mayConnect.resolve();
      await httpPost(slow, `${url}&second`, {}, '{}', PATIENT);
      expect(requested).to.deep.equal(['/api?fnId=f&second']);
    } finally {
      await slow.destroy();
    }
  });

  it('httpPost fails with the error of the connection', async () => {
    listener = (request) => request.socket.destroy();
    expect(await failureOf(httpPost(agent, url, {}, '{}', PATIENT))).to.have.property('code', 'UND_ERR_SOCKET');
    expect(await failureOf(httpPost(agent, 'http://127.0.0.1:1/', {}, '{}', PATIENT))).to.have.property(
      'code',
      'ECONNREFUSED',
    );
  });
});
