import { expect } from 'chai';
import { ulid } from 'ulid';
import type { ArchivedEventQuery } from '../../src/archive/archived-events.ts';
import { Conditions } from '../../src/archive/conditions.ts';
import type { EventRow } from '../../src/archive/rows.ts';
import { DAY_MS } from '../../src/model/values/time.ts';
import { eventRow, type OwnArchive, openArchive } from '../support/own-archive.ts';

const HOUR_MS = 3_600_000;

describe('Archived events', () => {
  let archive: OwnArchive;
  const now = Date.now();
  const SOURCES = ['api', 'webhook:a', 'webhook:b', 'webhooks:x', 'event:01ARZ3NDEKTSV4RRFFQ69G5FAV'];
  /** Events of ten days, three at each moment. */
  const rows: EventRow[] = [];

  before(async () => {
    archive = await openArchive();
    for (let n = 0; n < 90; n++) {
      const at = now - Math.floor(n / 3) * 8 * HOUR_MS - HOUR_MS;
      rows.push(eventRow({ at, name: `n/${n % 4}`, source: SOURCES[n % 5] as string, data: { n } }));
    }
    await archive.shipments.ship({ events: rows, runs: [] });
  });
  after(() => archive.close());

  const sorted = (some: readonly EventRow[]) =>
    some.toSorted((a, b) => b.at - a.at || (a.id < b.id ? 1 : -1)).map(({ id }) => id);

  async function walk(query: Partial<ArchivedEventQuery>, limit: number): Promise<string[]> {
    const ids: string[] = [];
    let { cursor } = query.timeRange ?? {};
    do {
      const page = await archive.events.page(
        'production',
        { ...query, limit, timeRange: { ...query.timeRange, cursor } },
        now,
      );
      expect(page.events.length).to.be.at.most(limit);
      ids.push(...page.events.map(({ internalId }) => internalId));
      cursor = page.next;
    } while (cursor);
    return ids;
  }

  it('are listed newest first in pages of any size', async () => {
    for (const limit of [1, 2, 3, 7, 89, 90, 91]) expect(await walk({}, limit)).to.deep.equal(sorted(rows));
  });

  it('are listed by time range', async () => {
    const timeRange = { after: now - 5 * DAY_MS, before: now - 2 * DAY_MS };
    const within = rows.filter(({ at }) => at >= timeRange.after && at < timeRange.before);
    for (const limit of [1, 4, 100]) expect(await walk({ timeRange }, limit)).to.deep.equal(sorted(within));
  });

  it('are listed by one and by several names', async () => {
    const ofNames = (...names: string[]) => sorted(rows.filter(({ name }) => names.includes(name)));
    for (const limit of [1, 5, 100]) {
      expect(await walk({ names: ['n/1'] }, limit)).to.deep.equal(ofNames('n/1'));
      expect(await walk({ names: ['n/1', 'n/3', 'n/9'] }, limit)).to.deep.equal(ofNames('n/1', 'n/3'));
    }
    expect(await walk({ names: ['n/9'] }, 10)).to.deep.equal([]);
  });

  it('are listed by source, and by kind of source', async () => {
    for (const limit of [1, 100]) {
      const from = (...sources: string[]) => sorted(rows.filter(({ source }) => sources.includes(source)));
      expect(await walk({ source: 'webhook' }, limit)).to.deep.equal(from('webhook:a', 'webhook:b'));
      expect(await walk({ source: 'webhook:b' }, limit)).to.deep.equal(from('webhook:b'));
      expect(await walk({ source: 'event' }, limit)).to.deep.equal(from(SOURCES[4] as string));
    }
  });

  it('are listed by names and conditions together', async () => {
    const conditions = new Conditions().add("(payload::jsonb)->'data'->'n' > ?::jsonb", '40');
    const wanted = sorted(rows.filter(({ name }, n) => n > 40 && (name === 'n/0' || name === 'n/2')));
    for (const limit of [1, 6, 100]) {
      expect(await walk({ names: ['n/0', 'n/2'], conditions }, limit)).to.deep.equal(wanted);
    }
  });

  it('end a page when the time is over, and the next page continues there', async () => {
    const conditions = new Conditions().add('pg_sleep(0.05) IS NOT NULL');
    const query = { conditions, timeRange: {}, limit: 100, timeoutMs: 400 };
    const page = await archive.events.page('production', query, now);
    expect(page.stoppedEarly).to.equal('time');
    expect(page.next).to.be.an('object');
    const rest = await walk({ timeRange: { cursor: page.next } }, 100);
    expect([...page.events.map(({ internalId }) => internalId), ...rest]).to.deep.equal(sorted(rows));
  });

  it('end a page before it is too large', async () => {
    const env = 'large';
    const large = Array.from({ length: 6 }, (_, n) => eventRow({ env, at: now - n, data: 'x'.repeat(1_000) }));
    await archive.shipments.ship({ events: large, runs: [] });
    const page = await archive.events.page(env, { timeRange: {}, limit: 6, maxBytes: 2_500 }, now);
    expect(page.events).to.have.length(2);
    expect(page.next).to.deep.equal({ at: large[1]?.at, id: large[1]?.id });
    const one = await archive.events.page(env, { timeRange: {}, limit: 6, maxBytes: 1 }, now);
    expect(one.events).to.have.length(1);
  });

  it('are found by ID, even if the ID has another time', async () => {
    const env = 'ids';
    const seeded = eventRow({ env, at: now - 3 * DAY_MS, id: ulid(now - 400 * DAY_MS) });
    const ahead = eventRow({ env, at: now - 3 * DAY_MS, id: ulid(now + 400 * DAY_MS) });
    const plain = eventRow({ env, at: now - 20 * DAY_MS, source: 'webhook:a', duplicates: 3 });
    await archive.shipments.ship({ events: [seeded, ahead, plain], runs: [] });
    const ids = [plain.id, ulid(now), 'no ID', seeded.id, ahead.id];
    const found = await archive.events.readMany(env, ids, now);
    expect([...found.keys()]).to.have.members([plain.id, seeded.id, ahead.id]);
    expect(found.get(plain.id)).to.deep.equal({
      internalId: plain.id,
      receivedAt: plain.at,
      requestId: plain.requestId,
      index: 0,
      payload: plain.payload,
      source: 'webhook:a',
      duplicates: 3,
    });
    expect((await archive.events.readMany('production', ids, now)).size).to.equal(0);
  });

  it('are found by their exact deduplication ID, the newest first', async () => {
    const env = 'dedup';
    const events = [1, 5, 9].map((days) => eventRow({ env, at: now - days * DAY_MS, dedupId: 'a\0' }));
    const other = eventRow({ env, at: now, dedupId: 'a\uFFFD' });
    await archive.shipments.ship({ events: [...events, other], runs: [] });
    const idOf = async (id: string) => (await archive.events.byDeduplicationId(env, id, now))?.internalId;
    expect(await idOf('a\0')).to.equal(events[0]?.id);
    expect(await idOf('a\uFFFD')).to.equal(other.id);
    expect(await idOf('a')).to.equal(undefined);
  });

  it('are listed by their exact name', async () => {
    const env = 'exact';
    const events = ['x\0', 'x\uFFFD'].map((name) => eventRow({ env, at: now, name }));
    await archive.shipments.ship({ events, runs: [] });
    const page = await archive.events.page(env, { names: ['x\0'], timeRange: {}, limit: 5 }, now);
    expect(page.events.map(({ internalId }) => internalId)).to.deep.equal([events[0]?.id]);
  });

  it('are hidden once the retention of their environment is over', async () => {
    const env = 'short';
    await archive.store.environments.create({ name: env, kind: 'named', createdAt: now, retentionDays: 2 }, 10);
    const [kept, expired] = [eventRow({ env, at: now - DAY_MS }), eventRow({ env, at: now - 2 * DAY_MS - 1 })];
    await archive.shipments.ship({ events: [kept, expired], runs: [] });
    const page = await archive.events.page(env, { timeRange: {}, limit: 5 }, now);
    expect(page.events.map(({ internalId }) => internalId)).to.deep.equal([kept.id]);
    expect([...(await archive.events.readMany(env, [kept.id, expired.id], now)).keys()]).to.deep.equal([kept.id]);
  });
});
