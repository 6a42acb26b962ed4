import { createHmac } from 'node:crypto';
import { expect } from 'chai';
import { type RequestBody, request } from '../support/http.ts';
import { type Service, startService } from '../support/service.ts';
import { until } from '../support/until.ts';

const MANY = `function transform(evt) {
  console.log('items', evt.items.length);
  return evt.items.map((item) => ({ name: 'shop/item', data: item }));
}`;
const RESPONDING = `function transform(evt) {
  console.log('answers');
  return { events: evt.events, response: evt.response };
}`;

describe('Webhooks whose transform returns a list or a response', () => {
  let service: Service;
  before(async () => {
    service = await startService();
  });
  after(() => service.stop());

  async function make(fields: object): Promise<{ id: string; url: string }> {
    const { status, body } = await service.post('/v1/webhooks', { name: 'answers', ...fields });
    expect(status, JSON.stringify(body)).to.equal(201);
    return body.data;
  }

  const deliver = (url: string, body: RequestBody, headers: Record<string, string> = {}) =>
    request('POST', url, { body, headers });

  const eventOf = (id: string) =>
    until(async () => (await service.get(`/v1/events/${id}`)).body.data, { describe: `event ${id} is stored` });

  async function logged(id: string, response: { headers: Headers }) {
    const path = `/v1/webhooks/${id}/requests/${response.headers.get('x-request-id')}`;
    return (await service.waitFor(path, ({ status }) => status === 200)).body.data;
  }

  it('each event of a list is stored, in order, and the log has their IDs and the console', async () => {
    const { id, url } = await make({ transform: MANY });
    const response = await deliver(url, '{"items": [{"n": 0}, {"n": 1}, {"n": 2}]}');
    expect([response.status, response.body.ids.length]).to.deep.equal([200, 3]);
    for (const [n, eventId] of response.body.ids.entries()) expect((await eventOf(eventId)).data).to.deep.equal({ n });
    expect(await logged(id, response)).to.deep.include({
      outcome: 'accepted',
      status: 200,
      ids: response.body.ids,
      console: [{ level: 'log', text: 'items 3' }],
    });
  });

  it('an empty list makes no event', async () => {
    const { id, url } = await make({ transform: MANY });
    const response = await deliver(url, '{"items": []}');
    expect(response.body).to.deep.equal({ ids: [], status: 200 });
    expect(await logged(id, response)).to.include({ outcome: 'ignored' });
  });

  it('one invalid event of a list rejects the whole list, and the response names it', async () => {
    const { url } = await make({ transform: MANY.replace('shop/item', 'shop/all-or-none') });
    const { status, body } = await deliver(url, '{"items": [{}, {}, {}, 7]}');
    expect([status, body.code]).to.deep.equal([400, 'transform_failed']);
    expect(body.error).to.include('event 3, field "data": got the number 7');
    expect((await service.get('/v1/events?name=shop/all-or-none')).body.data).to.deep.equal([]);
  });

  it("a provider's retry counts each event of the list once", async () => {
    const secret = 'a secret of GitHub';
    const { url } = await make({ provider: 'github', secrets: [secret], transform: MANY });
    const body = '{"items": [{"n": 0}, {"n": 1}]}';
    const headers = {
      'content-type': 'application/json',
      'x-github-event': 'push',
      'x-github-delivery': '72d3162e-cc78-11e3-81ab-4c9367dc0958',
      'x-hub-signature-256': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
    };
    const [first, retry] = [await deliver(url, body, headers), await deliver(url, body, headers)];
    expect([first.status, retry.status], JSON.stringify(first.body)).to.deep.equal([200, 200]);
    const events = await Promise.all(first.body.ids.map(eventOf));
    expect(events.map(({ data }) => data)).to.deep.equal([{ n: 0 }, { n: 1 }]);
    expect(new Set(events.map(({ id }) => id)).size).to.equal(2);
    const another = await make({ transform: MANY.replace('shop/item', 'shop/later') });
    await eventOf((await deliver(another.url, '{"items": [{}]}')).body.ids[0]);
    const stored = (await service.get('/v1/events?name=shop/item&limit=100')).body.data;
    const ids = new Set(events.map(({ id }) => id));
    expect(stored.filter(({ id }: { id: string }) => ids.has(id))).to.have.length(2);
  });

  it('the provider gets the status, headers and body of the transform, which run nothing in a browser', async () => {
    const { id, url } = await make({ transform: RESPONDING });
    const response = {
      status: 202,
      headers: { 'X-Seen': 'yes', 'content-type': 'application/xml' },
      body: '<Response/>',
    };
    const received = await fetch(url, { method: 'POST', body: JSON.stringify({ response }) });
    expect([received.status, await received.text()]).to.deep.equal([202, '<Response/>']);
    const { headers } = received;
    expect([headers.get('x-seen'), headers.get('content-type')]).to.deep.equal(['yes', 'application/xml']);
    expect(headers.get('content-security-policy')).to.equal("default-src 'none'; sandbox");
    expect([headers.get('x-content-type-options'), headers.get('cache-control')]).to.deep.equal([
      'nosniff',
      'no-store',
    ]);
    expect(await logged(id, received)).to.deep.include({
      outcome: 'ignored',
      status: 202,
      console: [{ level: 'log', text: 'answers' }],
    });
  });

  it('events are accepted with any status of the response, even by a URL that needs the router', async () => {
    const { id, url } = await make({ transform: RESPONDING });
    const events = [{ name: 'shop/answered', data: { n: 1 } }];
    for (const to of [url, `${url}/`]) {
      const body = JSON.stringify({ events, response: { status: 418, body: { again: true } } });
      const response = await deliver(to, body);
      expect([response.status, response.body]).to.deep.equal([418, { again: true }]);
      expect(response.headers.get('content-type')).to.equal('application/json');
      const { outcome, status, ids } = await logged(id, response);
      expect([outcome, status, ids.length]).to.deep.equal(['accepted', 418, 1]);
      expect((await eventOf(ids[0])).name).to.equal('shop/answered');
    }
  });

  it('a response without a body has no length if HTTP forbids one', async () => {
    const { url } = await make({ transform: RESPONDING });
    for (const to of [url, `${url}/`]) {
      const response = await fetch(to, { method: 'POST', body: '{"response": {"status": 204}}' });
      expect([response.status, response.headers.get('content-length'), await response.text()]).to.deep.equal([
        204,
        null,
        '',
      ]);
    }
  });

  it('a response beyond its limits is rejected together with its events', async () => {
    const { id, url } = await make({ transform: RESPONDING });
    const events = { name: 'shop/never', data: {} };
    const body = JSON.stringify({ events, response: { headers: { 'set-cookie': 'a=b' } } });
    const response = await deliver(url, body);
    expect([response.status, response.body.code]).to.deep.equal([400, 'transform_failed']);
    expect(response.body.error).to.include('field "headers": got the string "set-cookie"');
    expect(response.headers.get('set-cookie')).to.equal(null);
    expect(await logged(id, response)).to.include({ outcome: 'rejected', status: 400 });
    expect((await service.get('/v1/events?name=shop/never')).body.data).to.deep.equal([]);
  });

  it('POST /v1/transforms/test and a re-run show all events and the response', async () => {
    const events = [
      { name: 'a/0', data: {} },
      { name: 'a/1', data: { n: 1 } },
    ];
    const given = { events, response: { status: 201, body: 'made' } };
    const response = { status: 201, headers: { 'content-type': 'text/plain; charset=utf-8' }, body: 'made' };
    const tested = await service.post('/v1/transforms/test', { transform: RESPONDING, body: given });
    expect(tested.body.data).to.deep.include({ event: events[0], events, response });
    const { id, url } = await make({ transform: RESPONDING });
    const received = await fetch(url, { method: 'POST', body: JSON.stringify(given) });
    const entry = await logged(id, received);
    const rerun = await service.post(`/v1/webhooks/${id}/requests/${entry.id}/rerun`, { dry_run: true });
    expect(rerun.body.data).to.deep.include({ events, response, ids: [] });
    const plain = await service.post('/v1/transforms/test', { transform: MANY, body: { items: [{}] } });
    expect(plain.body.data.response).to.equal(null);
  });
});
