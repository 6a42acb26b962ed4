import { expect } from 'chai';
import { Database } from '../../src/archive/database.ts';
import { OutboxRows } from '../../src/archive/outbox-rows.ts';
import { ServiceError } from '../../src/errors.ts';
import { removeSteps } from '../../src/jobs/outbox/duties.ts';
import { OutboxRelay, type OutboxRelayDeps } from '../../src/jobs/outbox/relay.ts';
import { createLog } from '../../src/log.ts';
import { readTopic } from '../conformance/cases.ts';
import { AppDatabase } from '../support/app-database.ts';

const TERMS = { env: 'production', eventMaxBytes: 500_000, eventMaxFutureMs: 1_000, retentionSeconds: 7 * 86_400 };
const HOUR_S = 3_600;
const ofClients = (name: string) =>
  readTopic<{ title: string; name: string; sql: string }>('postgres').cases.find((testCase) => testCase.name === name)
    ?.sql ?? '';
const MIB = 1_048_576;
const none = async () => new Set<string>();
const always = new AbortController().signal;

describe('A pass of the relay', () => {
  let app: AppDatabase;
  let database: Database;
  let rows: OutboxRows;
  before(async () => {
    app = await AppDatabase.create();
    database = new Database({ url: app.url, tlsVerify: true, poolSize: 4 }, createLog('silent', 'test'));
    rows = new OutboxRows(database);
  });
  afterEach(() => app.query('truncate tidegate_outbox'));
  after(async () => {
    await database.close();
    await app.remove();
  });

  const event = (id: string, data: object = {}) => ({ name: 'pass/x', id, data });
  /** @param accept gets the IDs of each portion */
  function relayThat(accept: (ids: string[]) => Promise<void>, deps: Partial<OutboxRelayDeps> = {}) {
    const acceptWithIds: OutboxRelayDeps['acceptor']['acceptWithIds'] = async (events) => {
      await accept(events.map((event) => event.event.id as string));
      return events.map(({ internalId }) => internalId);
    };
    const given = { rows, acceptor: { acceptWithIds }, acceptedEvents: { present: none }, terms: async () => TERMS };
    return new OutboxRelay({ ...given, ...deps });
  }
  const failure = (work: Promise<unknown>) =>
    work.then(
      () => expect.fail('it did not fail'),
      (error: Error) => error,
    );
  const left = async () => (await app.rows()).map((row) => [row.event?.id, row.sends.length]);

  it('leaves the rest for the next one when events cannot be accepted, with what may have been accepted in their rows', async () => {
    const large = { text: 'x'.repeat(400_000) };
    await app.add([event('a', large), event('b', large), event('c', large), event('d')], 'key');
    const sent: string[][] = [];
    const relay = relayThat(async (ids) => {
      sent.push(ids);
      if (sent.length === 2) throw new ServiceError('unavailable');
    });
    expect(await failure(relay.pass(always))).to.include({ code: 'unavailable' });
    expect(await left()).to.deep.equal([
      ['c', 1],
      ['d', 1],
    ]);
    expect(await relay.pass(always)).to.equal(false);
    expect(sent).to.deep.equal([
      ['a', 'b'],
      ['c', 'd'],
      ['c', 'd'],
    ]);
    expect(await left()).to.deep.equal([]);
  });

  it('leaves to the relay of an app what that has claimed, until it dies', async () => {
    await app.query(ofClients('relay_lock'));
    await app.add([event('claimed')]);
    await app.query("update tidegate_outbox set leased_until = now() + interval '1 hour'");
    const sent: string[] = [];
    const relay = relayThat(async (ids) => void sent.push(...ids));
    await relay.pass(always);
    expect(sent).to.deep.equal([]);
    await app.query('select pg_advisory_unlock_all()');
    await relay.pass(always);
    expect(sent).to.deep.equal(['claimed']);
  });

  it('takes back its claim on rows that it did not send', async () => {
    const large = { text: 'x'.repeat(400_000) };
    await app.add([event('a', large), event('b', large), event('c', large)]);
    const relay = relayThat(() => Promise.reject(new ServiceError('unavailable')));
    await failure(relay.pass(always));
    expect(await left()).to.deep.equal([
      ['a', 1],
      ['b', 1],
      ['c', 0],
    ]);
    const [unsent] = await app.query(
      'select sent_at, leased_until from tidegate_outbox order by position desc limit 1',
    );
    expect(unsent).to.deep.equal({ sent_at: null, leased_until: null });
  });

  it('sends neither what cannot be looked up, nor later events of its key, but all others', async () => {
    const old = "update tidegate_outbox set sent_at = now() - $1 * interval '1 second', sends = $2";
    await app.add([event('old')], 'key');
    await app.query(old, [25 * HOUR_S, [`${Date.now()},${Buffer.alloc(10).toString('base64')},1`]]);
    await app.add([event('after')], 'key');
    await app.add([event('other')], 'other key');
    await app.add([event('none')]);
    const sent: string[] = [];
    const accept = async (ids: string[]) => void sent.push(...ids);
    const away = async () => Promise.reject(new ServiceError('archive_unavailable'));
    const error = await failure(relayThat(accept, { acceptedEvents: { present: away } }).pass(always));
    expect(error).to.include({ code: 'archive_unavailable' });
    expect(sent).to.deep.equal(['other', 'none']);
    expect(await left()).to.deep.equal([
      ['old', 1],
      ['after', 0],
    ]);
    await relayThat(accept).pass(always);
    expect(sent).to.deep.equal(['other', 'none', 'old', 'after']);
  });

  it('shares the rows with others, and keeps the order of their keys', async () => {
    const sent: string[] = [];
    const accept = async (ids: string[]) => void sent.push(...ids);
    const relays = Array.from({ length: 4 }, () => relayThat(accept));
    // The first pass takes over from relays that died.
    for (const relay of relays) await relay.pass(always);
    const events = Array.from({ length: 120 }, (_, n) => event(`e${n}`, { n }));
    for (const one of events) await app.add([one], `key ${Number(one.id.slice(1)) % 3}`);
    while ((await app.rows()).length > 0) await Promise.all(relays.map((relay) => relay.pass(always)));
    expect(sent.toSorted()).to.deep.equal(events.map(({ id }) => id).toSorted());
    for (const key of [0, 1, 2]) {
      const ofKey = sent.map((id) => Number(id.slice(1))).filter((n) => n % 3 === key);
      expect(ofKey).to.deep.equal(ofKey.toSorted((a, b) => a - b));
    }
  });

  it('has few large events in memory at once, and none that is larger than permitted', async () => {
    const text = 'x'.repeat(MIB / 3 - 200);
    await app.add(Array.from({ length: 9 }, (_, n) => event(`e${n}`, { text })));
    await app.query(
      `insert into tidegate_outbox (event) select json_build_object('name', 'pass/x', 'id', 'huge', 'data', json_build_object('text', repeat('x', 50000000)))`,
    );
    const portions: number[] = [];
    await relayThat(async (ids) => void portions.push(ids.length)).pass(always);
    expect(portions).to.deep.equal([3, 3, 3]);
    const [huge] = await app.query('select state, error from tidegate_outbox');
    expect(huge).to.deep.include({ state: 'refused' });
  });

  it('removes the steps of runs that are gone after 30 days, and none while that cannot be told', async () => {
    const add = `insert into tidegate_steps (run_id, step_id, created_at) select '01' || lpad(n::text, 24, '0'), $1, now() - $2 * interval '1 day' from generate_series(1, 2500) as n`;
    await app.query(add, ['old', 31]);
    await app.query(add, ['young', 29]);
    const count = async (step: string) =>
      Number((await app.query('select count(*) from tidegate_steps where step_id = $1', [step]))[0]?.count);
    const deps = (present: (env: string, ids: readonly string[]) => Promise<Set<string>>) =>
      ({ outboxRows: rows, outboxEnvironment: 'staging', runs: { present } }) as never;
    await failure(
      removeSteps(
        deps(() => Promise.reject(new ServiceError('archive_unavailable'))),
        always,
      ),
    );
    expect(await count('old')).to.equal(2_500);
    const asked: number[] = [];
    const present = async (env: string, ids: readonly string[]) => {
      expect(env).to.equal('staging');
      asked.push(ids.length);
      return new Set(ids.filter((id) => id.endsWith('7')));
    };
    await removeSteps(deps(present), always);
    expect(asked).to.deep.equal([1_000, 1_000, 500]);
    expect([await count('old'), await count('young')]).to.deep.equal([250, 2_500]);
  });

  it('ends the removal of steps, whatever an app has as the ID of a run, and asks for IDs of runs alone', async () => {
    await app.query('truncate tidegate_steps');
    const run = '01KGAAAAAAAAAAAAAAAAAAAAAA';
    const add = `insert into tidegate_steps (run_id, step_id, created_at) select run, 's', now() - interval '31 days' from unnest($1::text[]) as run`;
    await app.query(add, [['', 'x'.repeat(65), 'x'.repeat(10_000), '~'.repeat(65), '{}:x', run.toLowerCase(), run]]);
    const asked: string[] = [];
    const present = async (_env: string, ids: readonly string[]) => {
      asked.push(...ids);
      if (asked.length > 1_000) throw new Error('the removal does not end');
      return new Set(ids);
    };
    const deps = { outboxRows: rows, outboxEnvironment: 'production', runs: { present } } as never;
    await removeSteps(deps, AbortSignal.timeout(30_000));
    expect(asked).to.deep.equal([run]);
    const left = await app.query<{ run_id: string }>('select run_id from tidegate_steps');
    expect(left.map(({ run_id }) => run_id)).to.have.members([
      ...['', run, 'x'.repeat(65), 'x'.repeat(10_000), '~'.repeat(65)],
    ]);
  });

  it('sends the other rows, whatever an app has written into one', async () => {
    await app.query('alter table tidegate_outbox alter column event drop not null, alter column sends drop not null');
    const broken = {
      forever: "sent_at = 'infinity'",
      always: "sent_at = '-infinity'",
      none: 'event = null',
      sends: 'sends = null',
      leased: "leased_until = '-infinity', created_at = 'infinity'",
    };
    for (const [id, change] of Object.entries(broken)) {
      await app.add([event(id)]);
      await app.query(`update tidegate_outbox set ${change} where event->>'id' = $1`, [id]);
    }
    await app.add([event('sound')], 'key');
    const sent: string[] = [];
    await relayThat(async (ids) => void sent.push(...ids)).pass(always);
    expect(sent).to.include('sound').and.to.include.members(['forever', 'sends', 'leased']);
    const states = (await app.rows()).map(({ state, event: of }) => [of?.id, state]);
    expect(states).to.deep.equal([
      ['always', 'uncertain'],
      [undefined, 'refused'],
    ]);
  });

  it('reads no event that has become too large since its claim', async () => {
    await app.add([event('grows')]);
    const [claimed] = await rows.claim('1767225600000,AAAAAAAAAAAAAA==', 1, 30);
    const position = claimed?.position as number;
    expect((await rows.texts([position], 1_000)).size).to.equal(1);
    await app.query('update tidegate_outbox set event = $1', [
      JSON.stringify(event('grows', { x: 'x'.repeat(2_000) })),
    ]);
    expect((await rows.texts([position], 1_000)).size).to.equal(0);
  });
});
