import { expect } from 'chai';
import fc from 'fast-check';
import { ulid } from 'ulid';
import { archiveEvents } from '../../src/jobs/archive/portion.ts';
import { type Envelope, isFrom, type Source } from '../../src/model/events/event.ts';
import { functionDigest } from '../../src/model/flow-control/decision-encoding.ts';
import type { Position } from '../../src/store/redis/pagination.ts';
import { type OwnArchive, openArchive } from '../support/own-archive.ts';
import { envelope } from '../support/own-store.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const SOURCES: Source[] = ['api', 'event-key:a', 'webhook:a', 'webhook:b'];

/** Where an event is. `both`: archived and not removed from Redis yet. `moving`: its record is removed, and its entries in the indexes are not. */
const LOCATIONS = ['hot', 'both', 'moving', 'archived', 'archived'] as const;

/** Few names and few moments, so that there is much at once. */
const receivedEvents = fc.array(
  fc.record({
    name: fc.integer({ min: 0, max: 3 }).map((n) => `n/${n}`),
    source: fc.constantFrom(...SOURCES),
    location: fc.constantFrom(...LOCATIONS),
    hasId: fc.boolean(),
    ago: fc.oneof(
      fc.integer({ min: 0, max: 6 * MINUTE_MS }),
      fc.integer({ min: 0, max: 8 }).map((n) => n * MINUTE_MS),
      fc.integer({ min: 0, max: 100 }).map((n) => n * HOUR_MS),
    ),
  }),
  { minLength: 1, maxLength: 120, size: 'max' },
);
type ReceivedEvents = typeof receivedEvents extends fc.Arbitrary<infer T> ? T : never;
const time = fc.integer({ min: -MINUTE_MS, max: 10 * MINUTE_MS });

describe('The history of hot and archived events', () => {
  let archive: OwnArchive;
  let environments = 0;
  before(async () => {
    archive = await openArchive({ HOT_HOURS: '1' });
  });
  after(() => archive.close());

  /** At the start of a minute, so that some are received at its very edges. */
  const now = Date.now() - (Date.now() % MINUTE_MS) - MINUTE_MS;
  /** From here on, events are old enough to be archived. */
  const old = now - HOUR_MS - MINUTE_MS;

  async function ingest(batch: readonly Envelope[]): Promise<void> {
    const { events } = archive.store;
    await events.markIngested(await events.storeNew(batch), now);
  }

  const groupsOf = (batch: readonly Envelope[]) =>
    batch.map(({ internalId: id, receivedAt: at, env, name }) => {
      return { id, at, env, name, minute: at - (at % MINUTE_MS) };
    });

  /** As the archiver does. */
  async function move(env: string, batch: readonly Envelope[]): Promise<void> {
    const deps = { ...archive.store, shipments: archive.shipments };
    if (batch.length > 0)
      await archiveEvents({ partition: 0, env, before: now, hotMs: HOUR_MS }, groupsOf(batch), deps, now);
  }

  async function ship(env: string, batch: readonly Envelope[]): Promise<void> {
    const { archivableEvents } = archive.store;
    const events = await archivableEvents.read(0, env, groupsOf(batch));
    await archive.shipments.ship({
      events: events.flatMap(({ record, id, at, name, duplicates }) => {
        const dedupId = (JSON.parse(record?.payload ?? '{}') as { id?: string }).id;
        return record ? [{ ...record, env, id, at, name, dedupId, duplicates, decisions: undefined }] : [];
      }),
      runs: [],
    });
  }

  async function arrange(all: ReceivedEvents) {
    const env = `env-${++environments}`;
    const events = all.map(({ ago, location, name, source, hasId }, n) => {
      const receivedAt = (location === 'hot' ? now : old) - ago;
      const event = { name, data: { n }, ...(hasId && { id: `id-${n % 20}` }) };
      return { location, envelope: envelope(event, { env, source, receivedAt, internalId: ulid(receivedAt) }) };
    });
    const at = (location: string) => events.filter((event) => event.location === location).map((item) => item.envelope);
    await ingest(events.map((event) => event.envelope));
    await ship(env, [...at('both'), ...at('moving')]);
    for (const { internalId } of at('moving')) {
      const bucket = `${archive.store.keys.partition(0).prefix}:event-bucket:${env}:${internalId.slice(0, 8)}`;
      expect(await archive.store.redis.hdel(bucket, internalId.slice(8))).to.equal(1);
    }
    await move(env, at('archived'));
    const sorted = events
      .map((event) => event.envelope)
      .sort((a, b) => b.receivedAt - a.receivedAt || (a.internalId < b.internalId ? 1 : -1));
    return { env, sorted };
  }

  interface Query {
    env: string;
    name?: string;
    source?: string;
    limit: number;
    range?: { after?: number; before?: number };
  }
  async function walk({ range = {}, ...query }: Query): Promise<string[]> {
    const ids: string[] = [];
    let cursor: Position | undefined;
    do {
      const page = await archive.history.eventLists.list({ ...query, timeRange: { ...range, cursor } }, now);
      expect(page.stoppedEarly).to.equal(undefined);
      expect(page.events.length).to.be.at.most(query.limit);
      ids.push(...page.events.map(({ internal_id }) => internal_id));
      cursor = page.next;
    } while (cursor);
    return ids;
  }
  const idsOf = (events: readonly Envelope[]) => events.map(({ internalId }) => internalId);

  it('lists, counts and finds every event once, wherever it is', async function () {
    this.timeout(600_000);
    await fc.assert(
      fc.asyncProperty(receivedEvents, fc.integer({ min: 1, max: 40 }), time, time, async (all, limit, a, b) => {
        const { env, sorted } = await arrange(all);
        expect(await walk({ env, limit: limit + 20 })).to.deep.equal(idsOf(sorted));
        const range = { after: old - Math.max(a, b), before: old - Math.min(a, b) };
        const within = sorted.filter(({ receivedAt }) => receivedAt >= range.after && receivedAt < range.before);
        expect(await walk({ env, limit, range })).to.deep.equal(idsOf(within));
        const named = sorted.filter(({ name }) => name === 'n/1');
        expect(await walk({ env, limit: limit + 5, name: 'n/1' })).to.deep.equal(idsOf(named));
        const hooks = sorted.filter(({ source }) => isFrom(source, 'webhook'));
        expect(await walk({ env, limit: limit + 10, source: 'webhook' })).to.deep.equal(idsOf(hooks));

        const found = await archive.history.events.readMany(env, idsOf(sorted));
        expect(found.map(({ internal_id, data, source }) => ({ internal_id, data, source }))).to.deep.equal(
          sorted.map(({ internalId, payload, source }) => {
            return { internal_id: internalId, data: JSON.parse(payload).data, source };
          }),
        );
        const envelopes = await archive.history.events.envelopes(env, idsOf(sorted));
        for (const one of sorted) {
          const { ts: _, ...rest } = envelopes.get(one.internalId) as Envelope;
          expect(rest).to.deep.include({ name: one.name, payload: one.payload, source: one.source, env });
        }
        for (const wanted of new Set(sorted.flatMap(({ id }) => id ?? []))) {
          const { events } = await archive.history.eventLists.listById(wanted, { env, timeRange: {}, limit: 10 });
          const newest = sorted.find(({ id }) => id === wanted);
          expect(events.map(({ id }) => id)).to.deep.equal([wanted]);
          if (all.every(({ location }) => location === 'archived')) {
            expect(events[0]?.internal_id).to.equal(newest?.internalId);
          }
        }
      }),
      { numRuns: 15 },
    );
  });

  it('counts every event once, in intervals and by name', async function () {
    this.timeout(600_000);
    const buckets = fc.integer({ min: 1, max: 70 });
    await fc.assert(
      fc.asyncProperty(receivedEvents, time, time, buckets, async (all, a, b, buckets) => {
        const { env, sorted } = await arrange(all);
        const ranges = [
          { from: old - Math.max(a, b), to: old - Math.min(a, b) + 1 },
          { from: old - 5 * 24 * HOUR_MS, to: now + 1 },
        ];
        for (const range of ranges) {
          for (const name of [undefined, 'n/2']) {
            const counted = await archive.history.eventCounts.histogram({ env, name, ...range, buckets });
            const ofName = sorted.filter((event) => name === undefined || event.name === name);
            expect(counted.buckets.map(({ count }) => count)).to.deep.equal(
              counted.buckets.map(
                ({ from, to }) => ofName.filter((e) => e.receivedAt >= from && e.receivedAt < to).length,
              ),
            );
          }
        }
        const { names } = await archive.history.eventCounts.names(env, 10, now);
        const byName = Map.groupBy(sorted, ({ name }) => name);
        const expected = [...byName].map(([name, [newest, ...others]]) => {
          return { name, count: others.length + 1, lastAt: newest?.receivedAt as number };
        });
        expect(names).to.have.deep.members(expected);
        expect(names.map(({ lastAt }) => lastAt)).to.deep.equal(
          expected.map((item) => item.lastAt).sort((x, y) => y - x),
        );
      }),
      { numRuns: 15 },
    );
  });

  it('has every event once on every page and in every count while events move', async () => {
    const env = 'moving';
    const events = Array.from({ length: 600 }, (_, n) => {
      const receivedAt = old - Math.floor(n / 3) * 700;
      return envelope({ name: `n/${n % 4}` }, { env, receivedAt, internalId: ulid(receivedAt) });
    });
    await ingest(events);
    const sorted = idsOf(
      events.toSorted((a, b) => b.receivedAt - a.receivedAt || (a.internalId < b.internalId ? 1 : -1)),
    );
    let isDone = false;
    const moving = (async () => {
      const buckets = Map.groupBy(events, ({ internalId }) => internalId.slice(0, 8));
      for (const bucket of buckets.values()) await move(env, bucket);
    })().finally(() => {
      isDone = true;
    });
    let reads = 0;
    for (let last = false; !last; reads++) {
      last = isDone;
      expect(await walk({ env, limit: 7 + 50 * (reads % 3) })).to.deep.equal(sorted);
      const range = { from: old - 200_000, to: old + 30_000, buckets: 1 + (reads % 9) };
      const { buckets } = await archive.history.eventCounts.histogram({ env, ...range });
      expect(buckets.reduce((sum, { count }) => sum + count, 0)).to.equal(600);
      const { names } = await archive.history.eventCounts.names(env, 10, now);
      expect(names.map(({ count }) => count)).to.deep.equal([150, 150, 150, 150]);
      expect(await archive.history.events.readMany(env, sorted)).to.have.length(600);
    }
    await moving;
    expect(reads).to.be.greaterThan(3);
  });

  it('adds the repeats that came after an event was archived', async () => {
    const env = 'repeats';
    const first = envelope({ id: 'one' }, { env, receivedAt: old, internalId: ulid(old) });
    const again = () => ({ ...first, requestId: ulid(), repeat: true as const });
    await ingest([first]);
    await ingest([again(), again()]);
    await move(env, [first]);
    await ingest([again()]);
    expect((await archive.history.events.read(env, first.internalId))?.duplicates).to.equal(3);
    const { events } = await archive.history.eventLists.list({ env, timeRange: {}, limit: 5 }, now);
    expect(events.map(({ duplicates }) => duplicates)).to.deep.equal([3]);
  });

  it('merges archived decisions with later ones, of which a later one about the same function wins', async () => {
    const env = 'decisions';
    const { decisions } = archive.store;
    const event = envelope({}, { env, receivedAt: old, internalId: ulid(old) });
    const eventId = event.internalId;
    await ingest([event]);
    await decisions.add(
      ['app-a', 'app-b'].map((functionId) => ({ env, eventId, functionId, reason: 'paused' as const })),
      now,
    );
    await move(env, [event]);
    expect(await decisions.of(env, eventId)).to.deep.equal([]);
    await decisions.add([{ env, eventId, functionId: 'app-b', reason: 'rate_limited' }], now);
    const found = await archive.history.decisions.of(env, eventId);
    expect(new Map(found.map(({ digest, reason }) => [digest, reason]))).to.deep.equal(
      new Map([
        [functionDigest('app-a'), 'paused'],
        [functionDigest('app-b'), 'rate_limited'],
      ]),
    );
    expect(await archive.history.events.isIngested(env, event.name, eventId)).to.equal(true);
    expect(await archive.history.events.isIngested(env, event.name, ulid(old))).to.equal(false);
  });

  it('hides events once the retention of their environment is over, even while Redis has them', async () => {
    const env = 'short';
    await archive.store.environments.create({ name: env, kind: 'named', createdAt: now, retentionDays: 1 }, 10);
    const events = [0, 1, 23, 25, 47].map((hours) => {
      const receivedAt = now - hours * HOUR_MS;
      return envelope({}, { env, receivedAt, internalId: ulid(receivedAt) });
    });
    await ingest(events);
    for (let moved = 0; moved < 3; moved++) {
      expect(await walk({ env, limit: 2 })).to.deep.equal(idsOf(events.slice(0, 3)));
      const range = { from: now - 72 * HOUR_MS, to: now + 1, buckets: 1 };
      expect((await archive.history.eventCounts.histogram({ env, ...range })).buckets[0]?.count).to.equal(3);
      expect((await archive.history.eventCounts.names(env, 10, now)).names[0]?.count).to.equal(3);
      await move(env, events.slice(4 - moved, 5 - moved));
    }
  });
});
