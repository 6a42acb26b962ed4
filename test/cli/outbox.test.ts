import { expect } from 'chai';
import type pg from 'pg';
import { ulid } from 'ulid';
import { cli, cliOk, startCli } from '../support/cli.ts';
import { connectPostgres, dropSchema, postgresUrl } from '../support/postgres.ts';
import { SECRETS, startService } from '../support/service.ts';
import { until } from '../support/until.ts';

describe('tidegate outbox', () => {
  const schema = `app_${ulid().toLowerCase()}`;
  const url = new URL(postgresUrl());
  url.searchParams.set('options', `-c search_path=${schema}`);
  const database = ['--database-url', url.href];
  let app: pg.Client;

  before(async () => {
    app = await connectPostgres(schema);
    await app.query(`create schema ${schema}`);
  });
  after(async () => {
    await app.end();
    await dropSchema(schema);
  });

  const json = async (...args: string[]) => (await cliOk(['outbox', ...args, ...database, '--json'])).json;
  const stateOf = async () => {
    const { rows } = await app.query('select position, state, sent_at, sends from tidegate_outbox order by position');
    return rows.map(({ position, state, sent_at, sends }) => [position, state, sent_at === null, sends.length]);
  };

  const add = async (event: object) => {
    await app.query(`insert into tidegate_outbox (event) values ($1)`, [JSON.stringify(event)]);
    await app.query('notify tidegate_outbox');
  };

  it('says how to make the tables if they are missing', async () => {
    const { exitCode, stderr } = await cli(['outbox', 'list', ...database]);
    expect(exitCode).to.equal(1);
    expect(stderr).to.include('tidegate outbox migrate --print');
  });

  it('prints the tables for the migrations of the app, and changes nothing', async () => {
    const { stdout } = await cliOk(['outbox', 'migrate', '--print']);
    expect((await app.query('select from pg_tables where schemaname = $1', [schema])).rowCount).to.equal(0);
    await app.query(stdout);
    const insert = `insert into tidegate_outbox (event, order_key, state, sent_at, sends, error, ended_at)
      select json_build_object('name', 'order/paid', 'id', $1::text), $2, $3, now(), '{a,b}', $4, now()`;
    for (const [id, key, state, error] of [
      ['A1', null, 'waiting', null],
      ['A2', 'k', 'refused', 'event 0, field "ts"'],
      ['A3', null, 'uncertain', 'too old\u001b[2J'],
      ['A4', null, 'acknowledged', null],
      ['A5', null, 'refused', 'x'.repeat(2_000)],
    ]) {
      await app.query(insert, [id, key, state, error]);
    }
    await app.query(
      `insert into tidegate_outbox (event, state) values ('{"name":"order/paid","id":"A6","data":{"text":"a\\u0000"}}', 'refused')`,
    );
  });

  it('lists events that wait for a person, or others', async () => {
    const listed = await json('list');
    expect(listed.map((row: { id: string; state: string }) => [row.id, row.state])).to.deep.equal([
      ['A2', 'refused'],
      ['A3', 'uncertain'],
      ['A5', 'refused'],
      ['A6', 'refused'],
    ]);
    expect(listed[0]).to.include({ position: '2', name: 'order/paid', order_key: 'k', sends: 2 });
    expect(listed[3]).to.include({ name: 'order/paid' });
    expect(listed[2].error).to.have.length(1_000);
    expect((await json('list', '--limit', '1')).length).to.equal(1);
    expect((await json('list', '--state', 'waiting')).map(({ id }: { id: string }) => id)).to.deep.equal(['A1']);
    const { stdout } = await cliOk(['outbox', 'list', ...database]);
    expect(stdout).to.match(/^2 +refused +order\/paid +A2 +k /m);
    expect(stdout).not.to.include('\u001b[2J');
  });

  it('sends refused and uncertain events again, as if for the first time, and drops them', async () => {
    const refused = await cli(['outbox', 'resend', '2', ...database]);
    expect([refused.exitCode, refused.stderr]).to.satisfy(
      ([code, text]: [number, string]) => code === 2 && text.includes('--yes'),
    );
    await app.query('listen tidegate_outbox');
    const woken = new Promise((resolve) => app.once('notification', resolve));
    expect(await json('resend', '2', '3', '--yes')).to.deep.equal({ positions: ['2', '3'] });
    await woken;
    const other = await cli(['outbox', 'drop', '1', '4', '5', '--yes', ...database]);
    expect([other.exitCode, other.stdout]).to.deep.equal([3, 'Removed: 5.\n']);
    expect(other.stderr).to.include('1, 4');
    expect(await stateOf()).to.deep.equal([
      ['1', 'waiting', false, 2],
      ['2', 'waiting', true, 0],
      ['3', 'waiting', true, 0],
      ['4', 'acknowledged', false, 2],
      ['6', 'refused', true, 0],
    ]);
    for (const position of ['0', '-1', 'x', '1;drop', '99999999999999999999']) {
      expect((await cli(['outbox', 'drop', '--yes', ...database, '--', position])).exitCode, position).to.equal(2);
    }
  });

  it('relays what transactions add, tells of what is refused, and ends in order', async () => {
    await app.query('truncate tidegate_outbox');
    const service = await startService({ dev: false });
    const relay = startCli(['outbox', 'relay', ...database], { service });
    try {
      await add({ name: 'order/paid', id: 'B1', data: { total: 1 } });
      await relay.prints(/^order\/paid {2}B1 {2}\S+$/m);
      await add({ name: 'order/paid', id: 'B2', data: { total: 2 }, ts: 'never' });
      await relay.prints('refused the event of row');
      await add({ name: 'order/paid', id: 'B3', data: {} });
      const printed = await relay.prints(/^order\/paid {2}B3 {2}\S+$/m);
      const [, internalId = ''] = /B1 {2}(\S+)/.exec(printed) ?? [];
      expect((await service.stored(internalId)).body.data).to.deep.include({ id: 'B1', data: { total: 1 } });
      relay.child.kill('SIGTERM');
      expect(await relay.exitCode).to.equal(0);
      const { rows } = await app.query("select event->>'id' as id, state, leased_until from tidegate_outbox");
      expect(rows).to.deep.equal([{ id: 'B2', state: 'refused', leased_until: null }]);
    } finally {
      relay.child.kill('SIGKILL');
      await relay.exitCode;
      await service.stop();
    }
  });

  it('relays an event that may have been sent long ago only if the service does not have it', async () => {
    await app.query('truncate tidegate_outbox');
    const service = await startService({ dev: false });
    const seed = `${Date.now()},${Buffer.alloc(10, 7).toString('base64')}`;
    const event = { name: 'order/paid', id: 'C1', data: {} };
    const headers = { 'x-service-event-id-seed': seed };
    const relay = startCli(['outbox', 'relay', ...database], { service });
    try {
      const { body } = await service.post(`/e/${SECRETS.EVENT_KEYS}`, [event], headers);
      await service.stored(body.ids[0]);
      await app.query(
        `insert into tidegate_outbox (event, sent_at, sends) select event, now() - interval '2 days', sends
          from (values ($1::json, $2::text[]), ($3::json, $4::text[])) as given (event, sends)`,
        [JSON.stringify(event), [`${seed},1`], JSON.stringify({ ...event, id: 'C2' }), [`${seed},2`]],
      );
      await relay.prints(/^order\/paid {2}C2 /m);
      const isEmpty = async () => (await app.query('select from tidegate_outbox')).rowCount === 0;
      await until(isEmpty, { describe: 'the outbox is empty' });
      expect(relay.stdout()).not.to.include('C1');
    } finally {
      relay.child.kill('SIGKILL');
      await relay.exitCode;
      await service.stop();
    }
  });

  it('relays nothing without the tables or an event key', async () => {
    const service = { TIDEGATE_API_KEY: 'a' };
    expect((await cli(['outbox', 'relay', ...database], { env: service })).stderr).to.include('TIDEGATE_EVENT_KEY');
    const elsewhere = new URL(url);
    elsewhere.searchParams.set('options', '-c search_path=nowhere');
    const { exitCode, stderr } = await cli(['outbox', 'relay', '--database-url', elsewhere.href]);
    expect([exitCode, stderr.includes('tidegate outbox migrate --print')]).to.deep.equal([1, true]);
  });

  it('needs a database that it can reach', async () => {
    expect((await cli(['outbox', 'list'])).stderr).to.include('DATABASE_URL');
    const away = await cli(['outbox', 'list', '--database-url', 'postgres://127.0.0.1:1/x']);
    expect([away.exitCode, away.stderr.includes('Postgres')]).to.deep.equal([5, true]);
  });
});
