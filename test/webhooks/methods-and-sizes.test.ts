import { expect } from 'chai';
import { request } from '../support/http.ts';
import { type Service, startService } from '../support/service.ts';

const TRANSFORM = 'const transform = (evt, headers, query) => ({ id: evt.own, name: "got/x", data: { evt, query } })';

describe('Methods, sizes and deduplication of webhooks', () => {
  let service: Service;
  before(async () => {
    service = await startService({ dev: false, env: { EVENT_MAX_BYTES: '2000' } });
  });
  after(() => service.stop());

  async function make(fields: object = {}): Promise<{ id: string; url: string }> {
    const body = { name: 'm', transform: TRANSFORM, ...fields };
    const response = await service.post('/v1/webhooks', body, service.apiHeaders);
    expect(response.status, JSON.stringify(response.body)).to.equal(201);
    return response.body.data;
  }
  const logged = async (id: string, count: number) =>
    (await service.waitFor(`/v1/webhooks/${id}/requests`, ({ body }) => body.data.length === count)).body.data;
  const event = async (id: string) => (await service.stored(id)).body.data;

  it('a webhook accepts the methods that it lists; other requests get 405 with that list, and are logged with their body', async () => {
    const { id, url } = await make({ methods: ['PUT', 'GET'] });
    const put = await request('PUT', url, { body: { n: 1 } });
    expect([put.status, put.body.ids.length]).to.deep.equal([200, 1]);
    for (const method of ['POST', 'DELETE', 'OPTIONS']) {
      const sent = method === 'POST' ? { body: { n: 1 } } : {};
      const { status, headers } = await request(method, url, sent);
      expect([method, status, headers.get('allow')]).to.deep.equal([method, 405, 'PUT, GET']);
    }
    const entries = await logged(id, 4);
    expect(entries.map(({ method, reason }: Record<string, string>) => `${method} ${reason}`)).to.deep.equal([
      'OPTIONS method_not_allowed',
      'DELETE method_not_allowed',
      'POST method_not_allowed',
      'PUT null',
    ]);
    expect(entries[2].body_bytes).to.equal(7);
  });

  it('a transform gets an empty object and the query for a GET', async () => {
    const { url } = await make({ methods: ['GET'] });
    const { status, body } = await request('GET', `${url}?a=1&a=2`);
    expect(status).to.equal(200);
    expect((await event(body.ids[0])).data).to.deep.equal({ evt: {}, query: { a: ['1', '2'] } });
  });

  it('a webhook accepts only POST by default, and so does an event key', async () => {
    const { id, url } = await make();
    const get = await request('GET', url);
    expect([get.status, get.headers.get('allow')]).to.deep.equal([405, 'POST']);
    expect((await logged(id, 1))[0]).to.include({ outcome: 'rejected', reason: 'method_not_allowed', method: 'GET' });
    for (const path of [service.eventPath, '/e/unknown-key']) {
      const { status, headers } = await request('PUT', service.url + path, { body: { name: 'a/b' } });
      expect([status, headers.get('allow')]).to.deep.equal([405, 'POST']);
    }
  });

  it('max_body_bytes limits the body of a webhook, and the error names the field', async () => {
    const { id, url } = await make({ max_body_bytes: 100 });
    expect((await request('POST', url, { body: { n: 'x'.repeat(80) } })).status).to.equal(200);
    const { status, body } = await request('POST', url, { body: { n: 'x'.repeat(100) } });
    expect([status, body.code, body.limit_bytes]).to.deep.equal([413, 'body_too_large', 100]);
    expect(body.error).to.include(`raise "max_body_bytes" of the webhook with PATCH /v1/webhooks/${id}`);
  });

  it('max_body_bytes never raises the limit of the environment', async () => {
    const { url } = await make({ max_body_bytes: 100_000 });
    const { status, body } = await request('POST', url, { body: { n: 'x'.repeat(2_000) } });
    expect([status, body.limit_bytes]).to.deep.equal([413, 2_000]);
    expect(body.error).to.include('/limits').and.not.to.include('max_body_bytes');
  });

  it('large_bodies needs a place to keep them', async () => {
    const large_bodies = { max_bytes: 1_000_000, fields: [] };
    const { status, body } = await service.post('/v1/webhooks', { name: 'l', large_bodies }, service.apiHeaders);
    expect([status, body.code]).to.deep.equal([400, 'input_invalid']);
    expect(body.error)
      .to.include('large_bodies')
      .and.to.include('set DATABASE_URL to a Postgres, or LARGE_BODIES_BUCKET_URL');
  });

  describe('deduplication', () => {
    const stripe = { provider: 'stripe', verify: false };
    const ids = async (url: string, body: object) => (await request('POST', url, { body })).body.ids;

    it("the provider's ID becomes the event's, and counts once in the environment over all webhooks", async () => {
      const [one, other] = [await make(stripe), await make(stripe)];
      const first = await ids(one.url, { id: 'evt_same' });
      expect(await ids(one.url, { id: 'evt_same' })).to.deep.equal(first);
      expect(await ids(other.url, { id: 'evt_same' })).to.deep.equal(first);
      expect((await event(first[0])).id).to.equal('evt_same');
    });

    it('an ID of digits only counts within its webhook, since numbers of different providers may be equal', async () => {
      const [one, other] = [await make(stripe), await make(stripe)];
      const first = await ids(one.url, { id: 1042 });
      expect(await ids(one.url, { id: 1042 })).to.deep.equal(first);
      expect(await ids(other.url, { id: 1042 }))
        .to.have.length(1)
        .and.not.to.deep.equal(first);
      expect((await event(first[0])).id).to.equal(`${one.id}:1042`);
    });

    it("an ID from the transform takes precedence over the provider's, and counts in the whole environment", async () => {
      const [one, other] = [await make(stripe), await make(stripe)];
      const first = await ids(one.url, { id: 'evt_a', own: 'chosen-by-transform' });
      expect(await ids(one.url, { id: 'evt_b', own: 'chosen-by-transform' })).to.deep.equal(first);
      expect(await ids(other.url, { id: 'evt_c', own: 'chosen-by-transform' })).to.deep.equal(first);
    });

    it('several events of a request each have their own ID, whichever events the list of names rejects', async () => {
      const transform = 'const transform = () => ["a/x", "b/x", "c/x"].map((name) => ({ name, data: {} }))';
      const event_names = { mode: 'deny', items: ['a/*'] };
      const { url } = await make({ ...stripe, transform, event_names });
      const [b, c] = await ids(url, { id: 'evt_many' });
      expect([(await event(b)).id, (await event(c)).id]).to.deep.equal(['evt_many#1', 'evt_many#2']);
      expect(await ids(url, { id: 'evt_many' })).to.deep.equal([b, c]);
    });

    it('deduplicate: false makes an event of every delivery', async () => {
      const { url } = await make({ ...stripe, deduplicate: false });
      const first = await ids(url, { id: 'evt_again' });
      expect(await ids(url, { id: 'evt_again' })).not.to.deep.equal(first);
      expect(await event(first[0])).to.have.property('id', first[0]);
    });

    it('a long ID of a provider is hashed', async () => {
      const { url } = await make(stripe);
      const long = `evt_${'x'.repeat(600)}`;
      const first = await ids(url, { id: long });
      expect(await ids(url, { id: long })).to.deep.equal(first);
      expect(await ids(url, { id: `${long}y` })).not.to.deep.equal(first);
    });
  });
});
