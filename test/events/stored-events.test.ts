import { expect } from 'chai';
import { ulid } from 'ulid';
import { seededId } from '../../src/model/ids.ts';
import { type AppHost, startAppHost } from '../support/app-host.ts';
import { envelope, type OwnStore, openStore } from '../support/own-store.ts';
import { type Service, startService } from '../support/service.ts';
import { bucketKey, overflowKey, storedText } from '../support/stored-event.ts';
import { until } from '../support/until.ts';

const ENV = 'production';
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const RETENTION_MS = 7 * DAY_MS;
const MOMENT_MS = 60_000;

describe('A stored event', () => {
  let store: OwnStore;
  before(async () => {
    store = await openStore();
  });
  after(() => store.close());

  async function ingest(...batch: ReturnType<typeof envelope>[]) {
    const stored = await store.events.storeNew(batch);
    await store.events.markIngested(stored, Date.now());
    return stored;
  }
  const listed = async (query: { name?: string; source?: string }) => {
    const { events } = await store.eventLists.list({ env: ENV, timeRange: {}, limit: 100, ...query }, Date.now());
    return events.map(({ internal_id }) => internal_id);
  };

  it('is in the bucket of its time, which stays an hour longer than the retention', async () => {
    const event = envelope({ name: 'bucket/x' });
    await ingest(event);
    expect(await storedText(store, event.internalId)).to.include(event.payload);
    expect(await store.redis.exists(overflowKey(store, event.internalId))).to.equal(0);
    const ttl = await store.redis.pttl(bucketKey(store, event.internalId));
    expect(ttl).to.be.within(RETENTION_MS + HOUR_MS - MOMENT_MS, RETENTION_MS + HOUR_MS);
  });

  it('is matched with waits only if there are waits for its name, or an earlier try marked it as ingested', async () => {
    const [waited, other] = [envelope({ name: 'waited/x' }), envelope({ name: 'other/x' })];
    await store.redis.hset(store.keys.of(waited.internalId).waits(ENV, waited.name), 'run/step', '{}');
    const toMatch = async () => {
      const events = await store.events.markIngested(await store.events.storeNew([waited, other]), Date.now());
      return events.map(({ internalId }) => internalId);
    };
    expect(await toMatch()).to.deep.equal([waited.internalId]);
    expect(await toMatch()).to.have.members([waited.internalId, other.internalId]);
    await store.redis.del(store.keys.of(waited.internalId).waits(ENV, waited.name));
  });

  it('is kept for the retention, and for a run until a ts that is far ahead', async () => {
    const now = Date.now();
    const event = envelope({ name: 'delayed/x', ts: now + 30 * DAY_MS }, { receivedAt: now });
    await ingest(event);
    expect(await store.redis.exists(overflowKey(store, event.internalId))).to.equal(0);
    expect(await store.redis.pttl(bucketKey(store, event.internalId))).to.be.at.most(RETENTION_MS + HOUR_MS);
    await store.events.extendRetention(ENV, event.internalId, 30 * DAY_MS);
    const ttl = await store.redis.pttl(overflowKey(store, event.internalId));
    expect(ttl).to.be.within(RETENTION_MS + 30 * DAY_MS - MOMENT_MS, RETENTION_MS + 30 * DAY_MS);
    expect(await storedText(store, event.internalId)).to.equal('');
    expect(await listed({ name: 'delayed/x' })).to.deep.equal([event.internalId]);
    expect(await listed({ name: 'delayed/x', source: 'api' })).to.deep.equal([event.internalId]);
    await store.redis.del(bucketKey(store, event.internalId));
    expect(await store.events.read(ENV, event.internalId)).to.include({ ts: event.ts, received_at: now });
    expect((await Array.fromAsync(store.events.since(ENV, 'delayed/x', 0, 10))).flat().length).to.equal(1);
  });

  it('is read in small portions by its name, even among many large events', async () => {
    const all = Array.from({ length: 40 }, (_, n) =>
      envelope({ name: 'large/x', data: { n, text: 'x'.repeat(500_000) } }),
    );
    for (const event of all) await ingest(event);
    const portions = await Array.fromAsync(store.events.since(ENV, 'large/x', 0, 1_000));
    expect(Math.max(...portions.map((some) => some.length))).to.be.at.most(10);
    const found = portions.flat().map(({ internalId }) => internalId);
    expect(found.sort()).to.deep.equal(all.map(({ internalId }) => internalId).sort());
  });

  it('stays the same when it is sent again without a delay', async () => {
    const now = Date.now();
    const first = envelope({ name: 'nearer/x', ts: now + HOUR_MS + 1_000 }, { receivedAt: now });
    const again = { ...first, requestId: ulid(), receivedAt: now + 2_000 };
    await ingest(first);
    const [met] = await ingest(again);
    expect(met).to.deep.include({ repeat: true, ingested: true });
    expect(met?.event).to.include({ requestId: first.requestId, receivedAt: now });
    expect((await store.events.read(ENV, first.internalId))?.duplicates).to.equal(1);
  });

  it('stays the same when it is sent again with a delay', async () => {
    const first = envelope({ name: 'farther/x' });
    const again = { ...first, requestId: ulid(), ts: Date.now() + 2 * DAY_MS };
    await ingest(first);
    const [met] = await ingest(again);
    expect(met).to.deep.include({ repeat: true, ingested: true });
    expect(await store.redis.exists(overflowKey(store, first.internalId))).to.equal(0);
  });

  it('moves to an overflow key only when it must stay longer than its bucket', async () => {
    const event = envelope({ name: 'work/x' });
    await ingest(event);
    const copy = overflowKey(store, event.internalId);
    await store.events.extendRetention(ENV, event.internalId);
    expect(await store.redis.exists(copy)).to.equal(0);

    // Work that goes on two hours after its receipt.
    await store.redis.pexpire(bucketKey(store, event.internalId), RETENTION_MS - HOUR_MS);
    await store.events.extendRetention(ENV, event.internalId);
    expect(await store.redis.pttl(copy)).to.be.within(RETENTION_MS - MOMENT_MS, RETENTION_MS);
    await store.redis.pexpire(copy, DAY_MS);
    await store.events.extendRetention(ENV, event.internalId);
    expect(await store.redis.pttl(copy), 'the copy stays longer').to.be.within(RETENTION_MS - MOMENT_MS, RETENTION_MS);
    await store.redis.pexpire(copy, 2 * RETENTION_MS);
    await store.events.extendRetention(ENV, event.internalId);
    expect(await store.redis.pttl(copy), 'and never shorter').to.be.greaterThan(RETENTION_MS);

    await store.redis.del(bucketKey(store, event.internalId));
    expect(await store.events.record(ENV, event.internalId)).to.include({
      name: 'work/x',
      request_id: event.requestId,
    });
    expect(await listed({ name: 'work/x', source: 'api' })).to.deep.equal([event.internalId]);
  });

  it('is not created by extending its retention', async () => {
    const id = ulid();
    await store.events.extendRetention(ENV, id);
    expect(await store.redis.exists(overflowKey(store, id))).to.equal(0);
    expect(await store.redis.exists(bucketKey(store, id))).to.equal(0);
  });

  it('stays in its bucket while a run sleeps for days, and longer if the run does, as do all events of a batch', async () => {
    const begin = async (days: number) => {
      const events = [envelope({ name: 'sleep/x' }), envelope({ name: 'sleep/x' })];
      for (const event of events) await ingest(event);
      const batch = events.map(({ internalId }) => internalId);
      const [eventId] = batch as [string];
      const since = Date.now();
      const run = { id: ulid(), env: ENV, eventId, batch, functionId: 'f', requestId: 'r', queuedAt: since };
      await store.runs.create([{ ...run, reconcileAt: since }]);
      await store.steps.begin(run, 'nap', { op: 'Sleep', name: 'nap', since, until: since + days * DAY_MS });
      return Promise.all(batch.map((id) => store.redis.pttl(overflowKey(store, id))));
    };
    expect(await begin(3)).to.deep.equal([-2, -2]);
    const [least, most] = [30 * DAY_MS + RETENTION_MS / 2 - MOMENT_MS, 30 * DAY_MS + RETENTION_MS / 2];
    for (const ttl of await begin(30)) expect(ttl).to.be.within(least, most);
  });

  for (const [when, days] of [
    ['long ago', -500],
    ['to come', 30],
  ] as const) {
    it(`whose ID is of a time ${when} has an overflow key, so that no bucket lives forever`, async () => {
      const seed = { timeMs: Date.now() + days * DAY_MS, entropy: Buffer.alloc(10, 7) };
      const name = `seeded/${days}`;
      const sent = [1, 2].map((n) => envelope({ name, data: { n } }, { internalId: seededId(seed, n) }));
      const ids = sent.map(({ internalId }) => internalId);
      await ingest(...sent);
      expect(await store.redis.exists(bucketKey(store, ids[0] as string))).to.equal(0);
      for (const id of ids) {
        expect(await store.redis.pttl(overflowKey(store, id))).to.be.within(RETENTION_MS - MOMENT_MS, RETENTION_MS);
      }
      expect(await listed({ name })).to.deep.equal([...ids].sort().reverse());
      const [met] = await ingest({ ...(sent[0] as (typeof sent)[0]), requestId: ulid() });
      expect(met).to.deep.include({ repeat: true, ingested: true });
      await store.redis.pexpire(overflowKey(store, ids[0] as string), DAY_MS);
      await store.events.extendRetention(ENV, ids[0] as string);
      expect(await store.redis.pttl(overflowKey(store, ids[0] as string))).to.be.greaterThan(RETENTION_MS - MOMENT_MS);
    });
  }

  it('is counted once even if two workers mark it as ingested at once, or one marks it again', async () => {
    const sent = Array.from({ length: 20 }, () => envelope({ name: 'settle/x' }, { env: 'settle' }));
    const stored = await store.events.storeNew(sent);
    const now = Date.now();
    await Promise.all([store.events.markIngested(stored, now), store.events.markIngested(stored, now)]);
    await store.events.markIngested(stored, now);
    const span = { from: now - DAY_MS, to: now + DAY_MS, buckets: 1 };
    const [all] = (await store.eventCounts.histogram({ env: 'settle', ...span })).buckets;
    const [named] = (await store.eventCounts.histogram({ env: 'settle', name: 'settle/x', ...span })).buckets;
    expect([all?.count, named?.count]).to.deep.equal([20, 20]);
  });

  it('is ingested again as it was first sent if it was stored but not ingested', async () => {
    const first = envelope({ name: 'pending/x', data: { first: true } });
    await store.events.storeNew([first]);
    const [retried] = await store.events.storeNew([first]);
    expect(retried).to.deep.equal({ event: first, repeat: false, present: true, ingested: false });
    const [again] = await store.events.storeNew([{ ...first, name: 'pending/y', requestId: ulid() }]);
    expect(again).to.deep.equal({ event: first, repeat: true, present: true, ingested: false });
  });

  it('has the same source in every process, no matter which assigned its number', async () => {
    const other = await openStore(store.prefix);
    try {
      const sources = Array.from({ length: 30 }, (_, n) => `${n % 2 ? 'webhook' : 'event-key'}:${n}` as const);
      const events = (offset: number) =>
        sources.map((_, i) => envelope({}, { env: 'sources', source: sources[(i + offset) % 30] as 'api' }));
      const [mine, its] = [events(0), events(15)];
      await Promise.all([store.events.storeNew(mine), other.events.storeNew(its)]);
      const numbers = Object.values(await store.redis.hgetall(`${store.keys.prefix}:event-sources:sources`));
      expect(new Set(numbers).size).to.equal(30);
      for (const [reader, read] of [
        [store, its],
        [other, mine],
        [await openStore(store.prefix), mine],
      ] as const) {
        const ids = read.map(({ internalId }) => internalId);
        const found = await reader.events.readMany('sources', ids);
        expect(found.map(({ source }) => source)).to.deep.equal(read.map(({ source }) => source));
        if (reader !== store && reader !== other) await reader.redis.quit();
      }
    } finally {
      await other.redis.quit();
    }
  });
});

describe('The event of a run', () => {
  let service: Service;
  let host: AppHost;
  before(async () => {
    service = await startService();
    host = await startAppHost();
  });
  after(async () => {
    await host.close();
    await service.stop();
  });

  it('is kept for the retention from a call that begins hours after its receipt', async () => {
    const id = (n: number) => n.toString(16).padStart(40, '0');
    const sleep = { id: id(1), op: 'Sleep', name: '1s', displayName: 'sleep' };
    host.on('f', ({ number }) => (number === 0 ? { status: 206, body: [sleep] } : { body: 'done' }));
    await host.register(service, [{ id: 'f', triggers: [{ event: 'hours/x' }] }]);
    const { body } = await service.post('/e/key', { name: 'hours/x', data: { n: 1 } });
    const eventId = body.ids[0];
    const run = await service.waitFor(`/v1/events/${eventId}/runs`, ({ body }) => body.data?.[0]?.status === 'Running');
    const { run_id } = run.body.data[0];
    const asleep = `${service.keys.of(run_id).prefix}:run:${ENV}:${run_id}:pending`;
    await until(() => service.redis.exists(asleep), { describe: 'the run sleeps' });
    expect(await service.redis.exists(overflowKey(service, eventId))).to.equal(0);
    await service.redis.pexpire(bucketKey(service, eventId), RETENTION_MS - 3 * HOUR_MS);
    await service.waitFor(`/v1/runs/${run_id}`, ({ body }) => body.data.status === 'Completed');
    const ttl = await service.redis.pttl(overflowKey(service, eventId));
    expect(ttl).to.be.within(RETENTION_MS - MOMENT_MS, RETENTION_MS);

    await service.redis.del(bucketKey(service, eventId));
    expect((await service.post(`/v1/runs/${run_id}/retry`)).status).to.equal(201);
    await until(() => host.calls('f').length === 3, { describe: 'it is done again on the copy' });
    expect(host.calls('f').map(({ body }) => body.event.data)).to.deep.equal([{ n: 1 }, { n: 1 }, { n: 1 }]);
  });

  it('matches triggers by fields outside its payload', async () => {
    const facts =
      'event.source == "event-key" && event.received_at == event.ts && event.internal_id != event.request_id';
    await host.register(service, [{ id: 'facts', triggers: [{ event: 'facts/x', expression: facts }] }], {
      appName: 'facts',
    });
    await service.post('/e/key', { name: 'facts/x', data: {} });
    expect((await host.nextCall('facts')).body.event.name).to.equal('facts/x');
  });
});
