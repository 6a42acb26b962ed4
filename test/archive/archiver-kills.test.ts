import { expect } from 'chai';
import { runIdOf } from '../../src/model/runs/run.ts';
import { runArchiver } from '../support/killed-archiver.ts';
import { type OwnArchive, openArchive } from '../support/own-archive.ts';
import { envelope } from '../support/own-store.ts';
import { findKeys } from '../support/redis.ts';

const ENV = 'production';
const HOUR_MS = 3_600_000;
const NOW = Date.now();
const LONG_AGO = NOW - 5 * HOUR_MS;
/** Keys other than what is left of an event with an active run, and of any. */
const NOT_LEFT =
  /^:(?!(run|active-runs|runs|event-runs|overflow-event|events-in-use|event-names|event-sources|lock|partition-layout)\b)/;

describe('An archiver that is killed', () => {
  let archive: OwnArchive;

  before(async () => {
    archive = await openArchive({ HOT_HOURS: '1' });
  });

  after(() => archive.close());

  /** Stores events as an ingest job does: one has no run, one a completed run, one a failed one, one an active one.
   *  @returns their IDs, and those of the runs that have ended */
  async function addEvents(number: number) {
    const { events, runs, decisions } = archive.store;
    const at = LONG_AGO + 1_000 * number;
    const envelopes = ['none', 'completed', 'failed', 'active'].map((name) =>
      envelope({ name, data: { number }, id: `${name}-${number}` }, { receivedAt: at }),
    );
    const stored = await events.storeNew(envelopes);
    const of = envelopes.slice(1).map(({ internalId, requestId }) => ({
      id: runIdOf(archive.store.ids, internalId, 'app-fn'),
      env: ENV,
      functionId: 'app-fn',
      eventId: internalId,
      requestId,
      queuedAt: at,
      reconcileAt: NOW + HOUR_MS,
    }));
    await runs.create(of);
    await events.markIngested(stored, Date.now());
    const [none] = envelopes;
    const decision = { env: ENV, eventId: none?.internalId as string, functionId: 'app-fn', reason: 'paused' as const };
    await decisions.add([decision], Date.now());
    const [completed, failed] = of as [(typeof of)[0], (typeof of)[0]];
    await runs.end(completed, { status: 'Completed', output: '{"a":1}' }, Date.now());
    await runs.end(failed, { status: 'Failed', error: { name: 'Error', message: 'no' } }, Date.now());
    return { eventIds: envelopes.map(({ internalId }) => internalId), runIds: [completed.id, failed.id] };
  }

  it('at any moment loses and duplicates nothing, and the next one continues', async function () {
    this.timeout(600_000);
    const all: Awaited<ReturnType<typeof addEvents>>[] = [];
    const [moments, every] = process.env.TEST_ALL ? [['before', 'after'], 1] : [['after'], 5];
    for (const moment of moments) {
      for (let write = 1; ; write += every) {
        all.push(await addEvents(all.length));
        const ended = await runArchiver(archive, String(write), moment);
        await checkReaders(all);
        if (ended !== undefined) break;
      }
    }
    await runArchiver(archive);
    const { database, store } = archive;
    const ids = async (table: string) => (await database.query<{ id: string }>(`SELECT id::text FROM ${table}`)).length;
    expect(await ids('events')).to.equal(4 * all.length);
    expect(await ids('runs')).to.equal(2 * all.length);
    const [counted] = await database.query<{ sum: string }>('SELECT sum(count)::text AS sum FROM event_counts');
    expect(Number(counted?.sum)).to.equal(4 * all.length);
    const [decided] = await database.query<{ count: number }>(
      'SELECT count(*) AS count FROM events WHERE decisions IS NOT NULL',
    );
    expect(decided?.count).to.equal(all.length);
    expect(await findKeys(store.redis, store.prefix, NOT_LEFT)).to.deep.equal([]);
    const copies = await findKeys(store.redis, store.prefix, /^:overflow-event:/);
    expect(copies, 'a copy for each active run').to.have.length(all.length);
  });

  /** Whoever reads now sees everything once. */
  async function checkReaders(all: readonly { eventIds: string[]; runIds: string[] }[]): Promise<void> {
    const { events, eventLists, runs } = archive.history;
    const eventIds = all.flatMap((item) => item.eventIds);
    const seen: string[] = [];
    for (let cursor: { at: number; id: string } | undefined; ; ) {
      const timeRange = cursor ? { cursor } : {};
      const page = await eventLists.list({ env: ENV, timeRange, limit: 7 }, Date.now());
      seen.push(...page.events.map(({ internal_id }) => internal_id));
      if (!page.next) break;
      cursor = page.next;
    }
    expect(seen.toSorted()).to.deep.equal(eventIds.toSorted());
    expect((await events.readMany(ENV, eventIds)).length).to.equal(eventIds.length);
    const runIds = all.flatMap((item) => item.runIds);
    expect((await runs.readMany(ENV, runIds)).map(({ id }) => id).toSorted()).to.deep.equal(runIds.toSorted());
  }
});
