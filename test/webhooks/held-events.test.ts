import { expect } from 'chai';
import { type Service, startService } from '../support/service.ts';
import { until } from '../support/until.ts';

const HOOK = 'const transform = (evt) => ({ data: {}, ...evt })';

interface Held {
  internal_id: string;
}

describe('The holding page', () => {
  let service: Service;
  let hook: { id: string; path: string };

  before(async () => {
    service = await startService({ dev: false });
    await call('POST', '/v1/environments', { name: 'feature', kind: 'branch' });
    await call('POST', '/v1/environments', { name: 'closed', kind: 'branch' });
    await call('POST', '/v1/environments/closed/archive');
    hook = await make();
  });
  after(() => service.stop());

  const call = (method: string, path: string, body?: object) => service.request(method, path, body, service.apiHeaders);
  const inFeature = () => ({ ...service.apiHeaders, 'x-service-env': 'feature' });
  const list = async (query: string) => (await service.get(`/v1/holding?${query}`)).body;
  const idsOf = (held: Held[]) => held.map(({ internal_id }) => internal_id);

  async function make(): Promise<{ id: string; path: string }> {
    const { body } = await call('POST', '/v1/webhooks', { name: 'held', environment: 'branches', transform: HOOK });
    return { id: body.data.id, path: new URL(body.data.url).pathname };
  }

  async function hold(event: object, selection = '', path = hook.path): Promise<string> {
    const response = await service.post(path, event, selection ? { 'x-service-env': selection } : {});
    expect(response.status, JSON.stringify(response.body)).to.equal(200);
    return response.body.ids[0];
  }

  const event = (id: string) => service.get(`/v1/events/${id}`, inFeature()).then(({ body }) => body.data);

  it('GET /v1/holding shows each held event with its reason and selection', async () => {
    const id = await hold({ name: 'show/x', data: { n: 1 } }, 'nowhere');
    const { body } = await service.get(`/v1/holding/${id}`);
    expect(body.data).to.deep.include({
      internal_id: id,
      webhook_id: hook.id,
      selection: 'nowhere',
      reason: 'environment_unknown',
    });
    expect(body.data.event).to.deep.equal({
      name: 'show/x',
      data: { n: 1 },
      ts: Date.parse(body.data.received_at),
    });
    expect((await service.get('/v1/holding/01M7Z7A7B6FJ7DZJVGC757486T')).status).to.equal(404);
  });

  it('held events expire after the retention', async () => {
    const id = await hold({ name: 'expire/x' });
    const ttl = await service.redis.pttl(`${service.prefix}:held-event:${id}`);
    expect(ttl).to.be.within(7 * 86_400_000 - 60_000, 7 * 86_400_000);
  });

  it('GET /v1/holding filters by webhook, name, selection, reason and time', async () => {
    const other = await make();
    const before = await hold({ name: 'filter/before' }, '', other.path);
    const since = (await service.get(`/v1/holding/${before}`)).body.data.received_at;
    const [a, b, c] = [
      await hold({ name: 'filter/a' }, '', other.path),
      await hold({ name: 'filter/b' }, 'gone', other.path),
      await hold({ name: 'filter/a' }, 'gone'),
    ];
    expect(idsOf((await list(`webhook=${other.id}`)).data)).to.deep.equal([b, a, before]);
    expect(idsOf((await list('name=filter/a')).data)).to.deep.equal([c, a]);
    expect(idsOf((await list('selection=gone')).data)).to.deep.equal([c, b]);
    expect(idsOf((await list(`reason=selection_missing&webhook=${other.id}`)).data)).to.deep.equal([a, before]);
    expect(idsOf((await list(`received_before=${since}`)).data)).not.to.include(before);
    expect(idsOf((await list(`received_after=${since}`)).data)).to.include.members([before, a, b, c]);
  });

  it('GET /v1/holding returns stable pages while events come and go', async () => {
    const { id, path } = await make();
    const held: string[] = [];
    for (let n = 0; n < 5; n++) held.unshift(await hold({ name: 'page/x' }, '', path));
    const first = await list(`webhook=${id}&limit=2`);
    await hold({ name: 'page/late' }, '', path);
    await call('DELETE', `/v1/holding/${held[1]}`);
    const second = await list(`webhook=${id}&limit=2&cursor=${first.metadata.cursor}`);
    const third = await list(`webhook=${id}&limit=2&cursor=${second.metadata.cursor}`);
    expect([...idsOf(first.data), ...idsOf(second.data), ...idsOf(third.data)]).to.deep.equal(held);
    expect(third.metadata.cursor).to.equal(undefined);
    expect((await service.get('/v1/holding?cursor=nonsense')).status).to.equal(400);
  });

  it('POST /v1/holding/:id/assign ingests the event in the environment', async () => {
    const id = await hold({ name: 'assign/x', data: { n: 1 }, ts: 1_700_000_000_000 });
    const { status, body } = await call('POST', `/v1/holding/${id}/assign`, { environment: 'feature' });
    expect([status, body.data]).to.deep.equal([200, { internal_id: id, event_id: id }]);
    const stored = await until(() => event(id), { describe: 'the event is ingested' });
    expect(stored).to.deep.include({
      name: 'assign/x',
      data: { n: 1 },
      ts: 1_700_000_000_000,
      source: `webhook:${hook.id}`,
    });
    expect((await service.get(`/v1/holding/${id}`)).status).to.equal(404);
    expect((await call('POST', `/v1/holding/${id}/assign`, { environment: 'feature' })).status).to.equal(404);
  });

  it('POST /v1/holding/:id/assign deduplicates the event in its environment', async () => {
    const [one, two] = [await hold({ name: 'dedup/x', id: 'd-1' }), await hold({ name: 'dedup/y', id: 'd-1' })];
    expect(one).not.to.equal(two);
    const assign = (id: string) => call('POST', `/v1/holding/${id}/assign`, { environment: 'feature' });
    expect((await assign(one)).body.data.event_id).to.equal(one);
    expect((await assign(two)).body.data).to.deep.equal({ internal_id: two, event_id: one });
    const live = await service.post(hook.path, { name: 'dedup/z', id: 'd-1' }, { 'x-service-env': 'feature' });
    expect(live.body.ids).to.deep.equal([one]);
    await until(async () => (await event(one))?.duplicates === 2, { describe: 'both repeats are counted' });
    expect((await service.get(`/v1/events/${two}`, inFeature())).status).to.equal(404);
  });

  it('POST /v1/holding/:id/assign gives an event to one environment only, even for concurrent requests', async () => {
    const id = await hold({ name: 'race/x' });
    const responses = await Promise.all(
      ['feature', 'production', 'feature', 'production'].map((environment) =>
        call('POST', `/v1/holding/${id}/assign`, { environment }),
      ),
    );
    const taken = responses.filter(({ status }) => status === 200);
    expect(taken.length).to.be.within(1, 2);
    const found = await until(
      async () => {
        const all = [await event(id), (await service.get(`/v1/events/${id}`)).body.data];
        return all.some(Boolean) && all.filter(Boolean).length;
      },
      { describe: 'it is ingested' },
    );
    expect(found).to.equal(1);
  });

  it('POST /v1/holding/:id/assign rejects an archived or unknown environment and keeps the event', async () => {
    const id = await hold({ name: 'stay/x' });
    for (const [environment, code] of [
      ['closed', 'environment_archived'],
      ['nowhere', 'environment_unknown'],
    ]) {
      expect((await call('POST', `/v1/holding/${id}/assign`, { environment })).body.code).to.equal(code);
      expect((await call('POST', '/v1/holding/assign', { environment })).body.code).to.equal(code);
    }
    expect((await service.get(`/v1/holding/${id}`)).status).to.equal(200);
  });

  it('POST /v1/holding/assign and /discard accept IDs, affect only those events, and are audited once with their number', async () => {
    const { id: webhook, path } = await make();
    const ids: string[] = [];
    for (let n = 0; n < 4; n++) ids.push(await hold({ name: 'ids/x' }, '', path));
    const [first, second, third, stay] = ids as [string, string, string, string];
    const gone = '01M7Z7A7B6FJ7DZJVGC757486T';
    const given = await call('POST', '/v1/holding/assign', { environment: 'feature', ids: [first, second, gone] });
    expect(given.body.data.assigned.map((event: { event_id: string }) => event.event_id)).to.have.members([
      first,
      second,
    ]);
    for (const id of [first, second]) await until(() => event(id), { describe: `event ${id} is ingested` });
    const mixed = await call('POST', '/v1/holding/assign', { environment: 'feature', ids: [stay], name: 'ids/x' });
    expect([mixed.status, mixed.body.field]).to.deep.equal([400, 'ids']);
    const dropped = await call('POST', '/v1/holding/discard', { ids: [third, first, gone] });
    expect(dropped.body.data).to.deep.equal({ deleted: 1 });
    expect(idsOf((await list(`webhook=${webhook}`)).data)).to.deep.equal([stay]);
    const { body } = await call('GET', '/v1/audit?limit=100');
    const entries = body.data.filter(({ summary }: { summary: string }) => summary.includes('ids '));
    expect(entries.map(({ action }: { action: string }) => action)).to.deep.equal([
      'POST /v1/holding/discard',
      'POST /v1/holding/assign',
    ]);
    expect(entries[0].summary).to.match(/, 1 event$/);
    expect(entries[1].summary)
      .to.include('environment feature')
      .and.match(/, 2 events$/);
  });

  it('POST /v1/holding/assign and DELETE /v1/holding affect exactly the events that match the filter', async () => {
    const { id: webhook, path } = await make();
    const give = [await hold({ name: 'bulk/give' }, '', path), await hold({ name: 'bulk/give' }, '', path)];
    const drop = [await hold({ name: 'bulk/drop' }, '', path), await hold({ name: 'bulk/drop' }, '', path)];
    const stay = await hold({ name: 'bulk/stay' }, '', path);
    const given = await call('POST', '/v1/holding/assign', { environment: 'feature', webhook, name: 'bulk/give' });
    expect(given.body.data.more).to.equal(false);
    expect(given.body.data.assigned.map((event: { event_id: string }) => event.event_id)).to.have.members(give);
    for (const id of give) await until(() => event(id), { describe: `event ${id} is ingested` });
    const dropped = await call('DELETE', `/v1/holding?webhook=${webhook}&name=bulk/drop`);
    expect(dropped.body.data).to.deep.equal({ deleted: drop.length, more: false });
    expect(idsOf((await list(`webhook=${webhook}`)).data)).to.deep.equal([stay]);
  });

  it('POST /v1/holding/assign and DELETE /v1/holding handle several batches in one request, which is audited once with its filter and number', async () => {
    const transform = 'const transform = ({ name }) => Array.from({ length: 100 }, (_, n) => ({ name, data: { n } }))';
    const { body } = await call('POST', '/v1/webhooks', { name: 'many', environment: 'branches', transform });
    const { id: webhook, url } = body.data;
    for (const name of ['many/give', 'many/drop']) {
      for (let n = 0; n < 6; n++) expect((await service.post(new URL(url).pathname, { name })).status).to.equal(200);
    }
    const given = await call('POST', '/v1/holding/assign', { environment: 'feature', webhook, name: 'many/give' });
    expect([given.body.data.assigned.length, given.body.data.more]).to.deep.equal([600, false]);
    const dropped = await call('DELETE', `/v1/holding?webhook=${webhook}`);
    expect(dropped.body.data).to.deep.equal({ deleted: 600, more: false });
    const audit = await call('GET', '/v1/audit?limit=100');
    const summaries = audit.body.data
      .map(({ summary }: { summary: string }) => summary)
      .filter((summary: string) => summary.includes(`webhook ${webhook}`));
    expect(summaries).to.deep.equal([
      `Delete held events by filter, webhook ${webhook}, 600 events`,
      `Assign held events to an environment by filter or ID, name many/give, environment feature, webhook ${webhook}, 600 events`,
    ]);
  });
});
