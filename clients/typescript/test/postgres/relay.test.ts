import { expect } from 'chai';
import fc from 'fast-check';
import { Tidegate } from 'tidegate';
import { databaseOf } from '../../src/postgres/adapters.ts';
import { type BatchOptions, sendBatch } from '../../src/postgres/batch.ts';
import { forgetRows, forgetSteps } from '../../src/postgres/clean-up.ts';
import { outbox } from '../../src/postgres/outbox.ts';
import { BATCH, createTables, dyingAt, FakeService, type Fault, type Tables } from './bed.ts';

const shop = new Tidegate({ id: 'shop' });

describe('A relay of the outbox', () => {
  let tables: Tables;
  let service: FakeService;
  before(async () => {
    tables = await createTables('test_outbox_relay');
  });
  beforeEach(async () => {
    await tables.empty();
    service = new FakeService();
  });
  after(() => tables.drop());

  const batch = (options: Partial<BatchOptions> = {}) =>
    sendBatch(databaseOf(tables.pool), service, { ...BATCH, ...options });
  const waiting = () =>
    tables.column("select event->>'id' from tidegate_outbox where state = 'waiting' order by position");

  async function commit(ids: readonly string[], orderKey?: string, name = 'order/paid'): Promise<void> {
    const client = await tables.pool.connect();
    await client.query('begin');
    const events = ids.map((id) => ({ name, id, data: {} }));
    await outbox(client, shop, events, orderKey === undefined ? {} : { orderKey });
    await client.query('commit');
    client.release();
  }

  async function pass(hours: number): Promise<void> {
    await tables.pass(hours);
    service.pass(hours);
  }

  it('sends what has committed, oldest first, and deletes it', async () => {
    await commit(['a', 'b']);
    await commit(['c']);
    expect(await batch()).to.deep.equal({ claimed: 3, refused: [], uncertain: [] });
    expect(service.accepted).to.deep.equal(['a', 'b', 'c']);
    expect(await tables.column('select count(*)::int from tidegate_outbox')).to.deep.equal([0]);
  });

  it('keeps acknowledged rows where it is asked to, with the internal IDs of their events, for some days', async () => {
    await commit(['a']);
    await batch({ keepsRows: true });
    expect(await tables.column('select state from tidegate_outbox')).to.deep.equal(['acknowledged']);
    const [eventId] = (await tables.column('select event_id from tidegate_outbox')) as string[];
    expect(await service.findEvents([eventId as string])).to.deep.equal(new Set([eventId]));
    await forgetRows(databaseOf(tables.pool), 2);
    expect(await tables.column('select state from tidegate_outbox')).to.deep.equal(['acknowledged']);
    await pass(49);
    await forgetRows(databaseOf(tables.pool), 2);
    expect(await tables.column('select state from tidegate_outbox')).to.deep.equal([]);
  });

  for (const when of ['before', 'after'] as const) {
    for (const [statement, name] of [
      [1, 'claim'],
      [2, 'deletion'],
    ] as const) {
      it(`that dies ${when} its ${name} loses nothing, and the next one sends each event once`, async () => {
        await commit(['a', 'b'], 'key');
        await commit(['c']);
        const dying = dyingAt(databaseOf(tables.pool), { statement, when });
        expect(await sendBatch(dying, service, BATCH).catch((error) => error.message)).to.equal('the process died');
        await pass(0.01);
        await batch();
        expect(service.accepted).to.deep.equal(['a', 'b', 'c']);
        expect(await waiting()).to.deep.equal([]);
      });
    }
  }

  it('that was down for 25 hours after it had sent makes no duplicate', async () => {
    await commit(['a', 'b']);
    await sendBatch(dyingAt(databaseOf(tables.pool), { statement: 2, when: 'before' }), service, BATCH).catch(() => {});
    await pass(25);
    await commit(['c']);
    expect(await batch()).to.include({ claimed: 3 });
    expect(service.received).to.deep.equal(['a', 'b', 'c']);
    expect(await waiting()).to.deep.equal([]);
  });

  it('that was down for 25 hours before it could send sends', async () => {
    await commit(['a']);
    service.fault = 'away';
    await batch();
    await pass(25);
    service.fault = 'none';
    await batch();
    expect(service.accepted).to.deep.equal(['a']);
  });

  it('does not guess whether the service had an event after the retention of events', async () => {
    await commit(['a'], 'key');
    service.fault = 'response lost';
    await batch();
    await pass(8 * 24);
    service.fault = 'none';
    await commit(['b'], 'key');
    const { uncertain } = await batch();
    expect(uncertain).to.have.length(1);
    expect(await tables.column("select event->>'id' from tidegate_outbox where state = 'uncertain'")).to.deep.equal([
      'a',
    ]);
    expect(await tables.column('select error from tidegate_outbox')).to.match(/first sent 8 days ago/);
    expect(service.accepted).to.deep.equal(['a', 'b']);
  });

  it('waits with what it would have to look up, and with its key, while the service cannot tell', async () => {
    await commit(['a'], 'key');
    service.fault = 'response lost';
    await batch();
    await pass(25);
    Object.assign(service, { fault: 'none', canTell: false });
    await commit(['b'], 'key');
    await commit(['c']);
    expect(await batch()).to.include({ failure: 'it cannot tell' });
    expect(service.received).to.deep.equal(['a', 'c']);
    service.canTell = true;
    await pass(0.01);
    await batch();
    expect(service.accepted).to.deep.equal(['a', 'c', 'b']);
    expect(await waiting()).to.deep.equal([]);
  });

  it('sets aside the event that the service refuses, and sends all others', async () => {
    await commit(['a', 'b', 'c'], 'key');
    await commit(['bad'], 'key', 'refused');
    await commit(['d', 'e'], 'key');
    const { refused } = await batch();
    expect(refused.map(({ error }) => error)).to.deep.equal(['an event is invalid']);
    expect(service.accepted).to.deep.equal(['a', 'b', 'c', 'd', 'e']);
    expect(await tables.column("select event->>'id' from tidegate_outbox where state = 'refused'")).to.deep.equal([
      'bad',
    ]);
  });

  it('gives back the rows of a send that failed', async () => {
    await commit(['a', 'b', 'c', 'd']);
    service.fault = 'half accepted';
    expect(await batch()).to.include({ claimed: 4, failure: 'no response' });
    expect(await waiting()).to.deep.equal(['c', 'd']);
    service.fault = 'none';
    await batch();
    expect(service.accepted).to.deep.equal(['a', 'b', 'c', 'd']);
  });

  it('gives back rows when it closes', async () => {
    await commit(['a']);
    await batch({ closing: () => true });
    expect(service.received).to.deep.equal([]);
    expect(await tables.column('select leased_until from tidegate_outbox')).to.deep.equal([null]);
  });

  it('and another one at the same time send each event once, and those of a key in order', async () => {
    const ids = Array.from({ length: 300 }, (_, n) => `${n}`);
    for (const id of ids) await commit([id], Number(id) % 3 === 0 ? undefined : `key-${Number(id) % 5}`);
    const work = async () => {
      while ((await waiting()).length > 0) await batch({ limit: 7 });
    };
    await Promise.all([work(), work()]);
    expect([...service.received].sort()).to.deep.equal([...ids].sort());
    for (const key of [0, 1, 2, 3, 4]) {
      const ofKey = (all: string[]) => all.filter((id) => Number(id) % 3 !== 0 && Number(id) % 5 === key);
      expect(ofKey(service.accepted)).to.deep.equal(ofKey(ids));
    }
  });

  it('does not let the later rows of a key pass an earlier row that another relay sends', async () => {
    await commit(['a'], 'key');
    await sendBatch(dyingAt(databaseOf(tables.pool), { statement: 1, when: 'after' }), service, BATCH).catch(() => {});
    await commit(['b'], 'key');
    await commit(['c'], 'other');
    await batch();
    expect(service.accepted).to.deep.equal(['c']);
  });

  it('deletes the steps of earlier runs that the service no longer has, and none if it cannot tell', async () => {
    const db = databaseOf(tables.pool);
    const insert = (run: string) => tables.pool.query("insert into tidegate_steps values ($1, 's', '1')", [run]);
    const left = () => tables.column('select run_id from tidegate_steps order by run_id');
    await insert('gone');
    await insert('there');
    // The service looks up no text of this length.
    const long = 'x'.repeat(65);
    await insert(long);
    await pass(31 * 24);
    await insert('new');
    service.runs.add('there');
    service.canTell = false;
    expect(await forgetSteps(db, service, 30).catch((error) => error.message)).to.equal('it cannot tell');
    expect(await left()).to.deep.equal(['gone', 'new', 'there', long]);
    service.canTell = true;
    await forgetSteps(db, service, 30);
    expect(await left()).to.deep.equal(['new', 'there', long]);
  });

  it('makes each committed event count once, in any order of commits, crashes, faults and time', async function () {
    this.timeout(300_000);
    const fault = fc.constantFrom<Fault>('none', 'away', 'response lost', 'half accepted');
    const act = fc.oneof(
      fc.record({
        act: fc.constant('commit' as const),
        key: fc.option(fc.constantFrom('k', 'l')),
        count: fc.integer({ min: 1, max: 3 }),
      }),
      fc.record({ act: fc.constant('rollback' as const) }),
      fc.record({ act: fc.constant('batch' as const), fault, limit: fc.integer({ min: 1, max: 4 }) }),
      fc.record({
        act: fc.constant('crash' as const),
        fault,
        statement: fc.constantFrom(1, 2),
        when: fc.constantFrom('before' as const, 'after' as const),
      }),
      fc.record({ act: fc.constant('pass' as const), hours: fc.constantFrom(0.01, 1, 22, 25) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(act, { maxLength: 14 }), async (acts) => {
        await tables.empty();
        service = new FakeService();
        const committed: { id: string; key: string | null }[] = [];
        for (const one of acts) {
          if (one.act === 'commit') {
            const ids = Array.from({ length: one.count }, () => `e${committed.push({ id: '', key: one.key })}`);
            committed.slice(-one.count).forEach((row, n) => {
              row.id = ids[n] as string;
            });
            await commit(ids, one.key ?? undefined);
          } else if (one.act === 'rollback') {
            const client = await tables.pool.connect();
            await client.query('begin');
            await outbox(client, shop, { name: 'x', id: 'rolled back', data: {} });
            await client.query('rollback');
            client.release();
          } else if (one.act === 'pass') await pass(one.hours);
          else {
            service.fault = one.fault;
            if (one.act === 'batch') await batch({ limit: one.limit });
            else await sendBatch(dyingAt(databaseOf(tables.pool), one), service, BATCH).catch(() => {});
          }
        }
        service.fault = 'none';
        while ((await waiting()).length > 0) {
          await pass(0.01);
          await batch();
        }
        expect([...service.accepted].sort()).to.deep.equal(committed.map(({ id }) => id).sort());
        for (const key of ['k', 'l']) {
          const ids = committed.filter((row) => row.key === key).map(({ id }) => id);
          expect(service.accepted.filter((id) => ids.includes(id))).to.deep.equal(ids);
        }
        expect(await tables.column('select state from tidegate_outbox')).to.deep.equal([]);
      }),
      { numRuns: process.env.TEST_ALL ? 500 : 60 },
    );
  });
});
