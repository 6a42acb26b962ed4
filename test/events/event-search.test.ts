import { expect } from 'chai';
import { type AppHost, startAppHost } from '../support/app-host.ts';
import { request } from '../support/http.ts';
import { findKeys } from '../support/redis.ts';
import { type Service, startService } from '../support/service.ts';

const TRANSFORM = `function transform(evt) { return { name: 'hook/' + evt.name, data: {} }; }`;

interface ListedEvent {
  internal_id: string;
  name: string;
  source: string;
  received_at: string;
  runs?: { run_id: string; function_id: string; status: string }[];
}

describe('Event search', () => {
  let service: Service;
  let host: AppHost;
  before(async () => {
    service = await startService({ dev: false });
    host = await startAppHost();
    await host.register(service, [
      { id: 'one', triggers: [{ event: 'run/*' }] },
      { id: 'two', triggers: [{ event: 'run/*' }] },
    ]);
  });
  after(async () => {
    await host.close();
    await service.stop();
  });

  const call = (method: string, path: string, body?: object) => service.request(method, path, body, service.apiHeaders);

  async function send(events: object | object[], path = service.eventPath): Promise<string[]> {
    const { status, body } = await service.post(path, events);
    expect(status, JSON.stringify(body)).to.equal(200);
    for (const id of body.ids) {
      const { body: found } = await service.waitFor(`/v1/events/${id}`, isStored);
      const event = found.data;
      // An event is in the list of its name last of all.
      const ofName = `/v1/events?name=${encodeURIComponent(event.name)}&received_before=${Date.parse(event.received_at) + 1}`;
      await service.waitFor(ofName, ({ body: { data } }) => idsOf(data).includes(id));
    }
    return body.ids;
  }
  const isStored = ({ status }: { status: number }) => status === 200;

  async function list(query: string) {
    const { status, body } = await service.get(`/v1/events?${query}`);
    expect(status, JSON.stringify(body)).to.equal(200);
    return body as { data: ListedEvent[]; metadata: { cursor?: string } };
  }
  async function all(query: string): Promise<ListedEvent[]> {
    const events: ListedEvent[] = [];
    let cursor: string | undefined;
    do {
      const page = await list(`${query}${cursor ? `&cursor=${cursor}` : ''}`);
      events.push(...page.data);
      cursor = page.metadata.cursor;
    } while (cursor);
    return events;
  }
  const idsOf = (events: ListedEvent[]) => events.map(({ internal_id }) => internal_id);

  async function webhook() {
    return (await call('POST', '/v1/webhooks', { name: 'search', transform: TRANSFORM })).body.data;
  }

  describe('by source', () => {
    let hooks: { id: string; url: string }[];
    let key: { id: string; secret: string };
    const ids: Record<string, string[]> = { first: [], second: [], key: [], setting: [] };
    before(async () => {
      hooks = [await webhook(), await webhook()];
      key = (await call('POST', '/v1/event-keys', { name: 'search' })).body.data;
      for (let n = 0; n < 5; n++) {
        for (const [i, kind] of ['first', 'second'].entries()) {
          const { body } = await request('POST', hooks[i]?.url ?? '', { body: { name: 'x' } });
          ids[kind]?.unshift(body.ids[0]);
        }
        ids.key?.unshift(
          ...(await send({ name: 'src/x', data: { text: '"source":"webhook:x"}' } }, `/e/${key.secret}`)),
        );
        ids.setting?.unshift(...(await send({ name: 'src/x', data: {} })));
      }
      await service.waitFor('/v1/events?source=webhook', ({ body }) => body.data.length === 10);
    });

    it('finds events of one webhook', async () => {
      expect(idsOf(await all(`source=webhook:${hooks[0]?.id}`))).to.deep.equal(ids.first);
    });

    it('finds events of any webhook, in pages', async () => {
      const found = await all('source=webhook&limit=3');
      expect(idsOf(found)).to.have.members([...(ids.first ?? []), ...(ids.second ?? [])]);
      expect(found).to.have.length(10);
    });

    it('finds events of one event key, which the event names', async () => {
      const found = await all(`source=event-key:${key.id}&limit=5`);
      expect(idsOf(found)).to.deep.equal(ids.key);
      expect(new Set(found.map(({ source }) => source))).to.deep.equal(new Set([`event-key:${key.id}`]));
    });

    it('finds events of any event key', async () => {
      expect(await all('source=event-key&name=src/x&limit=4')).to.have.length(10);
    });

    it('combines source and name', async () => {
      expect(await all('source=webhook&name=src/x')).to.deep.equal([]);
    });

    it('finds nothing for an unknown source', async () => {
      expect(await list('source=web')).to.deep.include({ data: [] });
    });

    it('finds events among thousands of other sources, in pages that may be short', async () => {
      const [id] = await send({ name: 'far/x', data: {} });
      const many = Array.from({ length: 500 }, () => ({ name: 'far/y', data: {} }));
      await Promise.all(Array.from({ length: 22 }, () => service.post(service.eventPath, many)));
      await service.waitFor('/v1/events/names', ({ body }) => body.data[0]?.count === 11_000);
      const hook = await webhook();
      const short = await list(`source=webhook:${hook.id}`);
      expect(short.data).to.deep.equal([]);
      expect(short.metadata.cursor).to.be.a('string');
      expect(await all(`source=webhook:${hook.id}`)).to.deep.equal([]);
      expect(idsOf(await all('source=event-key&name=far/x'))).to.deep.equal([id]);
    });
  });

  it('finds an event by internal ID and by event ID', async () => {
    const [id] = await send({ name: 'id/x', data: {}, id: 'order-7/paid' });
    expect(idsOf((await list(`id=${id}`)).data)).to.deep.equal([id]);
    expect(idsOf((await list('id=order-7/paid')).data)).to.deep.equal([id]);
    expect((await list('id=order-8/paid')).data).to.deep.equal([]);
    expect((await list('id=order-7/paid&name=id/y')).data).to.deep.equal([]);
    expect((await list('id=order-7/paid&source=webhook')).data).to.deep.equal([]);
    expect((await list('id=order-7/paid&received_before=1000')).data).to.deep.equal([]);
  });

  it('finds the newest event of an event ID that was sent again', async () => {
    const [id] = await send({ name: 'id/again', data: {}, id: 'twice' });
    await send({ name: 'id/again', data: {}, id: 'twice' });
    await service.waitFor(`/v1/events/${id}`, ({ body }) => body.data.duplicates === 1);
    expect(idsOf((await list('id=twice')).data)).to.deep.equal([id]);
  });

  it('includes the runs of each event', async () => {
    const [id] = await send({ name: 'run/x', data: {} });
    const { body } = await service.waitFor('/v1/events?name=run/x&include=runs', (response) =>
      response.body.data[0]?.runs.every(({ status }: { status: string }) => status === 'Completed'),
    );
    const [event] = body.data;
    expect(event.internal_id).to.equal(id);
    expect(event.runs.map((run: { function_id: string }) => run.function_id)).to.have.members([
      'test-app-one',
      'test-app-two',
    ]);
    expect(Object.keys(event.runs[0])).to.have.members(['run_id', 'function_id', 'status']);
    expect((await list('name=run/x')).data[0]).not.to.have.property('runs');
    expect((await service.get('/v1/events?include=all')).status).to.equal(400);
  });

  it('includes no run for events without runs', async () => {
    await send({ name: 'idle/x', data: {} });
    expect((await list('name=idle/x&include=runs')).data[0]?.runs).to.deep.equal([]);
  });

  it('excludes the data of events on request', async () => {
    const [event] = (await list('name=idle/x&exclude=data')).data;
    expect(event).to.include({ name: 'idle/x' }).and.not.have.property('data');
    expect((await list('name=idle/x')).data[0]).to.have.property('data');
  });

  describe('as a histogram', () => {
    const histogram = async (query: string) => {
      const { status, body } = await service.get(`/v1/events/histogram?${query}`);
      return { status, body, data: body.data as { from: string; to: string; count: number }[] };
    };

    it('counts in adjacent intervals without gaps', async () => {
      await send([1, 2, 3].map((n) => ({ name: 'count/x', data: { n } })));
      const to = Date.now() + 1_000;
      const { data } = await histogram(`name=count/x&received_after=${to - 3_600_001}&received_before=${to}&buckets=7`);
      expect(data).to.have.length(7);
      for (const [i, { from }] of data.entries()) {
        expect(from).to.equal(i === 0 ? new Date(to - 3_600_001).toISOString() : data[i - 1]?.to);
      }
      expect(data.at(-1)?.to).to.equal(new Date(to).toISOString());
      expect(data.map(({ count }) => count)).to.deep.equal([0, 0, 0, 0, 0, 0, 3]);
    });

    it('counts the last 24 hours in 60 intervals by default', async () => {
      await send({ name: 'count/y', data: {} });
      const { data } = await histogram('name=count/y');
      expect(data).to.have.length(60);
      expect(Date.parse(data.at(-1)?.to ?? '') - Date.parse(data[0]?.from ?? '')).to.equal(86_400_000);
      expect(data.at(-1)?.count).to.equal(1);
    });

    it('rejects a time range that ends before it begins', async () => {
      const { status, body } = await histogram('received_after=2000&received_before=1000');
      expect([status, body.code, body.field]).to.deep.equal([400, 'input_invalid', 'received_after']);
    });
  });

  it('lists event names by their newest event, newest first', async () => {
    await call('POST', '/v1/environments', { name: 'names', kind: 'named' });
    const headers = { ...service.apiHeaders, 'x-service-env': 'names' };
    const made = await call('POST', '/v1/event-keys', { name: 'names', environment: 'names' });
    const path = `/e/${made.body.data.secret}`;
    const post = async (name: string, count: number) =>
      service.post(
        path,
        Array.from({ length: count }, () => ({ name, data: {} })),
      );
    const names = async () => (await service.get('/v1/events/names', headers)).body.data;
    await post('names/a', 2);
    await service.waitFor('/v1/events/names?x-service-env=names', ({ body }) => body.data.length === 1);
    await post('names/b', 1);
    const { body } = await service.waitFor(
      '/v1/events/names?x-service-env=names',
      (found) => found.body.data.length === 2,
    );
    expect(body.data.map((item: { name: string; count: number }) => [item.name, item.count])).to.deep.equal([
      ['names/b', 1],
      ['names/a', 2],
    ]);
    expect(Date.parse(body.data[0].last_received_at)).to.be.closeTo(Date.now(), 10_000);
    await post('names/a', 1);
    await service.waitFor('/v1/events/names?x-service-env=names', (found) => found.body.data[0]?.name === 'names/a');
    expect((await names())[0].count).to.equal(3);
    expect((await service.get('/v1/events/names?limit=1', headers)).body.data).to.have.length(1);
  });

  it('leaves no key without a TTL', async () => {
    const keys = await findKeys(service.redis, service.prefix, /^:event/);
    const named = keys.filter((key) => /:(event-names|event-by-id):/.test(key));
    expect(named.length).to.be.greaterThan(1);
    for (const key of named) expect(await service.redis.pttl(key), key).to.be.within(1, 7 * 86_400_000);
  });
});
