import { createHmac } from 'node:crypto';
import type { RequestListener } from 'node:http';
import { json } from 'node:stream/consumers';
import { expect } from 'chai';
import express from 'express';
import Fastify from 'fastify';
import { createApp, defineEventHandler, toNodeListener } from 'h3';
import { H3 } from 'h3-2';
import { Hono } from 'hono';
import Koa from 'koa';
import { koaBody } from 'koa-body';
import { NonRetriableError, RetryAfterError, Tidegate } from 'tidegate';
import { serve as serveAstro } from 'tidegate/astro';
import { serve as serveBun } from 'tidegate/bun';
import { serve as serveCloudflare } from 'tidegate/cloudflare';
import { serve as serveDeno } from 'tidegate/deno';
import { serve as serveExpress } from 'tidegate/express';
import { serve as serveFastify } from 'tidegate/fastify';
import { serve as serveFetch } from 'tidegate/fetch';
import { serve as serveH3 } from 'tidegate/h3';
import { serve as serveHono } from 'tidegate/hono';
import { serve as serveKoa } from 'tidegate/koa';
import { serve as serveLambda } from 'tidegate/lambda';
import { serve as serveNext, servePages } from 'tidegate/next';
import { serve as serveNitro } from 'tidegate/nitro';
import { serve as serveNode } from 'tidegate/node';
import { serve as serveNuxt } from 'tidegate/nuxt';
import { serve as serveRemix } from 'tidegate/remix';
import { serve as serveSvelteKit } from 'tidegate/sveltekit';
import type { ServeOptions } from '../src/handler.ts';
import { overFetch } from './over-fetch.ts';
import { functionUrlEvent, httpEvent, loadBalancerEvent, overLambda, restEvent } from './over-lambda.ts';
import { useCleanEnv, useServers } from './servers.ts';

const PATH = '/api/service';
const SIGNING_KEY = 'signkey-test-0123456789abcdef';

/** The suite runs with each of these. */
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
  Bun: { framework: 'bun', host: (options) => overFetch(serveBun(options)) },
  Deno: { framework: 'deno', host: (options) => overFetch(serveDeno(options)) },
  'Cloudflare Workers': {
    framework: 'cloudflare',
    host: (options) => {
      const fetch = serveCloudflare(options);
      return overFetch((request) => fetch(request, {}));
    },
  },
  'Cloudflare Pages': {
    framework: 'cloudflare',
    host: (options) => {
      const onRequest = serveCloudflare(options);
      return overFetch((request) => onRequest({ request, env: {} }));
    },
  },
  SvelteKit: { framework: 'sveltekit', host: (options) => overRoutes(serveSvelteKit(options)) },
  Astro: { framework: 'astro', host: (options) => overRoutes(serveAstro(options)) },
  'Remix and React Router': {
    framework: 'remix',
    host: (options) => {
      const { loader, action } = serveRemix(options);
      return overFetch((request) => (request.method === 'GET' ? loader : action)({ request }));
    },
  },
  'h3, version 1': {
    framework: 'h3',
    host: (options) => toNodeListener(createApp().use(defineEventHandler(serveH3(options)))),
  },
  'h3, version 2': {
    framework: 'h3',
    host: (options) => {
      const app = new H3().use(serveH3(options));
      return overFetch(async (request) => app.fetch(request));
    },
  },
  Nuxt: {
    framework: 'nuxt',
    host: (options) => toNodeListener(createApp().use(defineEventHandler(serveNuxt(options)))),
  },
  Nitro: {
    framework: 'nitro',
    host: (options) => toNodeListener(createApp().use(defineEventHandler(serveNitro(options)))),
  },
  'Lambda behind a REST API': {
    framework: 'aws-lambda',
    host: (options) => overLambda(serveLambda(options), restEvent),
  },
  'Lambda behind an HTTP API': {
    framework: 'aws-lambda',
    host: (options) => overLambda(serveLambda(options), httpEvent),
  },
  'Lambda behind a function URL': {
    framework: 'aws-lambda',
    host: (options) => overLambda(serveLambda(options), functionUrlEvent),
  },
  'Lambda behind a load balancer': {
    framework: 'aws-lambda',
    host: (options) => overLambda(serveLambda(options), loadBalancerEvent),
  },
  "Next.js's app router": {
    framework: 'nextjs',
    host: (options) => {
      const { GET, POST, PUT } = serveNext(options);
      const methods: Record<string, typeof GET> = { GET, POST, PUT };
      // Next.js handles methods that a route does not export.
      const refused = async () => new Response('{}', { status: 405, headers: { allow: 'GET, PUT, POST' } });
      return overFetch((request) => (methods[request.method] ?? refused)(request));
    },
  },
  "Next.js's pages router": { framework: 'nextjs', host: servePages },
};

function overRoutes(routes: Record<'GET' | 'POST' | 'PUT', (event: { request: Request }) => Promise<Response>>) {
  const methods: Record<string, (typeof routes)['GET']> = routes;
  // The framework handles methods that a route does not export.
  const refused = async () => new Response('{}', { status: 405, headers: { allow: 'GET, PUT, POST' } });
  return overFetch((request) => (methods[request.method] ?? refused)({ request }));
}

/** Fastify has a route per path, and listens when it is ready. */
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
/** Canonical JSON, like the service. */
const CALL =
  '{"ctx":{"attempt":2,"run_id":"01R"},' +
  '"event":{"data":{"café":["ü",{"a":2,"b":1}],"total":3},"id":"01E","name":"order/paid","ts":1700000000000},' +
  '"events":[{"data":{"café":["ü",{"a":2,"b":1}],"total":3},"id":"01E","name":"order/paid","ts":1700000000000}],' +
  '"steps":{},"use_api":false,"version":-1}';

function fn(handler: Parameters<typeof client.createFunction>[1], id = 'fn') {
  return client.createFunction({ id, triggers: { event: 'order/paid' } }, handler);
}

/** The signature of the URL, like the service. */
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

    it('passes the call to the function and responds with its output', async () => {
      let seen: unknown;
      const remember = fn((context) => {
        seen = context;
        return { sent: true };
      });
      const response = await post({ client, functions: [remember] });
      expect(seen).to.deep.include({ event, events: [event], runId: '01R', attempt: 2, maxAttempts: 5 });
      expect(response).to.deep.include({ status: 200, body: { sent: true } });
      expect(Object.fromEntries(response.headers)).to.include({
        'content-type': 'application/json',
        'x-service-sdk': 'ts:v0.1.0',
        'x-service-req-version': '2',
        'x-service-framework': framework,
      });
      expect(response.headers.has('x-service-no-retry')).to.equal(false);
    });

    it('responds with null for a function that returns nothing', async () => {
      expect(await post({ client, functions: [fn(async () => {})] })).to.deep.include({ status: 200, body: null });
    });

    it('runs the function in the URL of the call', async () => {
      const functions = [fn(() => 'first', 'first'), fn(() => 'second', 'second')];
      expect((await post({ client, functions }, CALL, {}, 'shop-second')).body).to.equal('second');
    });

    it('responds with 400 and no-retry to a NonRetriableError', async () => {
      const fails = fn(() => {
        throw new NonRetriableError('The card is stolen');
      });
      const { status, headers, body } = await post({ client, functions: [fails] });
      expect(status).to.equal(400);
      expect(headers.get('x-service-no-retry')).to.equal('true');
      expect(body).to.include({ name: 'NonRetriableError', message: 'The card is stolen' });
      expect(body.stack).to.include('serve.test.ts');
    });

    it('responds with 500 and retry-after to a RetryAfterError', async () => {
      const fails = fn(() => {
        throw new RetryAfterError('Busy', 1_500);
      });
      const { status, headers, body } = await post({ client, functions: [fails] });
      expect(status).to.equal(500);
      expect(headers.get('x-service-no-retry')).to.equal('false');
      expect(headers.get('retry-after')).to.equal('2');
      expect(body).to.include({ name: 'RetryAfterError', message: 'Busy' });
    });

    it('responds with 500 to any other error', async () => {
      const fails = fn(async () => {
        throw new RangeError('Too far');
      });
      const { status, headers, body } = await post({ client, functions: [fails] });
      expect(status).to.equal(500);
      expect(headers.get('x-service-no-retry')).to.equal('false');
      expect(headers.has('retry-after')).to.equal(false);
      expect(body).to.include({ name: 'RangeError', message: 'Too far' });
    });

    it('responds with 500 to a thrown value that is no Error', async () => {
      for (const [thrown, message] of [
        ['oops', 'oops'],
        [{ n: 1n }, '{ n: 1n }'],
        [undefined, 'undefined'],
      ] as const) {
        const fails = fn(() => {
          throw thrown;
        });
        const response = await post({ client, functions: [fails] });
        expect(response).to.deep.include({ status: 500, body: { name: 'Error', message } });
      }
    });

    it('responds with 500 to an output that JSON cannot represent', async () => {
      const { status, body } = await post({ client, functions: [fn(() => 3n)] });
      expect(status).to.equal(500);
      expect(body.message).to.include('BigInt');
    });

    it('names an unknown function', async () => {
      const { status, headers, body } = await post({ client, functions: [] }, CALL, {}, 'shop-gone');
      expect(status).to.equal(500);
      expect(headers.get('x-service-no-retry')).to.equal('false');
      expect(body.message).to.include('"shop-gone"');
    });

    it('rejects a body that is not a call request', async () => {
      const functions = [fn(() => 'must not run')];
      for (const body of ['{}', '[]', '{"event":{"name":"order/paid"}}']) {
        expect((await post({ client, functions }, body)).status, body).to.equal(400);
      }
    });

    it('runs a signed call', async () => {
      const headers = { 'x-service-signature': signatureOf(CALL, 290) };
      const response = await post({ client: signed, functions: [fn(() => 'ran')] }, CALL, headers);
      expect(response).to.deep.include({ status: 200, body: 'ran' });
    });

    it('runs a call signed with the fallback key', async () => {
      const rotating = new Tidegate({
        id: 'shop',
        isDev: false,
        signingKey: 'signkey-test-00ff',
        signingKeyFallback: SIGNING_KEY,
      });
      const headers = { 'x-service-signature': signatureOf(CALL) };
      const response = await post({ client: rotating, functions: [fn(() => 'ran')] }, CALL, headers);
      expect(response).to.deep.include({ status: 200, body: 'ran' });
    });

    it('responds with 401 to a missing, malformed, wrong or old signature', async () => {
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
        const { status, body, headers: responseHeaders } = await post({ client: signed, functions }, CALL, headers);
        expect(status, why).to.equal(401);
        expect(body.message).to.include(why);
        expect(responseHeaders.get('x-service-sdk')).to.equal('ts:v0.1.0');
      }
    });

    it('responds with 401 to a call replayed to another function, or without a signed URL', async () => {
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

    it('runs no function outside dev mode without a signing key', async () => {
      const unsigned = new Tidegate({ id: 'shop', isDev: false });
      const { status, body } = await post({ client: unsigned, functions: [fn(() => 'must not run')] });
      expect(status).to.equal(500);
      expect(body.message).to.include('SERVICE_SIGNING_KEY');
    });

    it('responds to GET with the number of functions, without secrets', async () => {
      const url = await listen(host({ client: signed, functions: [fn(() => {})] }));
      const response = await fetch(`${url}${PATH}`);
      expect(response.status).to.equal(200);
      expect(response.headers.get('x-service-sdk')).to.equal('ts:v0.1.0');
      expect(await response.json()).to.deep.equal({ function_count: 1, mode: 'cloud', framework });
    });

    it('responds with 405 to other methods', async () => {
      const response = await fetch(`${await listen(host({ client, functions: [] }))}${PATH}`, { method: 'DELETE' });
      expect(response.status).to.equal(405);
      expect(response.headers.get('allow')).to.equal('GET, PUT, POST');
    });

    it('handles only its path, if set', async () => {
      const url = await listen(host({ client, functions: [], path: PATH }));
      expect((await fetch(`${url}${PATH}?a=b`)).status).to.equal(200);
      expect((await fetch(`${url}/elsewhere`)).status).to.equal(404);
    });

    it('rejects two functions with the same ID', () => {
      const functions = [fn(() => 1), fn(() => 2)];
      expect(() => host({ client, functions })).to.throw(TypeError, 'same id');
    });
  });
}

describe('Serving functions on a bare server', () => {
  useCleanEnv();
  const { listen } = useServers();

  it('rejects a body that is not JSON', async () => {
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

  it('rejects a body much larger than any call', async () => {
    const url = await listen(serveNode({ client, functions: [] }));
    const response = await fetch(url, { method: 'POST', body: Buffer.alloc(17 * 1024 * 1024, ' ') });
    expect(response.status).to.equal(413);
  });

  it('reports that something else has consumed the body', async () => {
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
