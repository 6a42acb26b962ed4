import { expect } from 'chai';
import { ulid } from 'ulid';
import { Conditions } from '../../src/archive/conditions.ts';
import { toUuid } from '../../src/archive/database.ts';
import type { RunRow } from '../../src/archive/rows.ts';
import { DAY_MS } from '../../src/model/values/time.ts';
import type { Position } from '../../src/store/redis/pagination.ts';
import { type OwnArchive, openArchive, runRow } from '../support/own-archive.ts';
import { connectPostgres } from '../support/postgres.ts';

const HOUR_MS = 3_600_000;

describe('Archived runs', () => {
  let archive: OwnArchive;
  let now: number;

  before(async () => {
    archive = await openArchive();
    now = Date.now();
  });

  after(() => archive.close());

  const ship = (...runs: RunRow[]) => archive.shipments.ship({ events: [], runs });
  /** An environment of its own. */
  const fresh = () => `test-${ulid().toLowerCase()}`;
  const idsOf = (runs: readonly { id: string }[]) => runs.map(({ id }) => id);
  const newestFirst = (rows: readonly RunRow[]) =>
    [...rows].sort((a, b) => b.at - a.at || (a.id < b.id ? 1 : -1)).map(({ id }) => id);

  async function allPages(
    env: string,
    query: Omit<Parameters<typeof archive.runs.page>[1], 'timeRange' | 'limit'>,
    limit: number,
  ) {
    const found: string[] = [];
    let cursor: Position | undefined;
    do {
      const page = await archive.runs.page(env, { ...query, timeRange: { cursor }, limit });
      expect(page.runs.length).to.be.at.most(limit);
      expect(page.stoppedEarly).to.equal(undefined);
      found.push(...idsOf(page.runs));
      cursor = page.next;
    } while (cursor);
    return found;
  }

  it('are listed newest first over all days, in pages of any size', async () => {
    const env = fresh();
    const ages = [1, 1, 1, 2, 30, 3 * 24, 3 * 24, 9 * 24, 29 * 24];
    const rows = ages.map((hours) => runRow({ env, at: now - hours * HOUR_MS }));
    await ship(...rows);
    for (let limit = 1; limit <= rows.length + 1; limit++) {
      expect(await allPages(env, {}, limit)).to.deep.equal(newestFirst(rows));
    }
  });

  it('are counted over time until the time is over, with the time before which some are missing', async () => {
    const env = fresh();
    await ship(runRow({ env, at: now - 3 * DAY_MS }), runRow({ env, at: now - DAY_MS }));
    const query = { env, functionIds: undefined, from: now - 4 * DAY_MS, stepMs: DAY_MS, intervals: 4 };
    const counted = { group: 'Completed', count: 1 };
    const all = await archive.runCounts.count(query, now, []);
    expect(all.counts).to.have.deep.members([
      { interval: 1, ...counted },
      { interval: 3, ...counted },
    ]);
    expect(all.since).to.equal(undefined);
    const other = await connectPostgres(archive.settings.schema);
    try {
      await other.query('BEGIN');
      await other.query('LOCK TABLE runs IN ACCESS EXCLUSIVE MODE');
      expect(await archive.runCounts.count(query, now, [], 500)).to.deep.equal({ counts: [], since: now });
    } finally {
      await other.end();
    }
  });

  it('are listed by function, status, time, and further conditions', async () => {
    const env = fresh();
    const statuses = ['Completed', 'Failed', 'Cancelled'] as const;
    const rows = Array.from({ length: 36 }, (_, i) =>
      runRow({
        env,
        at: now - i * 5 * HOUR_MS,
        functionId: `app-${i % 4}`,
        status: statuses[i % 3] ?? 'Failed',
        error: `e${i % 5}`,
      }),
    );
    await ship(...rows);
    const expected = (keep: (row: RunRow) => boolean) => newestFirst(rows.filter(keep));
    const of = (wanted: string[]) => (row: RunRow) => wanted.includes(row.functionId);
    expect(await allPages(env, { functionIds: ['app-1'] }, 2)).to.deep.equal(expected(of(['app-1'])));
    expect(await allPages(env, { functionIds: ['app-1', 'app-3', 'other'] }, 4)).to.deep.equal(
      expected(of(['app-1', 'app-3'])),
    );
    expect(await allPages(env, { functionIds: ['other'] }, 4)).to.deep.equal([]);
    expect(await allPages(env, { statuses: ['Failed'] }, 5)).to.deep.equal(
      expected(({ status }) => status === 'Failed'),
    );
    expect(await allPages(env, { statuses: ['Failed', 'Cancelled'] }, 5)).to.deep.equal(
      expected(({ status }) => status !== 'Completed'),
    );
    expect(await allPages(env, { statuses: [] }, 5)).to.deep.equal([]);
    const conditions = new Conditions().add('error = ?', 'e2');
    expect(await allPages(env, { conditions, statuses: ['Failed'] }, 1)).to.deep.equal(
      expected(({ status, error }) => status === 'Failed' && error === 'e2'),
    );
    const [after, before] = [(rows[20] as RunRow).at, (rows[10] as RunRow).at];
    const { runs, next } = await archive.runs.page(env, { timeRange: { after, before }, limit: 100 });
    expect(idsOf(runs)).to.deep.equal(expected(({ at }) => at >= after && at < before));
    expect(next).to.equal(undefined);
  });

  it('are read by ID, in the order of the IDs, however long after their event they were created', async () => {
    const env = fresh();
    const near = runRow({ env, at: now - 5 * DAY_MS });
    const late = runRow({ env, at: now - DAY_MS, id: ulid(now - 20 * DAY_MS), status: 'Failed' });
    await ship(near, late);
    const ids = [late.id, ulid(now), near.id, 'not an ID'];
    const runs = await archive.runs.readMany(env, ids);
    expect(idsOf(runs)).to.deep.equal([late.id, near.id]);
    expect(runs[1]).to.include({ env, status: 'Completed', output: '{"ok":true}', queuedAt: near.at });
    expect(await archive.runs.readMany(fresh(), ids)).to.deep.equal([]);
    expect([...(await archive.runs.outputSizes(env, ids))]).to.have.deep.members([
      [near.id, 11],
      [late.id, 0],
    ]);
    expect((await archive.runs.outputs(env, ids)).get(near.id)).to.equal('{"ok":true}');
  });

  it('are read by event, including those of its batches, in the order of creation', async () => {
    const env = fresh();
    const [a, b, none] = [ulid(now - 9 * DAY_MS), ulid(now - 9 * DAY_MS), ulid(now)];
    const first = runRow({ env, at: now - 9 * DAY_MS, eventId: a });
    const rerun = runRow({ env, at: now - 2 * DAY_MS, eventId: a, status: 'Failed' });
    const record = JSON.parse(runRow({ at: now - 8 * DAY_MS, eventId: b }).record);
    const batch = runRow({
      env,
      at: now - 8 * DAY_MS,
      eventId: b,
      batch: [b, a],
      record: JSON.stringify({ ...record, batch: b + a }),
    });
    await ship(rerun, batch, first);
    const briefs = await archive.runs.briefsByEvent(env, [a, none, b]);
    expect(briefs.map(idsOf)).to.deep.equal([[first.id, batch.id, rerun.id], [], [batch.id]]);
    expect(briefs[0]?.[2]).to.deep.equal({ id: rerun.id, functionId: 'app-fn', status: 'Failed' });
    expect(idsOf(await archive.runs.readByEvent(env, a))).to.deep.equal([first.id, batch.id, rerun.id]);
  });

  it('are hidden once the retention of their environment is over', async () => {
    const env = fresh();
    await archive.store.environments.create({ name: env, kind: 'named', createdAt: now, retentionDays: 5 }, 10);
    const old = runRow({ env, at: now - 6 * DAY_MS });
    const kept = runRow({ env, at: now - 4 * DAY_MS, eventId: old.eventId });
    await ship(old, kept);
    expect(await allPages(env, {}, 10)).to.deep.equal([kept.id]);
    expect(idsOf(await archive.runs.readMany(env, [old.id, kept.id]))).to.deep.equal([kept.id]);
    expect(idsOf(await archive.runs.readByEvent(env, old.eventId))).to.deep.equal([kept.id]);
  });

  it('are listed until the time is over, and the next page continues there', async () => {
    const env = fresh();
    const rows = [1, 50, 90].map((hours) => runRow({ env, at: now - hours * HOUR_MS }));
    await ship(...rows);
    // Slow for the second one alone.
    const conditions = new Conditions().add(
      'CASE WHEN id = ? THEN pg_sleep(?) IS NOT NULL ELSE true END',
      uuidOf(rows[1]),
      1,
    );
    const first = await archive.runs.page(env, { conditions, timeRange: {}, limit: 5, timeoutMs: 400 });
    expect(idsOf(first.runs)).to.deep.equal([rows[0]?.id]);
    expect(first.stoppedEarly).to.equal('time');
    const again = await archive.runs.page(env, {
      conditions,
      timeRange: { cursor: first.next },
      limit: 5,
      timeoutMs: 400,
    });
    expect(again.runs).to.deep.equal([]);
    const rest = await archive.runs.page(env, { timeRange: { cursor: again.next }, limit: 5 });
    expect(idsOf(rest.runs)).to.deep.equal([rows[1]?.id, rows[2]?.id]);
  });
});

function uuidOf(row: RunRow | undefined): string {
  return toUuid((row as RunRow).id);
}
