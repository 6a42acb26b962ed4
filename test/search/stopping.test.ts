import { expect } from 'chai';
import { type Archive, createArchive } from '../../src/archive/archive.ts';
import { toUuid } from '../../src/archive/database.ts';
import { EventSearch } from '../../src/history/event-search.ts';
import { createHistory } from '../../src/history/history.ts';
import { RunSearch } from '../../src/history/run-search.ts';
import { createLog } from '../../src/log.ts';
import { parseSearch } from '../../src/model/search/parse.ts';
import { eventRow, type OwnArchive, openArchive, runRow } from '../support/own-archive.ts';
import { envelope } from '../support/own-store.ts';

const HOUR_MS = 3_600_000;
const OLD = Date.now() - 72 * HOUR_MS;

describe('A search that is stopped', () => {
  let archive: OwnArchive;
  const events = Array.from({ length: 30 }, (_, n) => eventRow({ at: OLD + n * HOUR_MS, data: { n, text: `x${n}` } }));
  const runs = events.map(({ id }, n) =>
    runRow({ at: OLD + n * HOUR_MS + 1, eventId: id, output: JSON.stringify({ n }) }),
  );
  const hot = envelope({ data: { n: 100 } });

  before(async () => {
    archive = await openArchive();
    await archive.shipments.ship({ events, runs });
    await archive.store.events.markIngested(await archive.store.events.storeNew([hot]), Date.now());
  });
  after(() => archive.close());

  it('by its time limit continues from its cursor, and misses nothing', async () => {
    const search = new EventSearch({ ...archive.store, archive });
    const node = parseSearch('data.n >= 10', 'events');
    const found: string[] = [];
    let cursor: { at: number; id: string } | undefined;
    let stops = 0;
    do {
      const query = { env: 'production', node, timeRange: { cursor }, limit: 100, timeoutMs: 0 };
      const page = await search.search(query, Date.now());
      if (page.next) expect(page.stoppedEarly).to.equal('time');
      if (page.stoppedEarly) stops++;
      found.push(...page.found.map(({ internal_id }) => internal_id));
      cursor = page.next;
    } while (cursor);
    expect(found).to.deep.equal([
      hot.internalId,
      ...events
        .slice(10)
        .reverse()
        .map(({ id }) => id),
    ]);
    expect(stops).to.be.greaterThan(0);
  });

  it('by its time limit also continues if it is for runs', async () => {
    const search = new RunSearch({ ...archive.store, history: archive.history, archive });
    for (const text of ['event.data.text == "x7"', 'output.n == 7']) {
      const node = parseSearch(text, 'runs');
      const found: string[] = [];
      let cursor: { at: number; id: string } | undefined;
      do {
        const query = {
          env: 'production',
          node,
          functionIds: undefined,
          timeRange: { cursor },
          limit: 5,
          timeoutMs: 0,
        };
        const page = await search.search(query, Date.now());
        found.push(...page.found.map(({ id }) => id));
        cursor = page.next;
      } while (cursor);
      expect(found, text).to.deep.equal([runs[7]?.id]);
    }
  });

  it('because Postgres is unavailable has the hot part, and a cursor to continue', async () => {
    const unreachable = createArchive(
      { archive: { ...archive.settings, url: 'postgres://nobody@127.0.0.1:9/none' } },
      async () => 30,
      createLog('silent', 'test'),
    ) as Archive;
    const node = parseSearch('data.n >= 29', 'events');
    const query = { env: 'production', node, timeRange: {}, limit: 10, timeoutMs: 5_000 };
    const page = await new EventSearch({ ...archive.store, archive: unreachable }).search(query, Date.now());
    expect(page.found.map(({ internal_id }) => internal_id)).to.deep.equal([hot.internalId]);
    expect(page.stoppedEarly).to.equal('archive_unavailable');
    const rest = await new EventSearch({ ...archive.store, archive }).search(
      { ...query, timeRange: { cursor: page.next } },
      Date.now(),
    );
    expect(rest.found.map(({ internal_id }) => internal_id)).to.deep.equal([events[29]?.id]);
    expect(rest.stoppedEarly).to.equal(undefined);
    await unreachable.database.close();
  });

  it('reads archived events that Postgres cannot read as jsonb although it should', async () => {
    const row = eventRow({ at: OLD, env: 'odd', name: 'odd/x', data: { n: 1 } });
    await archive.shipments.ship({ events: [row, eventRow({ at: OLD + 1, env: 'odd', data: { n: 5 } })], runs: [] });
    await archive.database.query(
      `UPDATE events SET payload = replace(payload, '{"n":1}', '{"n":1,"m":' || repeat('9', 200000) || '}') WHERE id::text = $1`,
      [toUuid(row.id)],
    );
    const search = new EventSearch({ ...archive.store, archive });
    const query = { env: 'odd', node: parseSearch('data.n > 0', 'events'), timeRange: {}, limit: 10, timeoutMs: 5_000 };
    expect((await search.search(query, Date.now())).found).to.have.length(2);
  });

  it('needs no Postgres for hot events', async () => {
    const history = createHistory(archive.store, undefined);
    const search = new RunSearch({ ...archive.store, history, archive: undefined });
    const query = {
      env: 'production',
      node: parseSearch('has(output)', 'runs'),
      functionIds: undefined,
      timeRange: {},
    };
    expect(await search.search({ ...query, limit: 5, timeoutMs: 1_000 }, Date.now())).to.deep.equal({
      found: [],
      next: undefined,
    });
  });
});
