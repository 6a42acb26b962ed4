import { expect } from 'chai';
import fc from 'fast-check';
import { ulid } from 'ulid';
import type { Source } from '../../src/model/events/event.ts';
import { envelope, type OwnStore, openStore } from '../support/own-store.ts';

const MINUTE_MS = 60_000;
const SOURCES: Source[] = ['api', 'event-key:a', 'webhook:a', 'webhook:b'];

/** Few names and few moments, so that there is much at once. */
const receivedEvents = fc.array(
  fc.record({
    name: fc.integer({ min: 0, max: 7 }).map((n) => `n/${Math.min(n, 5)}`),
    source: fc.constantFrom(...SOURCES),
    ago: fc.oneof(
      fc.integer({ min: 0, max: 6 * MINUTE_MS }),
      fc.integer({ min: 0, max: 8 }).map((n) => n * MINUTE_MS),
      fc.integer({ min: 0, max: 300 }).map((n) => n * MINUTE_MS),
    ),
  }),
  { minLength: 1, maxLength: 300, size: 'max' },
);
const time = fc.integer({ min: -MINUTE_MS, max: 10 * MINUTE_MS });

describe('The list of all events', () => {
  let store: OwnStore;
  let environments = 0;
  before(async () => {
    store = await openStore();
  });
  after(() => store.close());

  /** At the start of a minute, so that some come at its very edges. */
  const now = Date.now() - (Date.now() % MINUTE_MS) - MINUTE_MS;

  type ReceivedEvents = typeof receivedEvents extends fc.Arbitrary<infer T> ? T : never;

  async function ingest(all: ReceivedEvents) {
    const env = `env-${++environments}`;
    const batch = all.map(({ name, source, ago }) =>
      envelope({ name }, { env, source, receivedAt: now - ago, internalId: ulid(now, Math.random) }),
    );
    await store.events.markIngested(await store.events.storeNew(batch), now);
    const sorted = batch.toSorted((a, b) => b.receivedAt - a.receivedAt || (a.internalId < b.internalId ? 1 : -1));
    return { env, sorted };
  }

  async function walk(query: {
    env: string;
    source?: string;
    limit: number;
    span: { after?: number; before?: number };
  }) {
    const ids: string[] = [];
    let cursor: { at: number; id: string } | undefined;
    do {
      const { events, next } = await store.eventLists.list({ ...query, timeRange: { ...query.span, cursor } }, now);
      expect(events.length).to.be.at.most(query.limit);
      ids.push(...events.map(({ internal_id }) => internal_id));
      cursor = next;
    } while (cursor);
    return ids;
  }

  it('equals a plain sort, for any page size and time range', async () => {
    await fc.assert(
      fc.asyncProperty(receivedEvents, fc.integer({ min: 1, max: 60 }), time, time, async (all, limit, a, b) => {
        const { env, sorted } = await ingest(all);
        const ids = (events: typeof sorted) => events.map(({ internalId }) => internalId);
        expect(await walk({ env, limit: limit + 5, span: {} })).to.deep.equal(ids(sorted));
        const span = { after: now - Math.max(a, b), before: now - Math.min(a, b) };
        const within = sorted.filter(({ receivedAt }) => receivedAt >= span.after && receivedAt < span.before);
        expect(await walk({ env, limit, span })).to.deep.equal(ids(within));
        const hooks = within.filter(({ source }) => source.startsWith('webhook:'));
        expect(await walk({ env, limit, span, source: 'webhook' })).to.deep.equal(ids(hooks));
        const others = within.filter(({ source }) => !source.startsWith('webhook:'));
        expect(await walk({ env, limit, span, source: '!webhook' })).to.deep.equal(ids(others));
      }),
      { numRuns: 25 },
    );
  });

  it('has a histogram that equals a count of each event', async () => {
    const buckets = fc.integer({ min: 1, max: 70 });
    await fc.assert(
      fc.asyncProperty(receivedEvents, time, time, buckets, async (all, a, b, buckets) => {
        const { env, sorted } = await ingest(all);
        const span = { from: now - Math.max(a, b), to: now - Math.min(a, b) + 1 };
        for (const name of [undefined, 'n/5']) {
          const { buckets: counted } = await store.eventCounts.histogram({ env, name, ...span, buckets });
          const ofName = sorted.filter((event) => name === undefined || event.name === name);
          expect(counted.map(({ count }) => count)).to.deep.equal(
            counted.map(({ from, to }) => ofName.filter((e) => e.receivedAt >= from && e.receivedAt < to).length),
          );
          expect([counted[0]?.from, counted.at(-1)?.to]).to.deep.equal([span.from, span.to]);
        }
      }),
      { numRuns: 25 },
    );
  });

  it('shows an event under the name that was stored first', async () => {
    const env = 'renamed';
    const first = envelope({ name: 'first/x' }, { env });
    await store.events.markIngested(await store.events.storeNew([first]), Date.now());
    const again = { ...first, name: 'other/x', requestId: ulid() };
    await store.events.markIngested(await store.events.storeNew([again]), Date.now());
    expect((await store.eventCounts.names(env, 10, Date.now())).names.map(({ name }) => name)).to.deep.equal([
      'first/x',
    ]);
    expect(await walk({ env, limit: 10, span: { before: Date.now() + 1 } })).to.deep.equal([first.internalId]);
  });

  it('supports thousands of names in a minute', async () => {
    const env = 'names';
    const batch = Array.from({ length: 2_500 }, (_, n) => envelope({ name: `many/${n}` }, { env, receivedAt: now }));
    await store.events.markIngested(await store.events.storeNew(batch), now);
    expect(new Set(await walk({ env, limit: 1_000, span: {} })).size).to.equal(2_500);
    const [half] = (await store.eventCounts.histogram({ env, from: now - 1, to: now + 1, buckets: 1 })).buckets;
    expect(half?.count).to.equal(2_500);
  });
});
