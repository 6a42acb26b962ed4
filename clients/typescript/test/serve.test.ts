import { createHmac } from 'node:crypto';
import type { RequestListener } from 'node:http';
import { json } from 'node:stream/consumers';
import { expect } from 'chai';
import express from 'express';
import Fastify from 'fastify';
import { Hono } from 'hono';
import Koa from 'koa';
import { koaBody } from 'koa-body';
import { NonRetriableError, RetryAfterError, Tidegate } from 'tidegate';
import { serve as serveExpress } from 'tidegate/express';
import { serve as serveFastify } from 'tidegate/fastify';
import { serve as serveFetch } from 'tidegate/fetch';
import { serve as serveHono } from 'tidegate/hono';
import { serve as serveKoa } from 'tidegate/koa';
import { serve as serveNext, servePages } from 'tidegate/next';
import { serve as serveNode } from 'tidegate/node';
import type { ServeOptions } from '../src/handler.ts';
import { overFetch } from './over-fetch.ts';
import { useCleanEnv, useServers } from './servers.ts';

const PATH = '/api/service';
const SIGNING_KEY = 'signkey-test-0123456789abcdef';

/** One suite, run against each of these. */
const HOSTS: Record<string, { framework: string; host(options: ServeOptions): RequestListener }> = {
  'node:http': { framework: 'nodejs', host: serveNode },
  Koa: { framework: 'koa', host: (options) => koa(new Koa(), options) },
  'Koa behind koa-body': { framework: 'koa', host: (options) => koa(new Koa().use(koaBody()), options) },
  'Koa behind a parser that keeps no text': {
    framework: 'koa',
    host: (options) =>
      koa(
        new Koa().use(async (ctx, next) => {
          if (ctx.method === 'POST') Object.assign(ctx.request, { body: await json(ctx.req) });
          await next();
        }),
        options,
      ),
  },
  Express: { framework: 'express', host: (options) => express().use(serveExpress(options)) },
  'Express behind its body parser': {
    framework: 'express',
    host: (options) => express().use(express.json()).use(serveExpress(options)),
  },
  Fastify: { framework: 'fastify', host: fastify },
  Hono: {
    framework: 'hono',
    host: (options) => {
      const app = new Hono().use(serveHono(options));
      return overFetch((request) => app.fetch(request));
    },
  },
  Fetch: { framework: 'fetch', host: (options) => overFetch(serveFetch(options)) },
  "Next.js's app router": {
    framework: 'nextjs',
    host: (options) => {
      const { GET, POST, PUT } = serveNext(options);
      const methods: Record<string, typeof GET> = { GET, POST, PUT };
      // Next.js itself answers methods that a route does not export.
      const refused = async () => new Response('{}', { status: 405, headers: { allow: 'GET, PUT, POST' } });
      return overFetch((request) => (methods[request.method] ?? refused)(request));
    },
  },
  "Next.js's pages router": { framework: 'nextjs', host: servePages },
};

/** Fastify has a route of its own for each path; it listens once it is ready. */
function fastify(options: ServeOptions): RequestListener {
  const app = Fastify();
  app.register(serveFastify({ ...options, path: PATH }));
  return async (req, res) => {
    await app.ready();
    app.routing(req, res);
  };
}

function koa(app: Koa, options: ServeOptions): RequestListener {
  return app.use(serveKoa(options)).callback();
}

const client = new Tidegate({ id: 'shop', isDev: true });
const signed = new Tidegate({ id: 'shop', isDev: false, signingKey: SIGNING_KEY });
const event = { name: 'order/paid', data: { total: 3, café: ['ü', { b: 1, a: 2 }] }, id: '01E', ts: 1_700_000_000_000 };
/** As the service writes it: canonical. */
const CALL =
  '{"ctx":{"attempt":2,"run_id":"01R"},' +
  '"event":{"data":{"café":["ü",{"a":2,"b":1}],"total":3},"id":"01E","name":"order/paid","ts":1700000000000},' +
  '"events":[{"data":{"café":["ü",{"a":2,"b":1}],"total":3},"id":"01E","name":"order/paid","ts":1700000000000}],' +
  '"steps":{},"use_api":false,"version":-1}';

function fn(handler: Parameters<typeof client.createFunction>[1], id = 'fn') {
  return client.createFunction({ id, triggers: { event: 'order/paid' } }, handler);
}

/** As the service makes it, beside a signature. */
function urlSignature(fnId: string, body: string, headers: Record<string, string>): Record<string, string> {
  const t = /^t=(\d+)/.exec(headers['x-service-signature'] ?? '')?.[1];
  if (t === undefined) return {};
  const hmac = createHmac('sha256', '0123456789abcdef').update(`url\n${fnId}\nstep\n${body}${t}`);
  return { 'x-service-signature-url': hmac.digest('hex') };
}

function signatureOf(body: string, ageSeconds = 0, key = '0123456789abcdef'): string {
  const t = Math.floor(Date.now() / 1_000) - ageSeconds;
  return `t=${t}&s=${createHmac('sha256', key).update(`${body}${t}`).digest('hex')}`;
}

for (const [name, { framework, host }] of Object.entries(HOSTS)) {
  describe(`Serving functions on ${name}`, () => {
    useCleanEnv();
    const { listen } = useServers();

    async function post(options: ServeOptions, body = CALL, headers: Record<string, string> = {}, id = 'shop-fn') {
      const response = await fetch(`${await listen(host(options))}${PATH}?fnId=${id}&stepId=step`, {
        method: 'POST',
        body,
        headers: { 'content-type': 'application/json', ...urlSignature(id, body, headers), ...headers },
      });
      return { status: response.status, headers: response.headers, body: JSON.parse(await response.text()) };
    }

    it('hands the call to the function and answers its output', async () => {
      let seen: unknown;
      const remember = fn((context) => {
        seen = context;
        return { sent: true };
      });
      const answer = await post({ client, functions: [remember] });
      expect(seen).to.deep.include({ event, events: [event], runId: '01R', attempt: 2, maxAttempts: 5 });
      expect(answer).to.deep.include({ status: 200, body: { sent: true } });
      expect(Object.fromEntries(answer.headers)).to.include({
        'content-type': 'application/json',
        'x-service-sdk': 'ts:v0.1.0',
        'x-service-req-version': '2',
        'x-service-framework': framework,
      });
      expect(answer.headers.has('x-service-no-retry')).to.equal(false);
    });

    it('answers null for a function that returns nothing', async () => {
      expect(await post({ client, functions: [fn(async () => {})] })).to.deep.include({ status: 200, body: null });
    });

    it('runs the function that the call names', async () => {
      const functions = [fn(() => 'first', 'first'), fn(() => 'second', 'second')];
      expect((await post({ client, functions }, CALL, {}, 'shop-second')).body).to.equal('second');
    });

    it('answers 400 and no-retry to a NonRetriableError', async () => {
      const fails = fn(() => {
        throw new NonRetriableError('The card is stolen');
      });
      const { status, headers, body } = await post({ client, functions: [fails] });
      expect(status).to.equal(400);
      expect(headers.get('x-service-no-retry')).to.equal('true');
      expect(body).to.include({ name: 'NonRetriableError', message: 'The card is stolen' });
      expect(body.stack).to.include('serve.test.ts');
    });

    it('answers 500 and retry-after to a RetryAfterError', async () => {
      const fails = fn(() => {
        throw new RetryAfterError('Busy', 1_500);
      });
      const { status, headers, body } = await post({ client, functions: [fails] });
      expect(status).to.equal(500);
      expect(headers.get('x-service-no-retry')).to.equal('false');
      expect(headers.get('retry-after')).to.equal('2');
      expect(body).to.include({ name: 'RetryAfterError', message: 'Busy' });
    });

    it('answers 500 to anything else that is thrown', async () => {
      const fails = fn(async () => {
        throw new RangeError('Too far');
      });
      const { status, headers, body } = await post({ client, functions: [fails] });
      expect(status).to.equal(500);
      expect(headers.get('x-service-no-retry')).to.equal('false');
      expect(headers.has('retry-after')).to.equal(false);
      expect(body).to.include({ name: 'RangeError', message: 'Too far' });
    });

    it('answers 500 to what is thrown and is no error', async () => {
      for (const [thrown, message] of [
        ['oops', 'oops'],
        [{ n: 1n }, '{ n: 1n }'],
        [undefined, 'undefined'],
      ] as const) {
        const fails = fn(() => {
          throw thrown;
        });
        const answer = await post({ client, functions: [fails] });
        expect(answer).to.deep.include({ status: 500, body: { name: 'Error', message } });
      }
    });

    it('answers 500 to an output that cannot be written as JSON', async () => {
      const { status, body } = await post({ client, functions: [fn(() => 3n)] });
      expect(status).to.equal(500);
      expect(body.message).to.include('BigInt');
    });

    it('names the function it does not have', async () => {
      const { status, headers, body } = await post({ client, functions: [] }, CALL, {}, 'shop-gone');
      expect(status).to.equal(500);
      expect(headers.get('x-service-no-retry')).to.equal('false');
      expect(body.message).to.include('"shop-gone"');
    });

    it('refuses a body that is no call request', async () => {
      const functions = [fn(() => 'must not run')];
      for (const body of ['{}', '[]', '{"event":{"name":"order/paid"}}']) {
        expect((await post({ client, functions }, body)).status, body).to.equal(400);
      }
    });

    it('runs a call that the service has signed', async () => {
      const headers = { 'x-service-signature': signatureOf(CALL, 290) };
      const answer = await post({ client: signed, functions: [fn(() => 'ran')] }, CALL, headers);
      expect(answer).to.deep.include({ status: 200, body: 'ran' });
    });

    it('runs a call that is signed with the fallback key, while keys are rotated', async () => {
      const rotating = new Tidegate({
        id: 'shop',
        isDev: false,
        signingKey: 'signkey-test-00ff',
        signingKeyFallback: SIGNING_KEY,
      });
      const headers = { 'x-service-signature': signatureOf(CALL) };
      const answer = await post({ client: rotating, functions: [fn(() => 'ran')] }, CALL, headers);
      expect(answer).to.deep.include({ status: 200, body: 'ran' });
    });

    it('answers 401 to a signature that is missing, broken, wrong or old', async () => {
      const functions = [
        fn(() => {
          throw new Error('must not run');
        }),
      ];
      const refused: [why: string, signature: string | undefined][] = [
        ['not signed', undefined],
        ['cannot be read', 'hello'],
        ['cannot be read', 't=1.5&s=00'],
        ['wrong', `t=${Math.floor(Date.now() / 1_000)}`],
        ['wrong', signatureOf(CALL).slice(0, -2)],
        ['wrong', signatureOf(`${CALL} `)],
        ['wrong', signatureOf(CALL, 0, 'another key')],
        ['wrong', signatureOf(CALL).replace(/^t=\d+/, (t) => `${t}0`)],
        ['older than 5 minutes', signatureOf(CALL, 302)],
      ];
      for (const [why, signature] of refused) {
        const headers: Record<string, string> = signature ? { 'x-service-signature': signature } : {};
        const { status, body, headers: answered } = await post({ client: signed, functions }, CALL, headers);
        expect(status, why).to.equal(401);
        expect(body.message).to.include(why);
        expect(answered.get('x-service-sdk')).to.equal('ts:v0.1.0');
      }
    });

    it('answers 401 to a recorded call that is sent to another function, or whose URL is not signed', async () => {
      const other = client.createFunction({ id: 'other', triggers: { event: 'order/paid' } }, () => 'must not run');
      const functions = [fn(() => 'ran'), other];
      const signature = { 'x-service-signature': signatureOf(CALL) };
      const recorded = { ...signature, ...urlSignature('shop-fn', CALL, signature) };
      expect((await post({ client: signed, functions }, CALL, recorded)).status).to.equal(200);
      const replayed = await post({ client: signed, functions }, CALL, recorded, 'shop-other');
      expect(replayed.status).to.equal(401);
      expect(replayed.body.message).to.include('another function or step');
      const stripped = await post({ client: signed, functions }, CALL, { ...signature, 'x-service-signature-url': '' });
      expect(stripped.status).to.equal(401);
      expect(stripped.body.message).to.include('URL is not signed');
    });

    it('runs nothing outside dev mode without a signing key', async () => {
      const unsigned = new Tidegate({ id: 'shop', isDev: false });
      const { status, body } = await post({ client: unsigned, functions: [fn(() => 'must not run')] });
      expect(status).to.equal(500);
      expect(body.message).to.include('SERVICE_SIGNING_KEY');
    });

    it('tells a GET how many functions there are, and nothing secret', async () => {
      const url = await listen(host({ client: signed, functions: [fn(() => {})] }));
      const response = await fetch(`${url}${PATH}`);
      expect(response.status).to.equal(200);
      expect(response.headers.get('x-service-sdk')).to.equal('ts:v0.1.0');
      expect(await response.json()).to.deep.equal({ function_count: 1, mode: 'cloud', framework });
    });

    it('answers 405 to other methods', async () => {
      const response = await fetch(`${await listen(host({ client, functions: [] }))}${PATH}`, { method: 'DELETE' });
      expect(response.status).to.equal(405);
      expect(response.headers.get('allow')).to.equal('GET, PUT, POST');
    });

    it('keeps to its path when it has one', async () => {
      const url = await listen(host({ client, functions: [], path: PATH }));
      expect((await fetch(`${url}${PATH}?a=b`)).status).to.equal(200);
      expect((await fetch(`${url}/elsewhere`)).status).to.equal(404);
    });

    it('refuses two functions with one id', () => {
      const functions = [fn(() => 1), fn(() => 2)];
      expect(() => host({ client, functions })).to.throw(TypeError, 'same id');
    });
  });
}

describe('Serving functions on a bare server', () => {
  useCleanEnv();
  const { listen } = useServers();

  it('refuses a body that is not JSON', async () => {
    for (const listener of [
      serveNode({ client, functions: [fn(() => {})] }),
      koa(new Koa(), { client, functions: [] }),
    ]) {
      const url = await listen(listener);
      const response = await fetch(url, { method: 'POST', body: '{"event":' });
      expect(response.status).to.equal(400);
      expect(await response.json()).to.include({ message: 'The body is not JSON' });
    }
  });

  it('refuses a body far larger than any call', async () => {
    const url = await listen(serveNode({ client, functions: [] }));
    const response = await fetch(url, { method: 'POST', body: Buffer.alloc(17 * 1024 * 1024, ' ') });
    expect(response.status).to.equal(413);
  });

  it('says so when the body was read and kept by something in front of it', async () => {
    const app = new Koa().use(async (ctx, next) => {
      await json(ctx.req);
      await next();
    });
    const response = await fetch(await listen(koa(app, { client, functions: [] })), { method: 'POST', body: CALL });
    expect(response.status).to.equal(500);
    expect(await response.json())
      .to.have.property('message')
      .that.includes('has read the body');
  });
});
