import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { type AppHost, type Call, startAppHost } from '../support/app-host.ts';
import { keysOf } from '../support/redis.ts';
import { type Service, startService } from '../support/service.ts';
import { until } from '../support/until.ts';

const STEP = 'a'.repeat(40);
const KEY = 'sk-provider-key-0123456789';

interface Received {
  method: string;
  url: string;
  headers: IncomingMessage['headers'];
  body: string;
}

/** A host on the internet: records requests and responds to them. */
class Outside {
  readonly received: Received[] = [];
  readonly #server: Server;
  respond: (received: Received, response: ServerResponse) => void = (_, response) => void response.end('{}');

  constructor() {
    this.#server = createServer(async (request, response) => {
      const { method = '', url = '', headers } = request;
      const one = { method, url, headers, body: (await buffer(request)).toString() };
      this.received.push(one);
      this.respond(one, response);
    });
  }

  async listen(): Promise<void> {
    await once(this.#server.listen(0, '127.0.0.1'), 'listening');
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}

describe('Requests of steps', () => {
  let service: Service;
  let host: AppHost;
  let outside: Outside;
  before(async () => {
    service = await startService({
      processes: 'worker',
      env: { RETRY_SCALE: '0.001', STALLED_AFTER_SECONDS: '2', OUTBOUND_DENY_CIDRS: '10.0.0.0/8' },
    });
  });
  after(() => service?.stop());
  beforeEach(async () => {
    host = await startAppHost();
    outside = new Outside();
    await outside.listen();
  });
  afterEach(async () => {
    outside.close();
    await host.close();
  });

  let count = 0;
  /** Starts a run whose one step makes the request. @returns the ID of the event */
  const start = async (op: 'Gateway' | 'AIGateway', opts: object, retries = 0) => {
    const id = `request-${count++}`;
    host.on(id, (call: Call) =>
      call.body.steps[STEP] === undefined
        ? { status: 206, body: [{ op, id: STEP, displayName: 'ask', opts }] }
        : { body: call.body.steps[STEP] },
    );
    await host.register(service, [{ id, triggers: [{ event: `requests/${id}` }], retries }], { appName: id });
    const { body } = await service.post('/e/key', { name: `requests/${id}`, data: {} });
    return body.ids[0] as string;
  };
  const runOf = async (eventId: string) => {
    const { body } = await service.waitFor(`/v1/events/${eventId}/runs`, ({ body }) => body.data?.[0]?.ended_at);
    return body.data[0];
  };
  const memoOf = async (op: 'Gateway' | 'AIGateway', opts: object, retries = 0) =>
    (await runOf(await start(op, opts, retries))).output;
  const fetched = (opts: object, retries = 0) => memoOf('Gateway', opts, retries);
  const inferred = (opts: object, retries = 0) => memoOf('AIGateway', opts, retries);
  /** Everything in Redis, as text. */
  const storedText = async () => {
    const texts: string[] = [];
    for (const key of await keysOf(service.redis, service.prefix)) {
      const dump = await service.redis.dumpBuffer(key);
      texts.push(key, dump?.toString('latin1') ?? '');
      const type = await service.redis.type(key);
      if (type === 'string') texts.push((await service.redis.get(key)) ?? '');
      if (type === 'zset') texts.push(JSON.stringify(await service.redis.zrange(key, '0', '-1')));
      if (type === 'hash') texts.push(JSON.stringify(await service.redis.hgetall(key)));
      if (type === 'list') texts.push(JSON.stringify(await service.redis.lrange(key, 0, -1)));
    }
    return texts.join('\n');
  };

  it('are in the history with method, origin and status, but without anything that may be secret', async () => {
    outside.respond = (_, response) => void response.writeHead(418).end('tea');
    const opts = { url: `${outside.url}/secret-path?key=secret`, method: 'PUT', body: 'x' };
    const { run_id } = await runOf(await start('Gateway', opts));
    const { history } = (await service.get(`/v1/runs/${run_id}`)).body.data;
    const entry = (history as { step_id: string; kind: string; request: unknown }[]).find(
      ({ step_id, kind }) => step_id === STEP && kind === 'step',
    );
    expect(entry?.request).to.deep.equal({ method: 'PUT', origin: outside.url, status: 418 });
    expect(JSON.stringify(history)).not.to.include('secret');
  });

  it('carry an idempotency key where they may change something, the same on each attempt', async () => {
    outside.respond = ({ url }, response) => {
      if (url === '/lost' && outside.received.length < 3) response.destroy();
      else if (url === '/see-other') response.writeHead(303, { location: '/seen' }).end();
      else response.end('{}');
    };
    const keys = () => outside.received.splice(0).map(({ method, headers }) => [method, headers['idempotency-key']]);
    const { run_id } = await runOf(
      await start('Gateway', { url: `${outside.url}/lost`, method: 'POST', body: 'x' }, 3),
    );
    const own = `${run_id}-${STEP}`;
    expect(keys()).to.deep.equal([1, 2, 3].map(() => ['POST', own]));
    for (const method of ['GET', 'HEAD']) await fetched({ url: outside.url, method });
    for (const name of ['Idempotency-Key', 'idempotency-key', 'IDEMPOTENCY-KEY']) {
      await fetched({ url: outside.url, method: 'DELETE', headers: { [name]: 'mine' } });
    }
    expect(keys()).to.deep.equal([['GET', undefined], ['HEAD', undefined], ...[1, 2, 3].map(() => ['DELETE', 'mine'])]);
    const other = await runOf(await start('Gateway', { url: `${outside.url}/see-other`, method: 'POST' }));
    expect(keys()).to.deep.equal([
      ['POST', `${other.run_id}-${STEP}`],
      ['GET', undefined],
    ]);
    await inferred({ url: outside.url, format: 'openai-chat', auth_key: KEY, body: {} });
    expect(keys()).to.deep.equal([['POST', undefined]]);
  });

  it('have the status of each failed attempt of an inference in the history', async () => {
    let requests = 0;
    outside.respond = (_, response) => void response.writeHead(requests++ === 0 ? 503 : 200).end('{}');
    const { run_id } = await runOf(await start('AIGateway', { url: `${outside.url}/v1`, body: {} }, 1));
    const { history } = (await service.get(`/v1/runs/${run_id}`)).body.data;
    const statuses = (history as { request: { status: number } | null }[]).flatMap(({ request }) =>
      request ? [request.status] : [],
    );
    expect(statuses).to.deep.equal([503, 200]);
  });

  describe('step.fetch', () => {
    it('memoizes status, headers and body, whatever the status', async () => {
      outside.respond = (_, response) =>
        void response.writeHead(404, { 'content-type': 'text/plain', 'x-many': ['a', 'b'] }).end('no such thing');
      const { data } = await fetched({
        url: `${outside.url}/things/1?full=true`,
        method: 'put',
        headers: { 'X-Own': 'yes', Host: 'elsewhere.example', 'Content-Length': '3', 'Transfer-Encoding': 'chunked' },
        body: { a: 1 },
      });
      expect([data.status_code, data.body, data.url]).to.deep.equal([404, 'no such thing', `${outside.url}/things/1`]);
      expect(data.headers).to.include({ 'Content-Type': 'text/plain', 'X-Many': 'a, b' });
      const [{ method, url, headers, body }] = outside.received as [Received];
      expect([method, url, body]).to.deep.equal(['PUT', '/things/1?full=true', '{"a":1}']);
      expect(headers).to.include({
        'x-own': 'yes',
        'content-type': 'application/json',
        host: new URL(outside.url).host,
      });
      expect(outside.received).to.have.length(1);
    });

    it('makes a GET without a body by default, and has null for a response that cannot have one', async () => {
      outside.respond = (_, response) => void response.writeHead(204).end();
      const { data } = await fetched({ url: outside.url, body: '' });
      expect([data.status_code, data.body]).to.deep.equal([204, null]);
      expect(outside.received[0]).to.include({ method: 'GET', body: '' });
    });

    it('decompresses the body, and limits the decompressed size', async () => {
      const responses = [gzipSync('zipped'), gzipSync(Buffer.alloc(50_000_000))];
      outside.respond = (_, response) =>
        void response.writeHead(200, { 'content-encoding': 'gzip' }).end(responses[outside.received.length - 1]);
      const { data } = await fetched({ url: outside.url });
      expect([data.body, data.headers['Content-Encoding']]).to.deep.equal(['zipped', undefined]);
      expect((await fetched({ url: outside.url }, 3)).error.name).to.equal('ResponseTooLarge');
      expect(outside.received).to.have.length(2);
    });

    it('fails the step at once for a response that is too large, without reading it to its end', async () => {
      outside.respond = (_, response) => {
        const more = () => {
          while (!response.destroyed && response.write(Buffer.alloc(65_536, 'x')));
        };
        response.on('drain', more);
        more();
      };
      expect((await fetched({ url: outside.url }, 3)).error.name).to.equal('ResponseTooLarge');
      expect(outside.received).to.have.length(1);
    });

    it('retries a request without a response as attempts of the step, then fails the step', async () => {
      outside.respond = (_, response) => void response.socket?.destroy();
      const eventId = await start('Gateway', { url: `${outside.url}/?token=secret-in-the-query` }, 2);
      const run = await runOf(eventId);
      expect(run.output.error.name).to.equal('RequestError');
      expect(outside.received).to.have.length(3);
      const { body } = await service.get(`/v1/runs/${run.run_id}`);
      const attempts = body.data.history.filter(
        ({ op, kind }: Record<string, string>) => op === 'Gateway' && kind === 'attempt',
      );
      expect(attempts.map(({ attempt, status }: Record<string, unknown>) => [attempt, status])).to.deep.equal([
        [0, 'Failed'],
        [1, 'Failed'],
        [2, 'Failed'],
      ]);
      expect(JSON.stringify(body)).not.to.include('secret-in-the-query');
    });

    it('succeeds on a later attempt', async () => {
      outside.respond = (_, response) =>
        void (outside.received.length < 2 ? response.socket?.destroy() : response.end('there'));
      expect((await fetched({ url: outside.url }, 2)).data.body).to.equal('there');
    });

    for (const [what, opts] of Object.entries({
      'a line break in a header': { headers: { 'x-a': 'b\r\nx-injected: 1' } },
      'a line break in the name of a header': { headers: { 'x-a\r\nx-b': '1' } },
      'a header that is not text': { headers: { 'x-a': { b: 1 } } },
      'too many headers': { headers: Object.fromEntries(Array.from({ length: 101 }, (_, i) => [`x-${i}`, '1'])) },
      'a method that is none': { method: 'GET / HTTP/1.1\r\nx: y' },
      'a method of connections': { method: 'CONNECT' },
      'another protocol': { url: 'file:///etc/passwd' },
      'no URL': { url: undefined },
      'a URL with a password': { url: 'http://user:pass@127.0.0.1/' },
    })) {
      it(`refuses ${what}, makes no request, and the function can catch it`, async () => {
        const { error } = await fetched({ url: outside.url, ...opts }, 3);
        expect(error.name).to.equal('InvalidRequest');
        expect(outside.received).to.have.length(0);
      });
    }

    for (const address of ['http://169.254.169.254/latest/meta-data', 'http://10.1.2.3/', 'http://[fe80::1]/']) {
      it(`does not connect to ${address}, directly or by a redirect`, async () => {
        expect((await fetched({ url: address }, 3)).error.name).to.equal('AddressBlocked');
        outside.respond = (_, response) => void response.writeHead(302, { location: address }).end();
        expect((await fetched({ url: outside.url }, 3)).error.name).to.equal('AddressBlocked');
        expect(outside.received).to.have.length(1);
      });
    }

    it('follows redirects like fetch, and sends the secrets of one origin to no other', async () => {
      const other = new Outside();
      await other.listen();
      outside.respond = ({ url }, response) =>
        void response.writeHead(url === '/303' ? 303 : 307, { location: `${other.url}/next` }).end();
      const headers = { authorization: 'Bearer secret', cookie: 'a=b', 'x-api-key': 'k', 'x-plain': 'p' };
      await fetched({ url: `${outside.url}/307`, method: 'POST', headers, body: 'text' });
      await fetched({ url: `${outside.url}/303`, method: 'POST', headers, body: 'text' });
      expect(other.received.map(({ method, body }) => [method, body])).to.deep.equal([
        ['POST', 'text'],
        ['GET', ''],
      ]);
      for (const received of other.received) {
        expect(received.headers)
          .to.include({ 'x-plain': 'p' })
          .and.not.include.any.keys('authorization', 'cookie', 'x-api-key');
      }
      other.close();
    });

    it('stops after ten redirects, and at a redirect to another protocol', async () => {
      outside.respond = (_, response) => void response.writeHead(302, { location: '/again' }).end();
      expect((await fetched({ url: outside.url }, 3)).error.name).to.equal('TooManyRedirects');
      expect(outside.received).to.have.length(11);
      outside.respond = (_, response) => void response.writeHead(302, { location: 'ftp://example.com/' }).end();
      expect((await fetched({ url: outside.url }, 3)).error.name).to.equal('RedirectBlocked');
    });
  });

  describe('step.ai.infer', () => {
    const COMPLETION = { choices: [{ message: { role: 'assistant', content: 'hello' } }] };
    const ask = (opts: object = {}) => ({
      url: `${outside.url}/v1/chat/completions`,
      format: 'openai-chat',
      auth_key: KEY,
      headers: {},
      body: { model: 'm', messages: [] },
      ...opts,
    });
    beforeEach(() => {
      outside.respond = (_, response) => void response.end(JSON.stringify(COMPLETION));
    });

    for (const [format, expected] of Object.entries({
      'openai-chat': { authorization: `Bearer ${KEY}` },
      'openai-responses': { authorization: `Bearer ${KEY}` },
      grok: { authorization: `Bearer ${KEY}` },
      bedrock: { authorization: `Bearer ${KEY}` },
      anthropic: { 'x-api-key': KEY, 'anthropic-version': '2023-06-01' },
      gemini: { 'x-goog-api-key': KEY },
      'azure-openai': { 'api-key': KEY },
    })) {
      it(`places the key where ${format} expects it, and memoizes the provider's JSON`, async () => {
        expect(await inferred(ask({ format }))).to.deep.equal({ data: COMPLETION });
        const [{ headers, method, body }] = outside.received as [Received];
        expect(headers).to.include({ 'content-type': 'application/json', ...expected });
        expect([method, JSON.parse(body)]).to.deep.equal(['POST', { model: 'm', messages: [] }]);
      });
    }

    it("keeps the app's own headers, and the key that gemini has in the URL", async () => {
      await inferred(ask({ headers: { Authorization: 'Bearer own', 'anthropic-beta': 'x' } }));
      expect(outside.received[0]?.headers).to.include({ authorization: 'Bearer own', 'anthropic-beta': 'x' });
      await inferred(ask({ format: 'gemini', url: `${outside.url}/m:generateContent?key=${KEY}` }));
      expect(outside.received[1]?.url).to.include(`key=${KEY}`);
      expect(outside.received[1]?.headers).not.to.have.property('x-goog-api-key');
    });

    it('requests the whole response if the app asks for a stream', async () => {
      await inferred(ask({ body: { stream: true } }));
      expect(JSON.parse(outside.received[0]?.body ?? '')).to.deep.equal({ stream: false });
    });

    it('fails the step at once for an error of the request, and retries others', async () => {
      const statuses = [401, 429, 500, 200];
      outside.respond = (_, response) => {
        const status = statuses[outside.received.length - 1] as number;
        response.writeHead(status).end(JSON.stringify(status === 200 ? COMPLETION : { error: `wrong key ${KEY}` }));
      };
      const { error } = await inferred(ask(), 4);
      expect([error.name, error.message]).to.deep.equal([
        'ProviderError',
        `${outside.url} responded with status 401: {"error":"wrong key [redacted]"}`,
      ]);
      expect(await inferred(ask(), 4)).to.deep.equal({ data: COMPLETION });
    });

    it('does not send the key to another origin', async () => {
      const other = new Outside();
      await other.listen();
      outside.respond = (_, response) => void response.writeHead(307, { location: other.url }).end();
      expect((await inferred(ask(), 3)).error.name).to.equal('RedirectBlocked');
      expect(other.received).to.have.length(0);
      other.close();
    });

    it('exposes the key neither in Redis during and after the request nor in a response or a log', async () => {
      let release = () => {};
      outside.respond = (_, response) => {
        release = () => void response.writeHead(500).end(`echo: Bearer ${KEY}`);
      };
      const eventId = await start(
        'AIGateway',
        ask({ url: `${outside.url}/x?key=${KEY}`, headers: { 'x-api-key': KEY } }),
        1,
      );
      await until(() => outside.received.length === 1, { describe: 'the request is in flight' });
      const inFlight = await storedText();
      expect(inFlight)
        .to.match(/:requests$/m)
        .and.not.include(KEY);
      release();
      await until(() => outside.received.length === 2, { describe: 'the second attempt is in flight' });
      expect(await storedText()).not.to.include(KEY);
      release();
      const run = await runOf(eventId);
      const { body } = await service.get(`/v1/runs/${run.run_id}`);
      expect(JSON.stringify([run, body]))
        .to.include('echo: [redacted]')
        .and.not.include(KEY);
      const after = await storedText();
      expect(after).not.to.include(KEY);
      expect(after).not.to.match(/:requests$/m);
      expect(service.output()).not.to.include(KEY);
    });
  });

  it('are made by another worker when their worker dies', async () => {
    outside.respond = () => {};
    const eventId = await start('Gateway', { url: outside.url });
    await until(() => outside.received.length === 1, { describe: 'the request is in flight' });
    await service.killWorker();
    outside.respond = (_, response) => void response.end('second');
    await service.startWorker();
    const run = await runOf(eventId);
    expect(run.output.data.body).to.equal('second');
    expect(outside.received).to.have.length(2);
  });

  describe('to a host that does not respond', () => {
    let slow: Service;
    before(async () => {
      slow = await startService({ env: { RUN_CONCURRENCY: '8', CALL_TIMEOUT_SECONDS: '4', RETRY_SCALE: '0.001' } });
    });
    after(() => slow?.stop());

    it('delay neither calls of functions nor requests to other hosts, and end at the timeout', async () => {
      const prompt = new Outside();
      await prompt.listen();
      outside.respond = () => {};
      const asks = (opts: object) => (call: Call) =>
        call.body.steps[STEP] === undefined
          ? { status: 206, body: [{ op: 'Gateway', id: STEP, displayName: 'ask', opts }] }
          : { body: call.body.steps[STEP] };
      host.on('slow', asks({ url: outside.url }));
      host.on('prompt', asks({ url: prompt.url }));
      const ids = ['slow', 'prompt', 'plain'];
      const functions = ids.map((id) => ({ id, triggers: [{ event: `held/${id}` }], retries: 0 }));
      await host.register(slow, functions, { appName: 'held' });
      const send = async (id: string, times: number) =>
        (await slow.post('/e/key', Array(times).fill({ name: `held/${id}`, data: {} }))).body.ids as string[];
      const ended = async (eventId: string) =>
        (await slow.waitFor(`/v1/events/${eventId}/runs`, ({ body }) => body.data?.[0]?.ended_at)).body.data[0];
      const held = await send('slow', 30);
      await until(() => outside.received.length > 1, { describe: 'requests are in flight' });
      const [one] = await send('prompt', 1);
      const [other] = await send('plain', 1);
      expect((await ended(one as string)).output.data.status_code).to.equal(200);
      expect((await ended(other as string)).status).to.equal('Completed');
      // None of the slow ones has ended meanwhile.
      expect(outside.received.length).to.be.lessThan(8);
      const { output } = await ended(held[0] as string);
      expect(output.error).to.deep.equal({
        name: 'RequestError',
        message: `${outside.url} did not respond within 4 s`,
      });
      prompt.close();
    });
  });

  it('end with a cancelled run, and leave nothing behind', async () => {
    outside.respond = (_, response) => void response.writeHead(500).end();
    const eventId = await start('AIGateway', { url: outside.url, format: 'openai-chat', auth_key: KEY, body: {} }, 20);
    await until(() => outside.received.length > 0, { describe: 'the first attempt has failed' });
    const { body } = await service.waitFor(`/v1/events/${eventId}/runs`, ({ body }) => body.data?.length === 1);
    await service.request('DELETE', `/v1/runs/${body.data[0].run_id}`);
    await runOf(eventId);
    const leftOver = async () =>
      (await keysOf(service.redis, service.prefix)).filter((key) => /:requests$|-request$/.test(key));
    await until(async () => (await leftOver()).length === 0, { describe: 'no request is left' });
  });
});
