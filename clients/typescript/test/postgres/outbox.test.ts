import { expect } from 'chai';
import { encryption, type Middleware, type OutgoingEvent, Tidegate } from 'tidegate';
import { outbox, type Relay, relay, senderOf } from 'tidegate/postgres';
import { z } from 'zod';
import { type Service, startService } from '../../../../test/support/service.ts';
import { until } from '../../../../test/support/until.ts';
import type { OneOrMany } from '../../src/events.ts';
import { databaseOf } from '../../src/postgres/adapters.ts';
import { sendBatch } from '../../src/postgres/batch.ts';
import { startRelay as startSharedRelay } from '../../src/postgres/relay.ts';
import { RELAY_LOCK } from '../../src/postgres/statements.ts';
import { BATCH, createTables, dyingAt, type Tables } from './bed.ts';

const shop = new Tidegate({ id: 'shop' });

describe('The outbox of the TypeScript client', () => {
  let tables: Tables;
  let service: Service;
  before(async () => {
    [tables, service] = await Promise.all([createTables('test_outbox_pg'), startService()]);
  });
  beforeEach(() => tables.empty());
  after(async () => {
    await service.stop();
    await tables.drop();
  });

  const relays: Relay[] = [];
  afterEach(async () => {
    for (const one of relays.splice(0)) await one.close();
  });
  const lines: string[] = [];
  const logger = {
    debug() {},
    info: (line: string) => lines.push(line),
    warn: (line: string) => lines.push(line),
    error: (line: string) => lines.push(line),
  };

  function startRelay(baseUrl = service.url, pool = tables.pool): Relay {
    const client = new Tidegate({ id: 'shop', isDev: true, baseUrl, logger });
    const one = relay(client, pool);
    relays.push(one);
    return one;
  }

  async function within(end: 'commit' | 'rollback', ...events: OneOrMany<OutgoingEvent>[]): Promise<string[]> {
    const client = await tables.pool.connect();
    try {
      await client.query('begin');
      await client.query('insert into orders values (gen_random_uuid()::text)');
      const ids: string[] = [];
      for (const event of events) ids.push(...(await outbox(client, shop, event)));
      await client.query(end);
      return ids;
    } finally {
      client.release();
    }
  }

  /** Deduplication IDs of the stored events of this name. */
  async function stored(name: string): Promise<string[]> {
    const { body } = await service.get(`/v1/events?name=${name}`);
    return body.data.map((event: { id: string }) => event.id);
  }

  const storedAre = (name: string, count: number) =>
    until(async () => (await stored(name)).length === count, { describe: `${count} events ${name} are stored` });

  it('sends what has committed and not what was rolled back', async () => {
    startRelay();
    await within('rollback', { name: 'outbox/a', id: 'no', data: {} });
    const ids = await within('commit', { name: 'outbox/a', data: { n: 1 } }, [
      { name: 'outbox/a', id: 'own', data: {} },
    ]);
    expect(ids[1]).to.equal('own');
    await storedAre('outbox/a', 2);
    expect(new Set(await stored('outbox/a'))).to.deep.equal(new Set(ids));
    await until(async () => (await tables.column('select 1 from tidegate_outbox')).length === 0, {
      describe: 'the outbox is empty',
    });
  });

  it('keeps any JSON as it is, with NUL and half a surrogate pair', async () => {
    const data = { text: 'a\u0000b\ud800', n: 1.5, deep: [{ ü: null }] };
    await within('commit', { name: 'outbox/b', data });
    const [text] = (await tables.column('select event::text from tidegate_outbox')) as string[];
    expect(JSON.parse(text as string).data).to.deep.equal(data);
  });

  it('has events as the schemas and the middleware of the client leave them, and any relay sends them as they are', async () => {
    const key = '0123456789abcdef0123456789abcdef';
    const schemas = { 'outbox/i': z.object({ total: z.number().default(7), encrypted: z.string() }) };
    let calls = 0;
    const counting: Middleware = {
      name: 'counting',
      onSend(send, next) {
        calls += 1;
        for (const event of send.events) event.user = { tenant: 'a' };
        return next();
      },
    };
    const own = new Tidegate({
      id: 'shop',
      isDev: true,
      baseUrl: service.url,
      schemas,
      middleware: [counting, encryption({ key })],
    });
    const client = await tables.pool.connect();
    const [id] = await outbox(client, own, { name: 'outbox/i', data: { encrypted: 'secret' } });
    const wrong = outbox(client, own, { name: 'outbox/i', data: { encrypted: 1 as unknown as string } });
    expect(await wrong.catch((error) => error.name)).to.equal('InvalidEventError');
    client.release();
    const [text] = (await tables.column('select event::text from tidegate_outbox')) as string[];
    const written = JSON.parse(text as string);
    expect(text).not.to.contain('secret');
    expect(written).to.deep.include({ id, name: 'outbox/i', user: { tenant: 'a' } });
    expect(written.data.total).to.equal(7);
    relays.push(relay(own, tables.pool));
    await storedAre('outbox/i', 1);
    const { body } = await service.get('/v1/events?name=outbox/i');
    expect(body.data[0].data).to.deep.equal(written.data);
    expect(calls).to.equal(1);
  });

  it('adds nothing if an event has no name, no object as data, or is too large', async () => {
    const client = await tables.pool.connect();
    for (const [event, message] of [
      [{ data: {} }, 'needs a name'],
      [{ name: 'a', data: [] }, 'must be an object'],
      [{ name: 'a', data: { text: 'x'.repeat(600_000) } }, 'at most 524286'],
    ] as const) {
      const events = [{ name: 'fine', data: {} }, event] as OneOrMany<OutgoingEvent>;
      const error = await outbox(client, shop, events).catch((thrown) => thrown);
      expect(error).to.have.property('name', 'InvalidEventError');
      expect(error.message).to.contain(message);
    }
    client.release();
    expect(await tables.column('select 1 from tidegate_outbox')).to.deep.equal([]);
  });

  it('takes more events than fit into a statement, in their order', async () => {
    const events = Array.from({ length: 2_001 }, (_, n) => ({ name: 'a', id: String(n), data: {} }));
    const client = await tables.pool.connect();
    expect(await outbox(client, shop, events, { orderKey: 'k' })).to.deep.equal(events.map(({ id }) => id));
    client.release();
    const ids = await tables.column("select event->>'id' from tidegate_outbox where order_key = 'k' order by position");
    expect(ids).to.deep.equal(events.map(({ id }) => id));
  });

  it('refuses a pool, which has no transaction, a misspelled option, and what is of no library', async () => {
    const event = { name: 'a', data: {} };
    const failure = (tx: unknown, ...given: unknown[]) =>
      (outbox as (...given: unknown[]) => Promise<unknown>)(tx, shop, ...given).catch((error) => error.message);
    expect(await failure(tables.pool, event)).to.match(/what begins one, of pg/);
    expect(await failure(tables.pool, event, { order_key: 'a' })).to.match(/did you mean "orderKey"/);
    expect(await failure({}, event)).to.match(
      /Expected a pool or transaction of Prisma, Kysely, postgres.js, Knex, Drizzle, pg/,
    );
  });

  it('says how to make its tables where they are missing', async () => {
    const client = await tables.pool.connect();
    await client.query('begin');
    await client.query("set local search_path = ''");
    const error = await outbox(client, shop, { name: 'a', data: {} }).catch((thrown) => thrown);
    expect(error.message).to.match(/tidegate outbox migrate --print/);
    await client.query('rollback');
    client.release();
  });

  it('sends by one instance of the app at a time, and by another when that dies', async () => {
    const locks = () =>
      tables.column(
        "select pid from pg_locks where locktype = 'advisory' and granted and classid = hashtext('tidegate_outbox')::oid and objid = hashtext(to_regclass('tidegate_outbox')::oid::text)::oid",
      );
    startRelay();
    await until(async () => (await locks()).length === 1, { describe: 'a relay has the lock' });
    startRelay();
    const [pid] = await locks();
    await tables.pool.query('select pg_terminate_backend($1)', [pid]);
    await until(
      async () => {
        const [other] = await locks();
        return other !== undefined && other !== pid;
      },
      { describe: 'another relay has the lock' },
    );
    await within('commit', { name: 'outbox/c', id: 'after', data: {} });
    await storedAre('outbox/c', 1);
  });

  it('sends at once what a relay that died with the lock had claimed', async () => {
    await within('commit', { name: 'outbox/f', id: 'claimed', data: {} });
    await tables.pool.query("update tidegate_outbox set leased_until = now() + interval '1 hour'");
    startRelay();
    await storedAre('outbox/f', 1);
  });

  it('that shares its rows with others sends what the relay of the app had claimed once that is dead, and not before', async () => {
    const app = await tables.pool.connect();
    await app.query(RELAY_LOCK);
    await within('commit', { name: 'outbox/h', id: 'shared, claimed', data: {} });
    await tables.pool.query("update tidegate_outbox set leased_until = now() + interval '1 hour'");
    const client = new Tidegate({ id: 'shop', isDev: true, baseUrl: service.url, logger });
    relays.push(startSharedRelay(databaseOf(tables.pool), senderOf(client), logger, { lock: false }));
    await within('commit', { name: 'outbox/h', id: 'shared, free', data: {} });
    await storedAre('outbox/h', 1);
    expect(await stored('outbox/h')).to.deep.equal(['shared, free']);
    await app.query('select pg_advisory_unlock_all()');
    app.release();
    await storedAre('outbox/h', 2);
  });

  it('of another schema of the database has a relay of its own', async () => {
    const others = await createTables('test_outbox_pg_other');
    try {
      startRelay();
      startRelay(service.url, others.pool);
      const client = await others.pool.connect();
      await outbox(client, shop, { name: 'outbox/g', id: 'other', data: {} });
      client.release();
      await within('commit', { name: 'outbox/g', id: 'first', data: {} });
      await storedAre('outbox/g', 2);
    } finally {
      for (const one of relays.splice(0)) await one.close();
      await others.drop();
    }
  });

  it('continues when the service is back, and tells what waits', async () => {
    const away = startRelay('http://127.0.0.1:1');
    lines.length = 0;
    await within('commit', { name: 'outbox/d', id: 'late', data: {} });
    await until(() => lines.some((line) => line.includes('events wait')), {
      describe: 'the log says that events wait',
    });
    expect(await away.status()).to.include({ waiting: 1, refused: 0, uncertain: 0 });
    await relays.shift()?.close();
    startRelay();
    await storedAre('outbox/d', 1);
  });

  it('looks up what it sent more than 23 hours ago, and does not send it again', async () => {
    await within('commit', { name: 'outbox/e', id: 'sent', data: {} });
    const db = databaseOf(tables.pool);
    const sender = senderOf(new Tidegate({ id: 'shop', isDev: true, baseUrl: service.url }));
    await sendBatch(dyingAt(db, { statement: 2, when: 'before' }), sender, BATCH).catch(() => {});
    await storedAre('outbox/e', 1);
    await tables.pass(25);
    const send = () => Promise.reject(new Error('it was sent again'));
    expect(await sendBatch(db, { ...sender, send }, BATCH)).to.deep.equal({ claimed: 1, refused: [], uncertain: [] });
    expect(await tables.column('select 1 from tidegate_outbox')).to.deep.equal([]);
  });
});
