import { expect } from 'chai';
import { ulid } from 'ulid';
import { type Archive, createArchive } from '../../src/archive/archive.ts';
import type { EventRow } from '../../src/archive/rows.ts';
import { readConfig } from '../../src/config.ts';
import { createLog } from '../../src/log.ts';
import { eventRow } from '../support/own-archive.ts';
import { archiveSettings } from '../support/postgres.ts';
import { PostgresProxy } from '../support/postgres-proxy.ts';
import { type Service, startService } from '../support/service.ts';

const HOUR_MS = 3_600_000;

interface ListedEvent {
  internal_id: string;
  id: string | null;
  name: string;
  data?: { n: number };
}

describe('Event routes', () => {
  let service: Service;
  let archive: Archive;
  let proxy: PostgresProxy;
  const now = Date.now();
  /** Some at the same moment. */
  const archived: EventRow[] = Array.from({ length: 30 }, (_, n) => {
    const at = now - 2 * HOUR_MS - Math.floor(n / 3) * 7 * HOUR_MS;
    const given = { name: `old/${n % 2}`, source: n % 5 === 0 ? 'webhook:w' : 'api', data: { n } };
    return eventRow({ at, ...given, ...(n % 10 === 0 && { dedupId: `order-${n}` }) });
  });
  const ofArchive = archived.toSorted((a, b) => b.at - a.at || (a.id < b.id ? 1 : -1)).map(({ id }) => id);
  let hot: string[];
  let withId: string;

  before(async () => {
    proxy = await PostgresProxy.start();
    service = await startService({ archive: true, env: { HOT_HOURS: '1', DATABASE_URL: proxy.url } });
    const config = readConfig({ MODE: 'dev', KEY_PREFIX: service.prefix, ...archiveSettings(service.prefix) });
    archive = createArchive(config, async () => 7, createLog('silent', 'test')) as Archive;
    await archive.shipments.ship({ events: archived, runs: [] });
    const { body } = await service.post(
      '/e/key',
      Array.from({ length: 8 }, (_, n) => ({ name: 'new/x', data: { n }, ...(n === 0 && { id: 'order-0' }) })),
    );
    withId = body.ids[0];
    // On a cluster that one is in another partition, which its internal ID names.
    hot = body.ids.toSorted().toReversed();
    await service.waitFor('/v1/events?name=new/x', (response) => response.body.data.length === 8);
  });
  after(async () => {
    await archive.database.close();
    await service.stop();
    await proxy.stop();
  });
  afterEach(() => proxy.comeBack());

  async function list(query: string) {
    const { status, body } = await service.get(`/v1/events?${query}`);
    expect(status, JSON.stringify(body)).to.equal(200);
    return body as { data: ListedEvent[]; metadata: { cursor?: string; stopped_early?: string } };
  }
  async function all(query: string, from?: string): Promise<string[]> {
    const ids: string[] = [];
    let cursor = from;
    do {
      const { data, metadata } = await list(`${query}${cursor ? `&cursor=${cursor}` : ''}`);
      expect(metadata).not.to.have.property('stopped_early');
      ids.push(...data.map(({ internal_id }) => internal_id));
      cursor = metadata.cursor;
    } while (cursor);
    return ids;
  }
  const idsOf = ({ data }: { data: ListedEvent[] }) => data.map(({ internal_id }) => internal_id);

  it('list hot and archived events, in pages of every size', async () => {
    for (const limit of [1, 2, 3, 5, 7, 8, 9, 13, 37, 38, 39, 100]) {
      expect(await all(`limit=${limit}`)).to.deep.equal([...hot, ...ofArchive]);
    }
  });

  it('list events starting at the event that a user of the official SDKs names', async () => {
    expect(await all('limit=4', hot[6])).to.deep.equal([hot[7], ...ofArchive]);
    expect(await all('limit=4', ofArchive[9])).to.deep.equal(ofArchive.slice(10));
  });

  it('filter archived events by name, source and time of receipt', async () => {
    const ids = (test: (row: EventRow) => boolean) =>
      ofArchive.filter((id) => archived.some((row) => row.id === id && test(row)));
    expect(await all('limit=4&name=old/1')).to.deep.equal(ids(({ name }) => name === 'old/1'));
    expect(await all('limit=4&source=webhook')).to.deep.equal(ids(({ source }) => source === 'webhook:w'));
    const others = (await all('limit=4&source=!webhook')).filter((id) => ofArchive.includes(id));
    expect(others).to.deep.equal(ids(({ source }) => source !== 'webhook:w'));
    expect(await all('limit=4&source=webhook:w&name=old/1')).to.deep.equal(
      ids(({ source, name }) => source === 'webhook:w' && name === 'old/1'),
    );
    const [from, to] = [now - 40 * HOUR_MS, now - 10 * HOUR_MS];
    expect(await all(`limit=4&received_after=${from}&received_before=${to}`)).to.deep.equal(
      ids(({ at }) => at >= from && at < to),
    );
    expect((await list('name=old/0&exclude=data&limit=1')).data[0]).not.to.have.property('data');
  });

  it('find an archived event by its internal ID and by its deduplication ID', async () => {
    const row = archived[10] as EventRow;
    expect(idsOf(await list(`id=${row.id}`))).to.deep.equal([row.id]);
    expect(idsOf(await list('id=order-10'))).to.deep.equal([row.id]);
    expect(idsOf(await list('id=order-0'))).to.deep.equal([withId]);
    expect(idsOf(await list('id=order-10&name=new/x'))).to.deep.equal([]);
    const { status, body } = await service.get(`/v1/events/${row.id}`);
    expect(status).to.equal(200);
    expect(body.data).to.deep.include({
      internal_id: row.id,
      id: 'order-10',
      name: row.name,
      data: { n: 10 },
      source: row.source,
      request_id: row.requestId,
      received_at: new Date(row.at).toISOString(),
      duplicates: 0,
    });
    expect((await service.get(`/v1/events/${ulid()}`)).status).to.equal(404);
  });

  it('tell which events are stored, and nothing while Postgres is away', async () => {
    const unknown = [ulid(), ulid(now - 2 * HOUR_MS), ulid(0)];
    const ids = [...unknown, ...hot, ...ofArchive];
    const { body } = await service.post('/v1/events/lookup', { ids });
    expect(body.data).to.deep.equal(ids.map((id) => ({ id, found: !unknown.includes(id) })));
    proxy.leave();
    const { status, body: away } = await service.post('/v1/events/lookup', { ids });
    expect([status, away.code]).to.deep.equal([503, 'archive_unavailable']);
    expect((await service.post('/v1/events/lookup', { ids: hot })).status).to.equal(200);
  });

  it('show runs, decisions and provenance of an archived event, and send it again', async () => {
    const { id } = archived[5] as EventRow;
    expect((await service.get(`/v1/events/${id}/runs`)).body.data).to.deep.equal([]);
    expect((await service.get(`/v1/events/${id}/decisions`)).body.data).to.deep.equal([]);
    expect((await service.get(`/v1/events/${id}/arrival`)).body.data.webhook).to.equal(null);
    const again = await service.post(`/v1/events/${id}/send-again`);
    expect(again.status).to.equal(201);
    const sent = again.body.data.internal_id;
    const { body } = await service.stored(sent);
    expect(body.data).to.deep.include({ data: { n: 5 }, source: `event:${id}` });
    await service.waitFor(`/v1/events?source=event:${id}`, (response) => response.body.data.length === 1);
    hot.unshift(sent);
  });

  it('count hot and archived events', async () => {
    const range = `received_after=${now - 100 * HOUR_MS}&received_before=${Date.now() + 1_000}`;
    for (const buckets of [1, 7, 60, 500]) {
      const { body } = await service.get(`/v1/events/histogram?${range}&buckets=${buckets}`);
      const count = body.data.reduce((sum: number, bucket: { count: number }) => sum + bucket.count, 0);
      expect(count).to.equal(hot.length + ofArchive.length);
    }
    const { body } = await service.get('/v1/events/names');
    const counts = body.data.map(({ name, count }: { name: string; count: number }) => [name, count]);
    expect(counts).to.have.deep.members([
      ['new/x', 8],
      ['old/0', 15],
      ['old/1', 16],
    ]);
  });

  describe('while Postgres is unavailable', () => {
    it('list the hot part, say so, and continue at the same place when Postgres is back', async () => {
      proxy.leave();
      const first = await list('limit=20');
      expect(idsOf(first)).to.deep.equal(hot);
      expect(first.metadata.stopped_early).to.equal('archive_unavailable');
      const still = await list(`limit=20&cursor=${first.metadata.cursor}`);
      expect([idsOf(still), still.metadata.stopped_early]).to.deep.equal([[], 'archive_unavailable']);
      proxy.comeBack();
      expect(await all('limit=20', still.metadata.cursor)).to.deep.equal(ofArchive);
    });

    it('list nothing for an archived name, and continue with it when Postgres is back', async () => {
      proxy.leave();
      const none = await list('limit=20&name=old/0');
      expect([idsOf(none), none.metadata.stopped_early]).to.deep.equal([[], 'archive_unavailable']);
      proxy.comeBack();
      expect(await all('limit=20&name=old/0', none.metadata.cursor)).to.have.length(15);
    });

    it('respond as usual if everything is hot', async () => {
      proxy.leave();
      const page = await list('limit=5');
      expect(idsOf(page)).to.deep.equal(hot.slice(0, 5));
      expect(page.metadata).to.have.property('cursor');
      expect(page.metadata).not.to.have.property('stopped_early');
      expect(idsOf(await list('limit=5&include=runs'))).to.deep.equal(hot.slice(0, 5));
      const recent = await list(`limit=100&received_after=${now - 60_000}`);
      expect(idsOf(recent)).to.deep.equal(hot);
      expect(recent.metadata).not.to.have.any.keys('cursor', 'stopped_early');
      for (const path of ['', '/decisions', '/arrival']) {
        expect((await service.get(`/v1/events/${hot.at(-1)}${path}`)).status, path).to.equal(200);
      }
      const { body } = await service.get(`/v1/events/histogram?received_after=${now - 60_000}&buckets=1`);
      expect(body.data[0].count).to.equal(hot.length);
      expect(body.metadata).not.to.have.property('stopped_early');
    });

    it('say when a look-up needs Postgres', async () => {
      proxy.leave();
      for (const path of ['', '/decisions', '/arrival', '/runs']) {
        const { status, body, headers } = await service.get(`/v1/events/${ofArchive[3]}${path}`);
        expect([status, body.code], path).to.deep.equal([503, 'archive_unavailable']);
        expect(headers.get('retry-after'), path).to.equal('5');
      }
      const { status } = await service.post(`/v1/events/${ofArchive[3]}/send-again`);
      expect(status).to.equal(503);
      const listed = await list('id=order-10');
      expect([idsOf(listed), listed.metadata.stopped_early]).to.deep.equal([[], 'archive_unavailable']);
    });

    it('count what is hot, and say so', async () => {
      proxy.leave();
      const { body } = await service.get(`/v1/events/histogram?received_after=${now - 100 * HOUR_MS}&buckets=1`);
      expect(body.data[0].count).to.equal(hot.length);
      expect(body.metadata.stopped_early).to.equal('archive_unavailable');
      const names = await service.get('/v1/events/names');
      expect(names.body.data.map(({ name }: { name: string }) => name)).to.have.members(['new/x', 'old/1']);
      expect(names.body.metadata.stopped_early).to.equal('archive_unavailable');
    });

    it('accept events', async () => {
      proxy.leave();
      const { status, body } = await service.post('/e/key', { name: 'new/x', data: {} });
      expect(status).to.equal(200);
      await service.waitFor(`/v1/events/${body.ids[0]}`, (response) => response.status === 200);
    });
  });
});
