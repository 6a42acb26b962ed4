import { expect } from 'chai';
import { type Service, startService } from '../support/service.ts';
import { until } from '../support/until.ts';

const MAX_BYTES = 2_000;

describe('POST /e/:key', () => {
  let service: Service;
  before(async () => {
    service = await startService({ env: { EVENT_MAX_BYTES: String(MAX_BYTES) } });
  });
  after(() => service.stop());

  const send = (body: object, headers: Record<string, string> = {}) => service.post('/e/any-key', body, headers);
  const raw = async (body: string | Uint8Array, contentType?: string) => {
    const headers: Record<string, string> = contentType ? { 'content-type': contentType } : {};
    const response = await fetch(`${service.url}/e/any-key`, { method: 'POST', headers, body: Buffer.from(body) });
    return {
      status: response.status,
      headers: response.headers,
      body: (await response.json()) as Record<string, unknown>,
    };
  };
  const stored = (id: string) =>
    until(
      async () => {
        const response = await service.get(`/v1/events/${id}`);
        return response.status === 200 ? (response.body.data as Record<string, unknown>) : undefined;
      },
      { describe: `event ${id} is stored` },
    );

  it('returns the ID under which the event is stored', async () => {
    const { status, body } = await send({
      name: 'order/paid',
      data: { total: 3 },
      ts: 1_700_000_000_000,
      v: '2',
      user: { id: 7 },
    });
    expect(status).to.equal(200);
    expect(body).to.have.keys('ids', 'status');
    expect(body.status).to.equal(200);
    const event = await stored(body.ids[0]);
    expect(event).to.include({
      internal_id: body.ids[0],
      id: body.ids[0],
      name: 'order/paid',
      ts: 1_700_000_000_000,
      v: '2',
      source: 'event-key',
      duplicates: 0,
    });
    expect(event.data).to.deep.equal({ total: 3 });
    expect(event.user).to.deep.equal({ id: 7 });
  });

  it('returns the IDs of an array in order, and stores each event', async () => {
    const names = ['a/one', 'a/two', 'a/three'];
    const { body } = await send(names.map((name) => ({ name, data: {} })));
    expect(new Set(body.ids).size).to.equal(3);
    const events = await Promise.all(body.ids.map(stored));
    expect(events.map(({ name }) => name)).to.deep.equal(names);
  });

  it('accepts an empty array and does nothing', async () => {
    expect((await send([])).body).to.deep.equal({ ids: [], status: 200 });
  });

  it('sets ts to the time of receipt if an event has none', async () => {
    const before = Date.now();
    const { body } = await send({ name: 'clock/now', data: {} });
    expect((await stored(body.ids[0])).ts).to.be.within(before, Date.now());
  });

  it('stores numbers of any length digit by digit, and drops unknown fields', async () => {
    const { body } = await raw('{"name":"big/number","data":{"n":12345678901234567890},"extra":1}', 'application/json');
    const id = (body.ids as string[])[0] as string;
    await stored(id);
    const text = await (await fetch(`${service.url}/v1/events/${id}`)).text();
    expect(text).to.include('"n":12345678901234567890').and.not.include('extra');
  });

  it('rejects a batch when one event is invalid, and names its index and field', async () => {
    const bad = await send([
      { name: 'all-or-none/x', data: {} },
      { name: 'all-or-none/x', data: [] },
    ]);
    expect(bad.status).to.equal(400);
    expect(bad.body).to.include({ code: 'event_invalid', status: 400, index: 1, field: 'data' });
    expect(bad.body.error).to.include('event 1').and.include('got an array').and.include('expected a JSON object');
    const { body } = await send({ name: 'all-or-none/after', data: {} });
    await stored(body.ids[0]);
    expect((await service.get('/v1/events?name=all-or-none/x')).body.data).to.deep.equal([]);
  });

  for (const [what, event, field] of [
    ['no name', { data: {} }, 'name'],
    ['an empty name', { name: '', data: {} }, 'name'],
    ['a name of 513 characters', { name: 'x'.repeat(513), data: {} }, 'name'],
    ['a name that the service keeps for itself', { name: 'inngest/x', data: {} }, 'name'],
    ['another such name', { name: 'service/internal.x', data: {} }, 'name'],
    ['the name of an event about a webhook', { name: 'tidegate/webhook.failing', data: {} }, 'name'],
    ['data that is a string', { name: 'x', data: 'y' }, 'data'],
    ['an id of 513 characters', { name: 'x', data: {}, id: 'x'.repeat(513) }, 'id'],
    ['an id that is a number', { name: 'x', data: {}, id: 7 }, 'id'],
    ['a ts in seconds', { name: 'x', data: {}, ts: 1_700_000_000 }, 'ts'],
    ['a broken ts', { name: 'x', data: {}, ts: 1_700_000_000_000.5 }, 'ts'],
    ['a ts that is a string', { name: 'x', data: {}, ts: '2026' }, 'ts'],
    ['a user that is a string', { name: 'x', data: {}, user: 'u' }, 'user'],
    ['a v that is a number', { name: 'x', data: {}, v: 1 }, 'v'],
  ] as const) {
    it(`rejects an event with ${what}`, async () => {
      const { status, body } = await send(event);
      expect(status).to.equal(400);
      expect(body).to.include({ code: 'event_invalid', index: 0, field });
    });
  }

  it('rejects a reserved name with the message that official apps know, and explains more in the detail', async () => {
    const { body } = await send([
      { name: 'fine/x', data: {} },
      { name: 'inngest/foo', data: {} },
    ]);
    expect(body.error).to.equal('event name is reserved for internal use: inngest/foo');
    expect(body.detail).to.include('event 1').and.include('does not start with inngest/');
  });

  it('rejects a body that is not an event', async () => {
    for (const body of ['7', '"x"', 'null', '[1]', '[[]]']) {
      const response = await raw(body, 'application/json');
      expect(response.status, body).to.equal(400);
      expect(response.body.code, body).to.equal('event_invalid');
    }
  });

  it('rejects events nested too deeply to pass on', async () => {
    const { status, body } = await raw(
      `{"name":"x","data":{"a":${'['.repeat(900)}${']'.repeat(900)}}}`,
      'application/json',
    );
    expect(status).to.equal(400);
    expect(body.error).to.include('nested deeper');
  });

  it('names the problem of a body that cannot be parsed', async () => {
    for (const [body, type, status, code] of [
      ['', 'application/json', 400, 'body_missing'],
      ['{"name":', 'application/json', 400, 'body_not_json'],
      [Buffer.from([0x22, 0xff, 0x22]), 'application/json', 400, 'body_not_json'],
      ['name=x', 'application/x-www-form-urlencoded', 400, 'body_not_json'],
      ['--x\r\n', 'multipart/form-data; boundary=x', 400, 'body_not_json'],
    ] as const) {
      const response = await raw(body, type);
      expect(response.body).to.include({ code, status });
      expect(response.status).to.equal(status);
    }
  });

  it('treats fields that typed clients leave empty as absent', async () => {
    const before = Date.now();
    const { status, body } = await send([
      { name: 'empty/x' },
      { name: 'empty/x', data: null, id: null, ts: null, user: null, v: null },
      { name: 'empty/x', data: {}, id: '', ts: 0 },
      { name: 'empty/x', data: {}, id: '', ts: 0 },
    ]);
    expect(status).to.equal(200);
    expect(new Set(body.ids).size).to.equal(4);
    for (const event of await Promise.all(body.ids.map(stored))) {
      expect(event.data).to.deep.equal({});
      expect(event.ts).to.be.within(before, Date.now());
      expect(event).to.not.have.any.keys('user', 'v');
    }
  });

  it('accepts names of 512 characters', async () => {
    const name = `long/${'x'.repeat(507)}`;
    const { body } = await send({ name });
    expect((await stored(body.ids[0])).name).to.equal(name);
  });

  it('accepts JSON under any content type, since curl -d and other senders announce others', async () => {
    for (const type of ['application/x-www-form-urlencoded', 'text/plain', undefined, 'application/octet-stream']) {
      const response = await raw('{"name":"typed/x","data":{"n":1}}', type);
      expect([response.status, (response.body.ids as string[] | undefined)?.length], type).to.deep.equal([200, 1]);
    }
    const form = await raw('name=typed', 'application/x-www-form-urlencoded');
    expect(form.body.error).to.include('"application/x-www-form-urlencoded"').and.include('events are JSON');
  });

  it('parses JSON with a charset and a byte order mark', async () => {
    const { status } = await raw('\ufeff{"name":"x","data":{}}', 'application/json; charset=utf-8');
    expect(status).to.equal(200);
  });

  it('accepts a body of exactly the limit, and rejects one byte more, naming the limit', async () => {
    const event = (bytes: number) => {
      const frame = JSON.stringify({ name: 'x', data: { pad: '' } }).length;
      return JSON.stringify({ name: 'x', data: { pad: 'x'.repeat(bytes - frame) } });
    };
    expect((await raw(event(MAX_BYTES), 'application/json')).status).to.equal(200);
    const over = await raw(event(MAX_BYTES + 1), 'application/json');
    expect(over.status).to.equal(413);
    expect(over.body).to.include({ code: 'body_too_large', limit_bytes: MAX_BYTES });
    expect(over.body.error).to.include(String(MAX_BYTES));
    expect(over.body.error).to.include('setting EVENT_MAX_BYTES');
    const [, method = '', path = ''] = /or the limit with ([A-Z]+) (\S+)/.exec(String(over.body.error)) ?? [];
    expect((await service.request(method, path, { event_max_bytes: null })).status, `${method} ${path}`).to.equal(200);
  });

  it('limits a body without Content-Length while reading it', async () => {
    const body = new ReadableStream({
      start(controller) {
        controller.enqueue(Buffer.alloc(MAX_BYTES + 1, 0x20));
        controller.close();
      },
    });
    const init = { method: 'POST', body, duplex: 'half', headers: { 'content-type': 'application/json' } };
    expect((await fetch(`${service.url}/e/any-key`, init as RequestInit)).status).to.equal(413);
  });

  it('rejects compressed bodies and methods other than POST', async () => {
    const compressed = await send({ name: 'x', data: {} }, { 'content-encoding': 'gzip' });
    expect(compressed.body.code).to.equal('content_encoding_unsupported');
    const got = await service.get('/e/any-key');
    expect([got.status, got.body.code]).to.deep.equal([405, 'method_not_allowed']);
  });

  it('derives the same IDs from a seed when a request is repeated, and stores its events once', async () => {
    const seed = `1700000000000,${Buffer.from('0123456789').toString('base64')}`;
    const events = [
      { name: 'seed/a', data: {} },
      { name: 'seed/b', data: {} },
    ];
    const first = await send(events, { 'x-service-event-id-seed': seed });
    const again = await send(events, { 'x-inngest-event-id-seed': seed });
    expect(first.status).to.equal(200);
    expect(again.body).to.deep.equal(first.body);
    await until(async () => (await stored(first.body.ids[1])).duplicates === 1, { describe: 'the repeat is counted' });
    const bad = await send(events, { 'x-service-event-id-seed': 'x' });
    expect([bad.status, bad.body.code]).to.deep.equal([400, 'seed_invalid']);
  });

  it('returns the request ID', async () => {
    const { body } = await send({ name: 'traced/x', data: {} });
    const event = await stored(body.ids[0]);
    expect(event.request_id).to.match(/^[0-9A-Z]{26}$/);
  });
});
