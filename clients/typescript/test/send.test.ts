import { expect } from 'chai';
import fc from 'fast-check';
import { SendError, Tidegate } from 'tidegate';
import { splitByBytes } from '../src/chunks.ts';
import type { Clock } from '../src/post.ts';
import { sendEvents } from '../src/send.ts';
import { readSettings } from '../src/settings.ts';
import { rejection, useCleanEnv, useServers } from './servers.ts';

const EVENT = { name: 'order/paid', data: { total: 3 } };
const AT_ONCE = { 'retry-after': '0' };
const NOW_MS = Date.parse('2026-01-01T00:00:00Z');

/** Does not wait; records the delays. */
function fakeClock(random = 1): Clock & { slept: number[] } {
  const slept: number[] = [];
  return { slept, nowMs: () => NOW_MS, random: () => random, sleep: async (ms) => slept.push(ms) };
}

describe('Sending from TypeScript', () => {
  useCleanEnv();
  const { listen, startService, deadUrl } = useServers();

  function clientOf(baseUrl: string, options = {}) {
    return new Tidegate({ id: 'shop', isDev: false, eventKey: 'k 1', baseUrl, ...options });
  }

  it('posts one event and returns its ID', async () => {
    const service = await startService({ body: { ids: ['01A'], status: 200 } });
    expect(await clientOf(service.url).send(EVENT)).to.deep.equal({ ids: ['01A'] });

    const [request] = service.requests;
    expect(request).to.include({ method: 'POST', url: '/e/k%201' });
    expect(JSON.parse(request?.body ?? '')).to.deep.equal([EVENT]);
    expect(request?.headers).to.include({ 'content-type': 'application/json', 'x-service-sdk': 'ts:v0.1.0' });
    expect(request?.headers).not.to.have.property('x-service-env');
    expect(request?.headers['x-service-event-id-seed']).to.match(/^\d{13},[\w+/]{14}==$/);
  });

  it('posts several events in one request and returns their IDs in order', async () => {
    const service = await startService({ body: { ids: ['01A', '01B'], status: 200 } });
    const events = [EVENT, { ...EVENT, id: 'paid-7', ts: 1_700_000_000_000 }];
    expect(await clientOf(service.url).send(events)).to.deep.equal({ ids: ['01A', '01B'] });
    expect(JSON.parse(service.requests[0]?.body ?? '')).to.deep.equal(events);
    expect(service.requests).to.have.length(1);
  });

  it('sends no request for no events', async () => {
    expect(await clientOf(await deadUrl()).send([])).to.deep.equal({ ids: [] });
  });

  it('sends the branch environment', async () => {
    const service = await startService();
    await clientOf(service.url, { env: 'pr-12' }).send(EVENT);
    expect(service.requests[0]?.headers['x-service-env']).to.equal('pr-12');
  });

  it('uses the configured fetch', async () => {
    const service = await startService();
    const urls: unknown[] = [];
    const spy: typeof fetch = (url, init) => {
      urls.push(url);
      return fetch(url, init);
    };
    await clientOf(service.url, { fetch: spy }).send(EVENT);
    expect(urls).to.deep.equal([`${service.url}/e/k%201`]);
  });

  it('uses a global fetch that the app has replaced', async () => {
    const service = await startService();
    const urls: unknown[] = [];
    const { fetch } = globalThis;
    globalThis.fetch = (url, init) => {
      urls.push(url);
      return fetch(url, init);
    };
    try {
      await clientOf(service.url).send(EVENT);
    } finally {
      globalThis.fetch = fetch;
    }
    expect(urls).to.deep.equal([`${service.url}/e/k%201`]);
  });

  it('follows a redirect that keeps the method', async () => {
    const service = await startService();
    const moved = await startService({ status: 307, headers: { location: `${service.url}/moved` } });
    await clientOf(moved.url).send(EVENT);
    expect(service.requests.map(({ method, url, body }) => [method, url, body])).to.deep.equal([
      ['POST', '/moved', JSON.stringify([EVENT])],
    ]);
  });

  for (const reply of [408, 429, 500, 502, 503] as const) {
    it(`retries after a ${reply}`, async () => {
      const service = await startService({ status: reply, headers: AT_ONCE }, {});
      expect(await clientOf(service.url).send(EVENT)).to.deep.equal({ ids: ['01A'] });
      expect(service.requests).to.have.length(2);
    });
  }

  for (const status of [400, 401, 403, 404, 413]) {
    it(`does not retry after a ${status}`, async () => {
      const service = await startService({ status, headers: AT_ONCE });
      expect(await rejection(clientOf(service.url).send(EVENT))).to.be.instanceOf(SendError);
      expect(service.requests).to.have.length(1);
    });
  }

  it('retries if the connection breaks', async () => {
    const service = await startService('hang up', 'hang up', {});
    const settings = readSettings({ id: 'shop', baseUrl: service.url, isDev: true });
    expect(await sendEvents([EVENT], settings, {}, fakeClock())).to.deep.equal({ ids: ['01A'] });
    expect(service.requests).to.have.length(3);
  });

  it('sends the same seed and body in every attempt, and a new seed in the next send', async () => {
    const service = await startService(
      { status: 503, headers: AT_ONCE },
      { status: 429, headers: AT_ONCE },
      { status: 500, headers: AT_ONCE },
      {},
    );
    const client = clientOf(service.url);
    await client.send(EVENT);
    await client.send(EVENT);
    const seeds = service.requests.map(({ headers }) => headers['x-service-event-id-seed']);
    expect(seeds).to.have.length(5);
    expect(new Set(seeds.slice(0, 4)).size).to.equal(1);
    expect(seeds[4]).not.to.equal(seeds[0]);
    expect(new Set(service.requests.map(({ body }) => body)).size).to.equal(1);
  });

  it('fails after five attempts with the last response', async () => {
    const service = await startService({
      status: 503,
      headers: { ...AT_ONCE, 'x-request-id': 'req-7' },
      body: { error: 'The service is overloaded.', code: 'overloaded', status: 503 },
    });
    const error = await rejection(clientOf(service.url).send(EVENT));
    expect(service.requests).to.have.length(5);
    expect(error).to.be.instanceOf(SendError);
    expect(error).to.include({
      name: 'SendError',
      message: 'The service is overloaded.',
      status: 503,
      code: 'overloaded',
      requestId: 'req-7',
    });
  });

  it('uses exponential backoff with full jitter', async () => {
    const service = await startService({ status: 500 });
    const settings = readSettings({ id: 'shop', baseUrl: service.url, isDev: true });
    const [longest, middle] = [fakeClock(1), fakeClock(0.5)];
    await rejection(sendEvents([EVENT], settings, {}, longest));
    await rejection(sendEvents([EVENT], settings, {}, middle));
    expect(longest.slept).to.deep.equal([200, 400, 800, 1600]);
    expect(middle.slept).to.deep.equal([100, 200, 400, 800]);
  });

  it('waits for retry-after, in seconds or as a date, up to 30 seconds', async () => {
    const headers = ['2', 'Thu, 01 Jan 2026 00:00:07 GMT', '3600', 'whenever'].map((value) => ({
      'retry-after': value,
    }));
    const service = await startService(...headers.map((header) => ({ status: 429, headers: header })), {});
    const clock = fakeClock();
    await sendEvents([EVENT], readSettings({ id: 'shop', baseUrl: service.url, isDev: true }), {}, clock);
    expect(clock.slept).to.deep.equal([2_000, 7_000, 30_000, 1_600]);
  });

  it('names the unreachable service and the reason, without the key', async () => {
    const url = await deadUrl();
    const settings = readSettings({ id: 'shop', baseUrl: url, isDev: false, eventKey: 'secret' });
    const error = await rejection(sendEvents([EVENT], settings, {}, fakeClock()));
    expect(error).to.be.instanceOf(SendError);
    expect(error.message).to.match(new RegExp(`^The service at ${url} could not be reached: .*ECONNREFUSED`));
    expect(error.message).not.to.include('secret');
    expect(error).to.include({ status: undefined, code: undefined });
    expect(error.cause).to.be.instanceOf(Error);
  });

  it('describes an error response that is not from the service', async () => {
    const service = await startService({ status: 404, body: '<h1>Not found</h1>' });
    const error = await rejection(clientOf(service.url).send(EVENT));
    expect(error).to.include({ message: 'The service answered 404', status: 404, code: undefined });
  });

  it('rejects a 200 that is not from the service', async () => {
    const service = await startService({ body: 'It works!' });
    const error = await rejection(clientOf(service.url).send(EVENT));
    expect(error).to.be.instanceOf(SendError);
    expect(error.message).to.include('did not come from the service');
  });

  it('throws at once if JSON cannot represent an event', async () => {
    const service = await startService();
    const error = await rejection(clientOf(service.url).send({ name: 'order/paid', data: { total: 3n } }));
    expect(error).to.be.instanceOf(TypeError);
    expect(service.requests).to.have.length(0);
  });

  it('sends an array with sendMany', async () => {
    const service = await startService({ body: { ids: ['01A', '01B'], status: 200 } });
    expect(await clientOf(service.url).sendMany([EVENT, EVENT])).to.deep.equal({ ids: ['01A', '01B'] });
  });

  describe('more than fits into one request', () => {
    const events = Array.from({ length: 10 }, (_, n) => ({ name: 'order/paid', data: { n, text: 'ü'.repeat(20) } }));
    const maxBytes = 300;

    it('uses several requests within the limit, in order', async () => {
      const service = await startService();
      await clientOf(service.url, { maxBytes }).send(events);
      expect(service.requests.length).to.be.greaterThan(2);
      for (const { body } of service.requests) expect(Buffer.byteLength(body)).to.be.at.most(maxBytes);
      expect(service.requests.flatMap(({ body }) => JSON.parse(body))).to.deep.equal(events);
    });

    it('gives each event the same ID as in a single request', async () => {
      const service = await startService({ status: 503, headers: AT_ONCE }, {});
      await clientOf(service.url, { maxBytes }).send(events);
      const [first, again, ...rest] = service.requests.map(({ headers, body }) => {
        const [time, base64 = ''] = String(headers['x-service-event-id-seed']).split(',');
        const entropy = Buffer.from(base64, 'base64');
        return {
          time,
          fixed: entropy.toString('hex', 0, 6),
          at: entropy.readUInt32BE(6),
          count: JSON.parse(body).length,
        };
      });
      expect(again).to.deep.equal(first);
      let next = (first?.at ?? 0) + (first?.count ?? 0);
      for (const { count, ...seed } of rest) {
        expect(seed).to.deep.equal({ time: first?.time, fixed: first?.fixed, at: next % 2 ** 32 });
        next += count;
      }
    });

    it('reports the accepted events if a later request fails, and can resend with the same seed', async () => {
      const service = await startService({ body: { ids: ['01A', '01B', '01C'], status: 200 } }, { status: 400 }, {});
      const client = clientOf(service.url, { maxBytes });
      const error = (await rejection(client.send(events))) as unknown as SendError;
      expect(error.acceptedIds).to.deep.equal(['01A', '01B', '01C']);
      expect(error.message).to.include('The first 3 of 10 events were accepted');
      await client.send(events, { seed: error.seed });
      const seeds = service.requests.map(({ headers }) => headers['x-service-event-id-seed']);
      expect(seeds.slice(2, 4)).to.deep.equal(seeds.slice(0, 2));
    });

    it('fails before sending if a single event is too large', async () => {
      const service = await startService();
      const big = { name: 'order/big', data: { text: 'x'.repeat(maxBytes) } };
      const error = await rejection(clientOf(service.url, { maxBytes }).send([...events, big]));
      expect(error).to.be.instanceOf(SendError).and.include({ code: 'body_too_large' });
      expect(error.message).to.include('Event 10 ("order/big")');
      expect(service.requests).to.have.length(0);
    });

    it('applies above 512 KB by default', async () => {
      const service = await startService();
      const half = { name: 'a', data: { text: 'x'.repeat(262_000) } };
      await clientOf(service.url).send([half, half]);
      await clientOf(service.url).send([half, half, half]);
      expect(service.requests.map(({ body }) => JSON.parse(body).length)).to.deep.equal([2, 2, 1]);
    });
  });

  it('splits any events within any limit, without loss', () => {
    fc.assert(
      fc.property(fc.array(fc.jsonValue(), { maxLength: 40 }), fc.nat({ max: 500 }), (values, room) => {
        const events = values.map((data) => ({ name: 'a', data }));
        const largest = Math.max(0, ...events.map((event) => Buffer.byteLength(JSON.stringify(event))));
        const maxBytes = largest + 2 + room;
        const chunks = splitByBytes(events, maxBytes);
        for (const { body } of chunks) expect(Buffer.byteLength(body)).to.be.at.most(maxBytes);
        const parts = chunks.map(({ body }) => JSON.parse(body) as unknown[]);
        expect(parts.flat()).to.deep.equal(JSON.parse(JSON.stringify(events)));
        let index = 0;
        chunks.forEach((chunk, n) => {
          expect(chunk.index).to.equal(index);
          index += parts[n]?.length ?? 0;
        });
      }),
    );
  });

  it('rejects an invalid seed', async () => {
    const error = await rejection(clientOf('http://127.0.0.1:1').send(EVENT, { seed: 'order-7' }));
    expect(error).to.be.instanceOf(TypeError);
  });

  it('can be aborted during a request or between attempts', async () => {
    const stop = new AbortController();
    const url = await listen(() => stop.abort(new Error('enough')));
    const error = await rejection(clientOf(url).send(EVENT, { signal: stop.signal }));
    expect(error).to.be.instanceOf(SendError).and.include({ code: 'aborted' });
    expect(error.cause).to.have.property('message', 'enough');

    const service = await startService({ status: 503, headers: { 'x-request-id': 'req-1' }, body: { error: 'Busy' } });
    const later = new AbortController();
    const settings = readSettings({ id: 'shop', baseUrl: service.url, isDev: true });
    const clock = { ...fakeClock(), sleep: async () => later.abort() };
    const between = await rejection(sendEvents([EVENT], settings, { signal: later.signal }, clock));
    expect(between).to.include({ code: 'aborted', status: 503, requestId: 'req-1' });
    expect(between.message).to.include('Busy');
    expect(service.requests).to.have.length(1);
  });

  it('sends no request if it was aborted before', async () => {
    const service = await startService();
    const error = await rejection(clientOf(service.url).send(EVENT, { signal: AbortSignal.abort() }));
    expect(error).to.include({ code: 'aborted' });
    expect(service.requests).to.have.length(0);
  });

  it('fails after its timeout', async () => {
    const url = await listen(() => {});
    const error = await rejection(clientOf(url).send(EVENT, { timeoutMs: 5 }));
    expect(error).to.be.instanceOf(SendError).and.include({ code: 'timeout', status: undefined });
  });
});
