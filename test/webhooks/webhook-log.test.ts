import { expect } from 'chai';
import { type RequestBody, request } from '../support/http.ts';
import { type Service, startService } from '../support/service.ts';
import { until } from '../support/until.ts';

const ECHO = `function transform(evt, headers, query, raw) {
  console.log('got', evt.name);
  if (evt.throws) throw new Error('cannot');
  return evt.none ? null : { name: evt.name ?? 'log/x', data: { raw } };
}`;

interface Webhook {
  id: string;
  url: string;
}

describe('The request log of a webhook', () => {
  let service: Service;
  before(async () => {
    service = await startService({
      dev: false,
      env: { TRUST_PROXY: '1', WEBHOOK_LOG_SIZE: '5', EVENT_MAX_BYTES: '65536' },
    });
  });
  after(() => service.stop());

  const call = (method: string, path: string, body?: object) => service.request(method, path, body, service.apiHeaders);

  async function make(fields: object = {}): Promise<Webhook> {
    const { status, body } = await call('POST', '/v1/webhooks', { name: 'log', transform: ECHO, ...fields });
    expect(status, JSON.stringify(body)).to.equal(201);
    return body.data;
  }

  const deliver = (url: string, body: RequestBody, headers: Record<string, string> = {}) =>
    request('POST', url, { body, headers });

  const idOf = (response: { headers: Headers }) => response.headers.get('x-request-id') as string;

  /** A request is logged after its response. */
  async function logged({ id }: Webhook, response: { headers: Headers }) {
    const path = `/v1/webhooks/${id}/requests/${idOf(response)}`;
    return (await service.waitFor(path, ({ status }) => status === 200)).body.data;
  }

  it('the request log accepts any time as a limit, however early or late', async () => {
    const webhook = await make();
    await logged(webhook, await deliver(webhook.url, '{"name": "log/time"}'));
    for (const [query, count] of [
      ['received_before=0020-02-29T00:00:00Z', 0],
      ['received_after=0020-02-29T00:00:00Z', 1],
      ['received_before=999999999999999', 1],
    ] as const) {
      const { status, body } = await call('GET', `/v1/webhooks/${webhook.id}/requests?${query}`);
      expect([status, body.data?.length], query).to.deep.equal([200, count]);
    }
  });

  it('the request log has an accepted request with headers, query, body, console and event', async () => {
    const webhook = await make();
    const response = await deliver(`${webhook.url}?a=1&a=2`, '{"name": "log/one"}', { 'x-kind': 'k' });
    const entry = await logged(webhook, response);
    expect(entry).to.deep.include({
      id: idOf(response),
      method: 'POST',
      ip: '127.0.0.1',
      outcome: 'accepted',
      status: 200,
      reason: null,
      event_name: 'log/one',
      ids: response.body.ids,
      console: [{ level: 'log', text: 'got log/one' }],
      query: { a: ['1', '2'] },
      body: { encoding: 'utf8', content: '{"name": "log/one"}' },
      body_bytes: 19,
    });
    expect(entry.headers).to.include({ 'x-kind': 'k' });
    expect(entry.duration_ms).to.be.greaterThan(0);
    expect(Date.parse(entry.received_at)).to.be.closeTo(Date.now(), 10_000);
  });

  it('the request log keeps bodies byte for byte', async () => {
    const webhook = await make();
    const bytes = Buffer.from([0, 255, 254, 13, 10, 0, 128, 195, 40]);
    const { body } = await logged(webhook, await deliver(webhook.url, bytes));
    expect(body).to.deep.equal({ encoding: 'base64', content: bytes.toString('base64') });
  });

  it('GET /v1/webhooks/:id/requests/:rid masks secrets', async () => {
    const webhook = await make();
    const secrets = {
      authorization: 'Bearer s3cret',
      cookie: 'sid=s3cret',
      'x-hub-signature-256': 's3cret',
      'x-gitlab-token': 's3cret',
      'x-webhook-secret': 's3cret',
      'stripe-signature': 's3cret',
      'x-api-key': 's3cret',
    };
    const response = await deliver(`${webhook.url}?token=s3cret&page=1`, '{}', { ...secrets, 'x-event': 'shown' });
    const entry = await logged(webhook, response);
    expect(JSON.stringify(entry)).not.to.include('s3cret');
    expect(Object.keys(entry.headers)).to.include.members(Object.keys(secrets));
    expect([entry.headers['x-event'], entry.query.page]).to.deep.equal(['shown', ['1']]);
  });

  it('the request log has ignored, filtered and held requests', async () => {
    const names = { mode: 'deny', items: ['noise/*'] };
    const [webhook, shared] = [await make({ event_names: names }), await make({ environment: 'branches' })];
    const ignored = await deliver(webhook.url, '{"none": true}');
    expect(ignored.body).to.deep.equal({ ids: [], status: 200 });
    expect(await logged(webhook, ignored)).to.include({ outcome: 'ignored', status: 200 });
    const filtered = await deliver(webhook.url, '{"name": "noise/x"}');
    expect(filtered.body).to.deep.equal({ ids: [], status: 200 });
    expect(await logged(webhook, filtered)).to.include({
      outcome: 'filtered',
      reason: 'event_refused',
      event_name: 'noise/x',
    });
    const held = await deliver(shared.url, '{}');
    const entry = await logged(shared, held);
    expect(entry).to.include({ outcome: 'held', reason: 'selection_missing' });
    expect(entry.ids).to.deep.equal(held.body.ids);
  });

  it('the request log has rejected requests: transform error, body too large, address, pause', async () => {
    const webhook = await make({ ip_addresses: { mode: 'deny', items: ['203.0.113.0/24'] } });
    const thrown = await deliver(webhook.url, '{"throws": true}');
    expect(thrown.status).to.equal(400);
    const entry = await logged(webhook, thrown);
    expect(entry).to.include({ outcome: 'rejected', status: 400, reason: 'transform_failed' });
    expect(entry.message).to.include('cannot').and.include('line 3');
    expect(entry.console).to.deep.equal([{ level: 'log', text: 'got undefined' }]);
    expect(entry.body.content).to.equal('{"throws": true}');

    const large = await deliver(webhook.url, 'x'.repeat(70_000));
    expect(large.status).to.equal(413);
    expect(await logged(webhook, large)).to.include({ reason: 'body_too_large', body: null, body_bytes: null });

    const rejected = await deliver(webhook.url, '{"n": 1}', { 'x-forwarded-for': '203.0.113.5' });
    expect([rejected.status, rejected.body.code]).to.deep.equal([403, 'ip_refused']);
    const rejection = await logged(webhook, rejected);
    expect([rejection.ip, rejection.body.content]).to.deep.equal(['203.0.113.5', '{"n": 1}']);
  });

  it('the request log has the requests received while the webhook was paused', async () => {
    const webhook = await make();
    const paused = await call('POST', `/v1/webhooks/${webhook.id}/pause`);
    expect(paused.body.data.paused_at).to.be.a('string');
    const response = await until(
      async () => {
        const tried = await deliver(webhook.url, '{"name": "log/paused"}');
        return tried.status === 503 && tried;
      },
      { describe: 'the pause is known' },
    );
    expect(response.body.code).to.equal('webhook_paused');
    expect(Number(response.headers.get('retry-after'))).to.be.greaterThan(0);
    expect(await logged(webhook, response)).to.include({ outcome: 'rejected', reason: 'webhook_paused' });
    expect((await call('POST', `/v1/webhooks/${webhook.id}/resume`)).body.data.paused_at).to.equal(null);
    await until(async () => (await deliver(webhook.url, '{}')).status === 200, { describe: 'it goes on' });
  });

  it('the request log keeps the latest requests and has stable pages', async () => {
    const webhook = await make();
    const ids: string[] = [];
    for (let n = 0; n < 7; n++) {
      const response = await deliver(webhook.url, '{}');
      ids.unshift(idOf(response));
      await logged(webhook, response);
    }
    const list = async (query: string) => (await service.get(`/v1/webhooks/${webhook.id}/requests?${query}`)).body;
    const idsOf = ({ data }: { data: { id: string }[] }) => data.map(({ id }) => id);
    expect(idsOf(await list(''))).to.deep.equal(ids.slice(0, 5));
    const first = await list('limit=2');
    await logged(webhook, await deliver(webhook.url, '{}'));
    const second = await list(`limit=2&cursor=${first.metadata.cursor}`);
    expect([...idsOf(first), ...idsOf(second)]).to.deep.equal(ids.slice(0, 4));
    expect((await service.get(`/v1/webhooks/${webhook.id}/requests/${ids[6]}`)).status).to.equal(404);
    const ttl = await service.redis.pttl(`${service.prefix}:webhook-request:${webhook.id}:${ids[0]}`);
    expect(ttl).to.be.within(7 * 86_400_000 - 60_000, 7 * 86_400_000);
  });

  it('deleting a webhook deletes its request log', async () => {
    const webhook = await make();
    const response = await deliver(webhook.url, '{}');
    await logged(webhook, response);
    await call('DELETE', `/v1/webhooks/${webhook.id}`);
    expect((await service.get(`/v1/webhooks/${webhook.id}/requests`)).status).to.equal(404);
    expect(await service.redis.exists(`${service.prefix}:webhook-request:${webhook.id}:${idOf(response)}`)).to.equal(0);
  });

  describe('POST /v1/webhooks/:id/requests/:rid/rerun', () => {
    const rerun = (webhook: Webhook, response: { headers: Headers }, body: object) =>
      call('POST', `/v1/webhooks/${webhook.id}/requests/${idOf(response)}/rerun`, body);

    it('POST /v1/webhooks/:id/requests/:rid/rerun as a dry run uses the current transform and ingests nothing', async () => {
      const webhook = await make();
      const failed = await deliver(webhook.url, '{"throws": true, "n": 7}');
      await logged(webhook, failed);
      expect((await rerun(webhook, failed, {})).body.code).to.equal('transform_failed');
      const mended = 'const transform = (evt) => { console.warn("mended"); return { name: "rerun/dry", data: evt } }';
      await call('PATCH', `/v1/webhooks/${webhook.id}`, { transform: mended });
      const { status, body } = await rerun(webhook, failed, {});
      expect(status).to.equal(200);
      expect(body.data).to.deep.include({
        dry_run: true,
        outcome: 'accepted',
        event: { name: 'rerun/dry', data: { throws: true, n: 7 } },
        ids: [],
        console: [{ level: 'warn', text: 'mended' }],
      });
      expect((await service.get(`/v1/webhooks/${webhook.id}/requests`)).body.data.length).to.equal(1);
      expect((await service.get('/v1/events?name=rerun/dry')).body.data).to.deep.equal([]);
    });

    it('POST /v1/webhooks/:id/requests/:rid/rerun processes the same bytes, headers and selection as a new request', async () => {
      const webhook = await make({
        transform: 'const transform = (evt, h, q, raw) => ({ name: "rerun/" + h["X-Kind"], data: { raw, q } })',
      });
      const first = await deliver(`${webhook.url}?q=1`, ' { "a" : 1 } ', { 'x-kind': 'real' });
      await logged(webhook, first);
      const again = await rerun(webhook, first, { dry_run: false });
      const [id] = again.body.data.ids;
      expect(id).not.to.equal(first.body.ids[0]);
      const { body } = await service.stored(id);
      expect([body.data.name, body.data.data]).to.deep.equal(['rerun/real', { raw: ' { "a" : 1 } ', q: { q: ['1'] } }]);
      expect(await logged(webhook, again)).to.deep.include({
        outcome: 'accepted',
        rerun_of: idOf(first),
        ids: [id],
      });
    });

    it('POST /v1/webhooks/:id/requests/:rid/rerun counts a known deduplication ID once', async () => {
      const webhook = await make({ transform: 'const transform = () => ({ name: "rerun/x", id: "same", data: {} })' });
      const first = await deliver(webhook.url, '{}');
      await logged(webhook, first);
      const again = await rerun(webhook, first, { dry_run: false });
      expect(again.body.data.ids).to.deep.equal(first.body.ids);
    });
  });

  it('a request that cannot be logged leaves a line in the service log', async () => {
    const webhook = await make();
    await service.redis.set(`${service.prefix}:webhook-log:${webhook.id}`, 'in the way');
    const response = await deliver(webhook.url, '{}');
    expect(response.status).to.equal(200);
    await service.logs('webhook request not logged', idOf(response));
  });
});

describe('The URL of a webhook', () => {
  let service: Service;
  before(async () => {
    service = await startService({ dev: false, webs: 2, workers: 0 });
  });
  after(() => service.stop());

  const call = (method: string, path: string, body?: object) => service.request(method, path, body, service.apiHeaders);
  const statusOf = async (url: string, web: number) =>
    (await request('POST', service.urls[web] + new URL(url).pathname, { body: '{}' })).status;
  const rejected = (url: string) =>
    until(async () => (await statusOf(url, 0)) === 401 && (await statusOf(url, 1)) === 401, {
      describe: 'the old URL is rejected by every process',
    });

  it('POST /v1/webhooks/:id/rotate changes the URL and keeps previous ones for the given time', async () => {
    const made = (await call('POST', '/v1/webhooks', { name: 'rotate' })).body.data;
    const rotate = async (body: object) => (await call('POST', `/v1/webhooks/${made.id}/rotate`, body)).body.data;
    const second = await rotate({ keep_old_seconds: 60 });
    expect(second.url).not.to.equal(made.url);
    expect(second.former_urls.map(({ url }: { url: string }) => url)).to.deep.equal([made.url]);
    for (const url of [made.url, second.url]) {
      for (const web of [0, 1]) expect(await statusOf(url, web)).to.equal(200);
    }
    const third = await rotate({ keep_old_seconds: 1 });
    expect(third.former_urls.length).to.equal(2);
    await rejected(made.url);
    await rejected(second.url);
    const fourth = await rotate({ keep_old_seconds: 0 });
    expect(fourth.former_urls).to.deep.equal([]);
    await rejected(third.url);
    expect(await statusOf(fourth.url, 1)).to.equal(200);
    expect(await service.redis.hlen(`${service.prefix}:webhook-keys`)).to.equal(1);
  });
});

describe('The request log of large requests', () => {
  let service: Service;
  before(async () => {
    service = await startService({ dev: false, workers: 0 });
  });
  after(() => service.stop());

  it('the request log of a webhook keeps at most 32 MB', async () => {
    const made = await service.post(
      '/v1/webhooks',
      { name: 'large', transform: 'const transform = () => null' },
      service.apiHeaders,
    );
    const { id, url } = made.body.data;
    const body = Buffer.alloc(500_000, 'x');
    let last = '';
    for (let n = 0; n < 75; n++) {
      const response = await request('POST', url, { body });
      expect(response.status).to.equal(200);
      last = response.headers.get('x-request-id') as string;
    }
    await service.waitFor(`/v1/webhooks/${id}/requests/${last}`, ({ status }) => status === 200);
    const log = `${service.prefix}:webhook-log`;
    await until(async () => (await service.redis.zcard(`${log}:${id}`)) < 75, { describe: 'the oldest are dropped' });
    const sizes = await service.redis.hgetall(`${log}-sizes:${id}`);
    const { total, ...each } = sizes;
    expect(Number(total)).to.be.within(30_000_000, 32 * 1_048_576);
    expect(Object.values(each).reduce((sum, bytes) => sum + Number(bytes), 0)).to.equal(Number(total));
    const kept = await service.redis.keys(`${service.prefix}:webhook-request:${id}:*`);
    expect(kept.length).to.equal(Object.keys(each).length);
  });
});
