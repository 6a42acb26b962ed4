import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { type Collector, startCollector } from '../support/collector.ts';
import { scrape } from '../support/scrape.ts';
import { type Service, startService } from '../support/service.ts';

const KEY = 'test-event-key-0123456789';
const EVENT = JSON.stringify({ name: 'answer/x', data: {} });
const FOR_PAGES = [
  'content-security-policy',
  'cross-origin-opener-policy',
  'cross-origin-resource-policy',
  'referrer-policy',
  'x-frame-options',
];
/** The first is that of the fast path, all others are the router's. */
const SPELLINGS: [title: string, of: (key: string, origin: string) => string][] = [
  ['the fast path', (key) => `/e/${key}`],
  ['a slash at its end', (key) => `/e/${key}/`],
  ['capitals', (key) => `/E/${key}`],
  ['an escaped character', (key) => `/e/%${key.charCodeAt(0).toString(16)}${key.slice(1)}`],
  ['escaped characters and a slash', (key) => `/E/${key.slice(0, -1)}%${key.charCodeAt(key.length - 1).toString(16)}/`],
  ['an absolute target', (key, origin) => `${origin}/e/${key}`],
];

interface Sent {
  key?: string;
  method?: string;
  query?: string;
  body?: string;
  headers?: Record<string, string>;
}

/** As it is: `fetch` would change paths and headers. */
async function send(origin: string, path: string, { method = 'POST', query = '', body, headers = {} }: Sent) {
  const { hostname, port } = new URL(origin);
  const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) };
  const all = { 'content-type': 'application/json', ...length, ...headers };
  const sent = request({ hostname, port, path: path + query, method, headers: all }).end(body);
  const [response] = await once(sent, 'response');
  const { 'x-request-id': requestId, date: _, ...rest } = response.headers;
  return { status: response.statusCode, requestId, headers: rest, body: await text(response) };
}

/** Without what differs in any two responses. */
function comparable({ status, requestId, headers, body }: Awaited<ReturnType<typeof send>>) {
  expect(requestId).to.match(/^[0-9A-Z]{26}$/);
  return { status, headers, body: body.replaceAll(/"[0-9A-HJKMNP-TV-Z]{26}"/g, '"<ID>"') };
}

describe('The response to a sender', () => {
  let service: Service;
  let collector: Collector;
  before(async () => {
    collector = await startCollector();
    const env = { METRICS_TOKEN: 'a-token-of-metrics', PUBLIC_URL: 'https://events.example.com', ...collector.env };
    service = await startService({ dev: false, workers: 0, env });
  });
  after(async () => {
    await service.stop();
    await collector.close();
  });

  async function makeWebhook(of: Service, response: object): Promise<string> {
    const transform = `function transform() { return { events: [], response: ${JSON.stringify(response)} }; }`;
    const fields = { name: 'answers', transform, methods: ['GET', 'POST', 'PUT'] };
    const { status, body } = await of.post('/v1/webhooks', fields, of.apiHeaders);
    expect(status, JSON.stringify(body)).to.equal(201);
    return new URL(body.data.url).pathname.slice('/e/'.length);
  }

  /** @returns what all have */
  async function sameForAll(of: Service, { key = KEY, ...sent }: Sent) {
    const [first, ...others] = SPELLINGS;
    const expected = comparable(await send(of.url, first?.[1](key, of.url) ?? '', sent));
    for (const [title, spell] of others) {
      expect(comparable(await send(of.url, spell(key, of.url), sent)), title).to.deep.equal(expected);
    }
    return expected;
  }

  it('is the same for every spelling of the path when the events are accepted', async () => {
    for (const query of ['', '?x=1', '?']) {
      const { status, headers, body } = await sameForAll(service, { body: EVENT, query });
      expect([status, body]).to.deep.equal([200, '{"ids":["<ID>"],"status":200}']);
      expect(headers).to.deep.equal({
        'content-type': 'application/json; charset=utf-8',
        'content-length': '51',
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff',
        'strict-transport-security': 'max-age=31536000; includeSubDomains',
        connection: 'keep-alive',
        'keep-alive': headers['keep-alive'],
      });
    }
    expect((await sameForAll(service, { body: `[${EVENT},${EVENT}]` })).body).to.include('["<ID>","<ID>"]');
  });

  it('is the same when they are rejected, and has the headers for web pages', async () => {
    const rejected: [code: string, Sent][] = [
      ['event_invalid', { body: '{"name": ""}' }],
      ['body_not_json', { body: '{' }],
      ['key_unknown', { key: 'another-key', body: EVENT }],
      ['too_many_fields', { body: EVENT, query: `?${'a=1&'.repeat(1_001)}` }],
      ['environment_mismatch', { body: EVENT, headers: { 'x-service-env': 'other' } }],
      ['content_encoding_unsupported', { body: EVENT, headers: { 'content-encoding': 'zip' } }],
      ['body_too_large', { headers: { 'content-length': '1000000000' }, body: EVENT }],
      ['not_found', { key: 'k'.repeat(1_025), body: EVENT }],
    ];
    for (const [code, sent] of rejected) {
      const { headers, body } = await sameForAll(service, sent);
      expect(JSON.parse(body).code, body).to.equal(code);
      expect(headers, code).to.include.keys(FOR_PAGES);
    }
  });

  it('is the same when a transform provides it', async () => {
    const given = [
      { status: 202, body: { ok: true }, headers: { 'x-own': '1', 'content-type': 'application/json; charset=utf-8' } },
      { body: 'text' },
      { status: 204 },
      { status: 205 },
      { status: 304 },
      { status: 302, headers: { 'x-own': '2' } },
      { status: 404 },
      { status: 404, body: 'gone' },
      { status: 503, headers: { 'retry-after': '60' } },
    ];
    for (const response of given) {
      const key = await makeWebhook(service, response);
      for (const method of ['POST', 'PUT', 'GET', 'HEAD', 'OPTIONS', 'DELETE']) {
        const { status, headers } = await sameForAll(service, {
          key,
          method,
          ...(method === 'POST' && { body: '{}' }),
        });
        if (method !== 'POST') continue;
        expect(status).to.equal(response.status ?? 200);
        expect(headers['content-security-policy']).to.equal("default-src 'none'; sandbox");
        expect(headers).not.to.have.any.keys(FOR_PAGES.slice(1));
      }
    }
  });

  it('is the same for other methods', async () => {
    for (const method of ['GET', 'HEAD', 'OPTIONS', 'PUT', 'PROPFIND']) {
      expect((await sameForAll(service, { method })).status, method).to.equal(405);
    }
  });

  it('is counted and traced the same', async () => {
    const metrics = () => scrape(service.url, { authorization: 'Bearer a-token-of-metrics' });
    for (const [body, status] of [
      [EVENT, 200],
      ['{', 400],
    ] as const) {
      for (const [title, spell] of SPELLINGS) {
        const traceId = randomBytes(16).toString('hex');
        const labels = { route: '/e/:key', status: `${status}`.replace(/..$/, 'xx') };
        const before = (await metrics()).sum('tidegate_http_requests_total', labels);
        const headers = { traceparent: `00-${traceId}-${randomBytes(8).toString('hex')}-01` };
        await send(service.url, spell(KEY, service.url), { body, headers });
        expect((await metrics()).sum('tidegate_http_requests_total', labels) - before, title).to.equal(1);
        const spans = await collector.trace(traceId, status === 200 ? 2 : 1);
        const span = spans.find(({ kind }) => kind === 'server');
        expect(span?.name, title).to.equal('POST /e/:key');
        const { 'http.response.status_code': spanStatus, 'http.route': route } = span?.attributes ?? {};
        expect([Number(spanStatus), route], title).to.deep.equal([status, '/e/:key']);
      }
    }
  });

  describe('in dev mode', () => {
    let dev: Service;
    before(async () => {
      dev = await startService({ workers: 0 });
    });
    after(() => dev.stop());

    it('is the same for pages of this machine, for pages of others, and for programs', async () => {
      const local = await sameForAll(dev, { body: EVENT, headers: { origin: 'http://localhost:3000' } });
      expect(local.headers).to.include({ vary: 'origin', 'access-control-allow-origin': 'http://localhost:3000' });
      const foreign = await sameForAll(dev, { body: EVENT, headers: { origin: 'https://attacker.example' } });
      expect([foreign.status, JSON.parse(foreign.body).code]).to.deep.equal([403, 'origin_untrusted']);
      expect((await sameForAll(dev, { body: EVENT })).headers).not.to.have.any.keys('access-control-allow-origin');
      const headers = { origin: 'http://localhost:3000' };
      expect((await sameForAll(dev, { body: '{', headers })).headers).to.include({ vary: 'origin' });
      expect((await sameForAll(dev, { method: 'OPTIONS', headers })).status).to.equal(204);
      const key = await makeWebhook(dev, { status: 202, body: 'taken' });
      expect((await sameForAll(dev, { key, body: '{}', headers })).headers).to.include({ vary: 'origin' });
    });
  });
});
