import { expect } from 'chai';
import { type RequestBody, request } from '../support/http.ts';
import { type Service, startService } from '../support/service.ts';
import { until } from '../support/until.ts';

const TRANSFORM = 'const transform = (evt, headers, query) => ({ name: "passed/x", data: { evt, query } })';
/** Compares each element with each. */
const COSTLY = 'body.list.exists(a, body.list.exists(b, a + b == -1))';

describe('Filters of webhooks', () => {
  let service: Service;
  before(async () => {
    service = await startService();
  });
  after(() => service.stop());

  async function make(filter: string, fields: object = {}): Promise<{ id: string; url: string }> {
    const { status, body } = await service.post('/v1/webhooks', { name: 'f', transform: TRANSFORM, filter, ...fields });
    expect(status, JSON.stringify(body)).to.equal(201);
    return body.data;
  }
  const lastLogged = async (id: string) =>
    (await service.waitFor(`/v1/webhooks/${id}/requests?limit=1`, ({ body }) => body.data.length === 1)).body.data[0];
  const passes = async (filter: string, body: RequestBody, { query = '', headers = {} } = {}): Promise<boolean> => {
    const { url } = await make(filter);
    const response = await request('POST', url + query, { body, headers });
    expect(response.status, JSON.stringify(response.body)).to.equal(200);
    return response.body.ids.length === 1;
  };

  const form = { 'content-type': 'application/x-www-form-urlencoded' };
  const cases: [filter: string, expected: boolean, body: RequestBody, sent?: { query?: string; headers?: object }][] = [
    ['body.type == "invoice.paid"', true, { type: 'invoice.paid' }],
    ['body.type == "invoice.paid"', false, { type: 'invoice.voided' }],
    ['body.type.startsWith("invoice.") && method == "POST"', true, { type: 'invoice.paid' }],
    ['headers["x-github-event"] in ["push", "ping"]', true, {}, { headers: { 'X-GitHub-Event': 'push' } }],
    ['"X-GitHub-Event" in headers', false, {}, { headers: { 'X-GitHub-Event': 'push' } }],
    ['query.page == ["1", "2"]', true, {}, { query: '?page=1&page=2' }],
    ['"2" in query.page', true, {}, { query: '?page=1&page=2' }],
    ['body.SmsStatus == ["received"]', true, 'SmsStatus=received&From=1', { headers: form }],
    ['body == {}', true, 'no JSON', { headers: { 'content-type': 'text/plain' } }],
    ['body.amount > 100', true, { amount: 101 }],
    ['body.order == 1234567890123456789', true, '{"order":1234567890123456789}'],
    ['body.order == 1234567890123456789', false, '{"order":1234567890123456788}'],
    ['body.missing == "a"', false, {}],
    ['body.missing != "a"', true, {}],
    ['has(body.missing)', false, {}],
    ['body.type == 7', false, { type: 'seven' }],
    ['body.type', false, { type: 'true' }],
    ['query.page[0] == "1"', false, {}],
    ['has(body.constructor) || has(headers.constructor) || has(query.constructor)', false, {}],
  ];
  for (const [filter, expected, body, sent] of cases) {
    it(`the filter ${filter} ${expected ? 'matches' : 'does not match'} ${JSON.stringify(body)} ${JSON.stringify(sent ?? {})}`, async () => {
      expect(await passes(filter, body, sent)).to.equal(expected);
    });
  }

  it('a request that the filter drops gets 200 without IDs, is not transformed, and is logged as filtered', async () => {
    const { id, url } = await make('body.kind == "kept"', {
      transform: 'const transform = () => { throw new Error(); }',
    });
    const { status, body } = await request('POST', url, { body: { kind: 'other' } });
    expect([status, body]).to.deep.equal([200, { ids: [], status: 200 }]);
    const logged = await lastLogged(id);
    expect(logged).to.include({ outcome: 'filtered', reason: 'filter_not_met', status: 200, event_name: null });
    expect(logged.console).to.deep.equal([]);
  });

  it('a filter that costs too much causes 400 filter_failed, and its requests can be replayed once it is fixed', async () => {
    const { id, url } = await make(COSTLY);
    const list = Array.from({ length: 3_000 }, (_, i) => i);
    const { status, body } = await request('POST', url, { body: { list } });
    expect([status, body.code]).to.deep.equal([400, 'filter_failed']);
    expect(body.error).to.include('costs more than a filter may');
    const logged = await lastLogged(id);
    expect(logged).to.include({ outcome: 'rejected', reason: 'filter_failed' });
    await service.request('PATCH', `/v1/webhooks/${id}`, { filter: 'size(body.list) == 3000' });
    const rerun = await service.post(`/v1/webhooks/${id}/requests/${logged.id}/rerun`, { dry_run: false });
    expect([rerun.status, rerun.body.data?.outcome]).to.deep.equal([200, 'accepted']);
  });

  it('costly filters take turns with the requests of other webhooks', async () => {
    const [costly, cheap] = [await make(COSTLY), await make('body.n == 1')];
    const list = Array.from({ length: 80 }, (_, i) => i);
    let done = 0;
    const slow = Array.from({ length: 300 }, async () => {
      const { status, body } = await request('POST', costly.url, { body: { list } });
      done += 1;
      return `${status} ${body.ids.length}`;
    });
    await until(() => done > 0, { describe: 'the first costly request gets its response' });
    const { body } = await request('POST', cheap.url, { body: { n: 1 } });
    expect(body.ids).to.have.length(1);
    expect(done).to.be.lessThan(200);
    expect(new Set(await Promise.all(slow))).to.deep.equal(new Set(['200 0']));
  });

  it('a filter that was stopped ten times within a minute has little fuel for a while, and still handles cheap requests', async () => {
    const { url } = await make(COSTLY);
    const list = Array.from({ length: 3_000 }, (_, i) => i);
    const responses = [];
    for (let i = 0; i < 11; i++) responses.push(await request('POST', url, { body: { list } }));
    expect(responses.map(({ status }) => status)).to.deep.equal(responses.map(() => 400));
    expect(responses.at(-1)?.body.error).to.include('filters of this webhook have cost too much; until 20');
    expect((await request('POST', url, { body: { list: [1] } })).status).to.equal(200);
  });

  it('a filter of another version that this one rejects causes filter_failed', async () => {
    const { id, url } = await make('body.n == 1');
    const key = `${service.prefix}:webhooks`;
    const stored = JSON.parse((await service.redis.hget(key, id)) as string);
    await service.redis.hset(key, id, JSON.stringify({ ...stored, filter: 'body.n.unknownFunction()' }));
    // Another change makes the service read all webhooks.
    await make('true');
    const { status, body } = await request('POST', url, { body: { n: 1 } });
    expect([status, body.code]).to.deep.equal([400, 'filter_failed']);
    expect(body.error).to.include('this version of the service does not accept it');
    expect(await lastLogged(id)).to.include({ outcome: 'rejected', reason: 'filter_failed' });
  });

  it('PATCH /v1/webhooks/:id with null removes the filter', async () => {
    const { id, url } = await make('false');
    expect((await request('POST', url, { body: {} })).body.ids).to.deep.equal([]);
    expect((await service.request('PATCH', `/v1/webhooks/${id}`, { filter: null })).body.data.filter).to.equal(null);
    expect((await request('POST', url, { body: {} })).body.ids).to.have.length(1);
  });

  it('POST /v1/transforms/test evaluates a filter, and does not transform what it drops', async () => {
    const test = (fields: object) =>
      service.post('/v1/transforms/test', { transform: TRANSFORM, filter: 'headers["x-kind"] == "a"', ...fields });
    const dropped = await test({ body: {}, headers: { 'X-Kind': 'b' } });
    expect(dropped.body.data).to.deep.include({ filtered: true, event: null, events: [], console: [] });
    const passed = await test({ body: {}, headers: { 'X-Kind': 'a' } });
    expect(passed.body.data).to.deep.include({ filtered: false });
    expect(passed.body.data.event.name).to.equal('passed/x');
    const wrong = await test({ body: {}, filter: 'event.name == "a"' });
    expect([wrong.status, wrong.body.field]).to.deep.equal([400, 'filter']);
    const none = await service.post('/v1/transforms/test', { transform: TRANSFORM, body: {} });
    expect(none.body.data.filtered).to.equal(false);
  });
});
