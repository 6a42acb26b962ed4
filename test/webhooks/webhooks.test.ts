import { expect } from 'chai';
import { type RequestBody, request } from '../support/http.ts';
import { type Service, startService } from '../support/service.ts';
import { until } from '../support/until.ts';

const ECHO = `function transform(evt, headers = {}, queryParams = {}, raw = "") {
  return { name: "echo/request", data: { evt, headers, queryParams, raw } };
}`;

interface Webhook {
  id: string;
  url: string;
}

describe('Webhooks', () => {
  let service: Service;
  before(async () => {
    service = await startService();
  });
  after(() => service.stop());

  async function make(transform: string, name = 'test'): Promise<Webhook> {
    const { status, body } = await service.post('/v1/webhooks', { name, transform });
    expect(status, JSON.stringify(body)).to.equal(201);
    return body.data;
  }

  const patch = (path: string, body: object) => service.request('PATCH', path, body);
  const remove = (path: string) => service.request('DELETE', path);
  const deliver = (url: string, body: RequestBody, headers: Record<string, string> = {}) =>
    request('POST', url, { body, headers });

  async function eventOf(response: { body: Record<string, unknown> }) {
    const [id] = response.body.ids as string[];
    return until(async () => (await service.get(`/v1/events/${id}`)).body.data, { describe: `event ${id} is stored` });
  }

  describe('webhook routes', () => {
    it('/v1/webhooks creates, reads, lists, updates and deletes webhooks', async () => {
      const made = await make(ECHO, 'GitHub');
      expect(made).to.include({ name: 'GitHub', transform: ECHO });
      expect(made.url).to.match(new RegExp(`^${service.url}/e/[\\w-]{43}$`));
      expect((await service.get(`/v1/webhooks/${made.id}`)).body.data).to.deep.equal(made);
      expect((await service.get('/v1/webhooks')).body.data).to.deep.include(made);

      const changed = await patch(`/v1/webhooks/${made.id}`, { name: 'Hub' });
      expect(changed.body.data).to.include({ id: made.id, url: made.url, name: 'Hub', transform: ECHO });

      expect((await remove(`/v1/webhooks/${made.id}`)).status).to.equal(204);
      expect((await service.get(`/v1/webhooks/${made.id}`)).status).to.equal(404);
    });

    it('PATCH /v1/webhooks/:id uses the new transform from the next request on', async () => {
      const { id, url } = await make('const transform = () => ({ name: "v/1", data: {} })');
      expect((await eventOf(await deliver(url, '{}'))).name).to.equal('v/1');
      await patch(`/v1/webhooks/${id}`, { transform: 'const transform = () => ({ name: "v/2", data: {} })' });
      await until(async () => (await eventOf(await deliver(url, '{}'))).name === 'v/2', {
        describe: 'the new transform is used',
      });
    });

    it('POST /v1/webhooks without a transform uses a transform that passes the request on', async () => {
      const { body } = await service.post('/v1/webhooks', { name: 'plain' });
      const event = await eventOf(await deliver(body.data.url, '{"a":1}'));
      expect([event.name, event.data]).to.deep.equal(['webhook/received', { body: { a: 1 }, query: {} }]);
    });

    it('POST /v1/webhooks rejects a transform that does not compile and names line and column', async () => {
      const broken = await service.post('/v1/webhooks', {
        name: 'x',
        transform: 'function transform(evt) {\n  return {{ }\n}',
      });
      expect(broken.status).to.equal(400);
      expect(broken.body).to.include({ code: 'transform_invalid', line: 2 });
      expect(broken.body.column).to.be.a('number');
      const none = await service.post('/v1/webhooks', { name: 'x', transform: 'const other = 1;' });
      expect([none.status, none.body.code]).to.deep.equal([400, 'transform_invalid']);
      const { id } = await make(ECHO);
      expect((await patch(`/v1/webhooks/${id}`, { transform: '}' })).status).to.equal(400);
      expect((await service.get(`/v1/webhooks/${id}`)).body.data.transform).to.equal(ECHO);
    });

    it('POST /v1/webhooks rejects invalid input and names the field', async () => {
      for (const [body, field] of [
        [{}, 'name'],
        [{ name: '' }, 'name'],
        [{ name: 7 }, 'name'],
        [{ name: 'x', transform: 7 }, 'transform'],
      ] as const) {
        const response = await service.post('/v1/webhooks', body);
        expect(response.status).to.equal(400);
        expect(response.body).to.include({ code: 'input_invalid', field });
      }
    });
  });

  describe('input of a transform', () => {
    let url: string;
    before(async () => {
      url = (await make(ECHO)).url;
    });
    const dataOf = async (body: RequestBody, headers?: Record<string, string>, query = '') =>
      (await eventOf(await deliver(url + query, body, headers))).data;

    it('a transform gets JSON as evt, canonical header names, query parameters as lists, and the raw body', async () => {
      const raw = '{ "a": [1, {"b": null}] }';
      const headers = {
        'content-type': 'application/json',
        'x-GITHUB-event': 'push',
        'X-Hub-Signature-256': 'sha256=ab',
      };
      const data = await dataOf(raw, headers, '?env=a&env=b&x=');
      expect(data.evt).to.deep.equal({ a: [1, { b: null }] });
      expect(data.headers).to.include({
        'Content-Type': 'application/json',
        'X-Github-Event': 'push',
        'X-Hub-Signature-256': 'sha256=ab',
      });
      expect(data.queryParams).to.deep.equal({ env: ['a', 'b'], x: [''] });
      expect(data.raw).to.equal(raw);
    });

    it('a transform gets form fields as lists in order of appearance', async () => {
      const raw = 'a=2&b=x%20y+z&a=1&empty=';
      const data = await dataOf(raw, { 'content-type': 'application/x-www-form-urlencoded' });
      expect(data.evt).to.deep.equal({ a: ['2', '1'], b: ['x y z'], empty: [''] });
      expect(data.raw).to.equal(raw);
    });

    it('a transform gets multipart fields and files as lists in order of appearance', async () => {
      const form = new FormData();
      form.append('to', 'b@example.com');
      form.append('to', 'a@example.com');
      form.append('file', new Blob(['file content'], { type: 'text/plain' }), 'a.txt');
      const data = await dataOf(form);
      expect(data.evt).to.deep.equal({ to: ['b@example.com', 'a@example.com'], file: ['file content'] });
      expect(data.raw).to.include('name="to"').and.include('file content');
    });

    it('a transform gets parsed JSON even with another content type or none', async () => {
      for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/octet-stream']) {
        expect((await dataOf('{"a":1}', { 'content-type': type })).evt, type).to.deep.equal({ a: 1 });
      }
      expect((await dataOf(Buffer.from('{"a":1}'))).evt).to.deep.equal({ a: 1 });
      expect((await dataOf('[1,2]', { 'content-type': 'application/json' })).evt).to.deep.equal([1, 2]);
    });

    it('a transform gets an empty object and the raw body when the body is not JSON', async () => {
      for (const type of ['application/json', 'text/plain', 'application/xml', 'multipart/form-data; boundary=x']) {
        const data = await dataOf('<a>1</a>', { 'content-type': type });
        expect([data.evt, data.raw], type).to.deep.equal([{}, '<a>1</a>']);
      }
      expect((await dataOf('', { 'content-type': 'application/json' })).evt).to.deep.equal({});
    });

    it('a transform gets form fields of any name, even __proto__', async () => {
      const data = await dataOf('__proto__=1&constructor=2', { 'content-type': 'application/x-www-form-urlencoded' });
      expect(Object.keys(data.evt)).to.have.members(['__proto__', 'constructor']);
    });
  });

  describe('responses of webhooks', () => {
    it('POST /e/:key responds with 400, the message and the line when the transform throws, and accepts nothing', async () => {
      const { url } = await make(
        'function transform(evt) {\n  const name = evt.user.login;\n  return { name: "never/x", data: {} };\n}',
      );
      const { status, body } = await deliver(url, '{}');
      expect(status).to.equal(400);
      expect(body).to.include({ code: 'transform_failed', line: 2 });
      expect(body.error).to.include("reading 'login'").and.include('line 2');
      expect((await service.get('/v1/events?name=never/x')).body.data).to.deep.equal([]);
    });

    it('POST /e/:key responds with 400 and names the field when the transform returns an invalid event', async () => {
      for (const [returned, word] of [
        ['{ data: {} }', '"name"'],
        ['{ name: "x" }', '"data"'],
        ['{ name: "x", data: 7 }', '"data"'],
        ['{ name: "inngest/x", data: {} }', '"name"'],
        ['undefined', 'undefined'],
        ['[[]]', 'array'],
        ['"text"', 'string'],
      ]) {
        const { url } = await make(`const transform = () => (${returned});`);
        const { status, body } = await deliver(url, '{}');
        expect([status, body.code], returned).to.deep.equal([400, 'transform_failed']);
        expect(body.error, returned).to.include(word);
      }
    });

    it('POST /e/:key responds with 200 and no IDs when the transform returns null', async () => {
      const { url } = await make('const transform = () => null;');
      expect((await deliver(url, '{}')).body).to.deep.equal({ ids: [], status: 200 });
    });

    it('POST /e/:key responds with 200 when the transform catches its own error and returns an event', async () => {
      const { url } = await make(
        'function transform(evt) { try { return evt.a.b.c } catch (e) { return { name: "hook/failed", data: { message: e.message } } } }',
      );
      const event = await eventOf(await deliver(url, '{}'));
      expect(event.name).to.equal('hook/failed');
    });

    it('POST /e/:key runs an async transform and returns the first ID for repeats of its deduplication ID', async () => {
      const { id, url } = await make(
        'async function transform(evt) { return { id: evt.delivery, name: "hook/x", data: {}, ts: 1700000000000 } }',
      );
      const [first, second] = [await deliver(url, '{"delivery":"d1"}'), await deliver(url, '{"delivery":"d1"}')];
      expect(second.body).to.deep.equal(first.body);
      expect(await eventOf(first)).to.include({ id: 'd1', ts: 1_700_000_000_000, source: `webhook:${id}` });
    });

    it('POST /e/:key responds with 400 to an endless loop in the transform', async () => {
      const { url } = await make('function transform() { for (;;); }');
      const { status, body } = await deliver(url, '{}');
      expect([status, body.code]).to.deep.equal([400, 'transform_failed']);
      expect(body.error).to.include('1000 ms');
    });

    it('POST /e/:key responds with 400 when the transform exhausts its memory, while other webhooks work', async () => {
      const [bomb, good] = [await make('function transform() { Array(1e9).fill(0) }'), await make(ECHO)];
      const [bombed, ...others] = await Promise.all([
        deliver(bomb.url, '{}'),
        ...Array.from({ length: 40 }, (_, n) => deliver(good.url, JSON.stringify({ n }))),
      ]);
      expect([bombed.status, bombed.body.code]).to.deep.equal([400, 'transform_failed']);
      expect(others.map(({ status }) => status)).to.deep.equal(others.map(() => 200));
    });

    it('POST /e/:key responds with 401 outside dev mode once the webhook is deleted', async () => {
      const production = await startService({ dev: false });
      try {
        const { body } = await production.post(
          '/v1/webhooks',
          { name: 'gone', transform: ECHO },
          production.apiHeaders,
        );
        const { id, url } = body.data;
        expect((await deliver(url, '{}')).status).to.equal(200);
        await production.request('DELETE', `/v1/webhooks/${id}`, undefined, production.apiHeaders);
        await until(async () => (await deliver(url, '{}')).status === 401, { describe: 'its URL is unknown' });
      } finally {
        await production.stop();
      }
    });
  });

  describe('POST /v1/transforms/test', () => {
    const trial = (body: object) => service.post('/v1/transforms/test', body);

    it('POST /v1/transforms/test returns event, console and duration and ingests nothing', async () => {
      const { status, body } = await trial({
        transform:
          'function transform(evt, headers, query, raw) { console.log("got", evt.a); console.error(raw); return { name: "trial/" + headers["X-Kind"], data: { evt, query } } }',
        body: { a: 1 },
        headers: { 'x-kind': 'k' },
        query: { q: 'one', r: ['two', 'three'] },
      });
      expect(status).to.equal(200);
      expect(body.data.event).to.deep.equal({
        name: 'trial/k',
        data: { evt: { a: 1 }, query: { q: ['one'], r: ['two', 'three'] } },
      });
      expect(body.data.console).to.deep.equal([
        { level: 'log', text: 'got 1' },
        { level: 'error', text: '{"a":1}' },
      ]);
      expect(body.data.duration_ms).to.be.a('number');
      expect((await service.get('/v1/events?name=trial/k')).body.data).to.deep.equal([]);
    });

    it('POST /v1/transforms/test passes a string as the raw body', async () => {
      const { body } = await trial({
        transform: 'const transform = (evt, headers, query, raw) => ({ name: "x", data: { evt, raw } })',
        body: 'a=1&a=2',
        headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
      });
      expect(body.data.event.data).to.deep.equal({ evt: { a: ['1', '2'] }, raw: 'a=1&a=2' });
    });

    it('POST /v1/transforms/test reports the problem of a transform', async () => {
      expect((await trial({ transform: 'function transform( {', body: {} })).body).to.include({
        code: 'transform_invalid',
        line: 1,
      });
      expect((await trial({ transform: 'function transform() { throw new Error("no") }', body: {} })).body).to.include({
        code: 'transform_failed',
        line: 1,
      });
      expect((await trial({ transform: 'const transform = () => ({ name: "x" })', body: {} })).body.error).to.include(
        '"data"',
      );
    });
  });
});
