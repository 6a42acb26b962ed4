import { expect } from 'chai';
import { ulid } from 'ulid';
import { parseSeed, type Seed, seededId } from '../../src/model/ids.ts';
import { AppDatabase } from '../support/app-database.ts';
import { PostgresProxy } from '../support/postgres-proxy.ts';
import { scrape } from '../support/scrape.ts';
import { type Service, startService } from '../support/service.ts';
import { until } from '../support/until.ts';

interface Listed {
  internal_id: string;
  id: string;
  source: string;
  data: { n?: number };
  duplicates: number;
}

const SEED = `${Date.now()},${Buffer.alloc(10, 9).toString('base64')}`;
const DAY_S = 86_400;

describe('A worker with OUTBOX_DATABASE_URL', () => {
  let app: AppDatabase;
  let proxy: PostgresProxy;
  let service: Service;
  before(async () => {
    app = await AppDatabase.create();
    proxy = await PostgresProxy.start();
    service = await startService({
      env: { OUTBOX_DATABASE_URL: app.urlAt(proxy.url), EVENT_MAX_BYTES: '20000', METRICS_PORT: '0' },
    });
  });
  after(async () => {
    await service?.stop();
    await proxy?.stop();
    await app?.remove();
  });

  const isEmpty = () => until(async () => (await app.rows()).length === 0, { describe: 'everything is sent' });
  async function eventsOf(name: string, count: number): Promise<Listed[]> {
    const path = `/v1/events?name=${name}&limit=100`;
    return (await service.waitFor(path, ({ body }) => body.data.length === count)).body.data.toReversed();
  }
  /** Rows that were sent before, so long ago. */
  async function addSent(name: string, ids: readonly string[], secondsAgo: number, sends: readonly string[]) {
    for (const id of ids) {
      await app.query(
        `insert into tidegate_outbox (event, sent_at, sends) values ($1, now() - $2 * interval '1 second', $3)`,
        [JSON.stringify({ name, id, data: {} }), secondsAgo, sends],
      );
    }
    await app.query("notify tidegate_outbox, ''");
  }

  it('accepts the events of a committed transaction once, and none of a transaction that was rolled back', async () => {
    await app.query('begin');
    await app.add([{ name: 'outbox/paid', id: 'no', data: {} }]);
    await app.query('rollback');
    await app.query('begin');
    await app.add([
      { name: 'outbox/paid', id: 'p1', data: { n: 1 } },
      { name: 'outbox/paid', id: 'p2', data: { n: 2 } },
      { name: 'outbox/paid', id: 'p1', data: { n: 3 } },
    ]);
    await app.query('commit');
    await isEmpty();
    const found = await eventsOf('outbox/paid', 2);
    expect(found.map(({ id, source, data }) => [id, source, data.n])).to.deep.equal([
      ['p1', 'outbox', 1],
      ['p2', 'outbox', 2],
    ]);
    await service.waitFor(`/v1/events/${found[0]?.internal_id}`, ({ body }) => body.data.duplicates === 1);
  });

  it('keeps the order of a key over many sends', async () => {
    const events = Array.from({ length: 60 }, (_, n) => ({ name: 'outbox/ordered', id: `o${n}`, data: { n } }));
    for (const event of events) await app.add([event], 'account-1');
    await isEmpty();
    const found = await eventsOf('outbox/ordered', 60);
    const byId = found.toSorted((a, b) => (a.internal_id < b.internal_id ? -1 : 1));
    expect(byId.map(({ data }) => data.n)).to.deep.equal(events.map((_, n) => n));
  });

  it('keeps all digits of numbers', async () => {
    await app.query(
      `insert into tidegate_outbox (event) values ('{"name":"outbox/digits","id":"d","data":{"n":12345678901234567890.12}}')`,
    );
    await app.query("notify tidegate_outbox, ''");
    await isEmpty();
    const [event] = await eventsOf('outbox/digits', 1);
    const response = await fetch(`${service.url}/v1/events/${event?.internal_id}`);
    expect(await response.text()).to.include('12345678901234567890.12');
  });

  it('refuses what it would refuse from a sender, row by row, and says why in the row', async () => {
    const refused: [unknown, string][] = [
      [{ name: 'outbox/x', id: 'large', data: { text: 'x'.repeat(30_000) } }, '20000'],
      [{ name: 'tidegate/function.failed', id: 'own', data: {} }, 'reserved'],
      [{ name: 'inngest/function.failed', id: 'own2', data: {} }, 'reserved'],
      [{ id: 'nameless', data: {} }, '"name"'],
      [{ name: 'outbox/x', id: 'wrong', data: [] }, '"data"'],
      [{ name: 'outbox/x', id: 'far', data: {}, ts: Date.UTC(2099, 0, 1) }, '"ts"'],
      [{ name: 'outbox/x', data: {} }, 'id'],
      [[{ name: 'outbox/x', id: 'array', data: {} }], 'array'],
      ['text', 'text'],
      [null, 'null'],
      [{ name: 'outbox/x\u0000', id: 7, data: {} }, '"id"'],
    ];
    const good = (n: number) => ({ name: 'outbox/good', id: `g${n}`, data: { n } });
    await app.add([good(0), ...refused.flatMap(([event], n) => [event, good(n + 1)])], 'one key');
    await eventsOf('outbox/good', refused.length + 1);
    await until(async () => (await app.rows()).length === refused.length, { describe: 'the others are gone' });
    const rows = await app.rows();
    for (const [n, [event, expected]] of refused.entries()) {
      const what = JSON.stringify(event)?.slice(0, 100);
      expect(rows[n]?.state, what).to.equal('refused');
      expect(rows[n]?.error, what).to.include(expected);
    }
    expect((await service.get('/v1/events?name=outbox/x')).body.data).to.deep.equal([]);
    await app.query('delete from tidegate_outbox');
  });

  it('looks up what was sent before the deduplication window, and sends it again only if it did not arrive', async () => {
    const name = 'outbox/old';
    const accepted = await service.post(
      '/e/key',
      { name, id: 'was-accepted', data: {} },
      { 'x-service-event-id-seed': SEED },
    );
    expect(accepted.body.ids).to.deep.equal([seededId(parseSeed(SEED) as Seed, 1)]);
    await service.stored(accepted.body.ids[0]);
    const lost = `${Date.now()},${Buffer.alloc(10, 1).toString('base64')},1`;
    // Without the look-up this would be a second event: its deduplication ID is another one.
    await addSent(name, ['accepted under another ID'], 25 * 3_600, [lost, `${SEED},1`]);
    await addSent(name, ['lost'], 25 * 3_600, [lost]);
    await isEmpty();
    const found = await eventsOf(name, 2);
    expect(found.map(({ id }) => id)).to.deep.equal(['was-accepted', 'lost']);
  });

  it('leaves to a person what nobody can know', async () => {
    const name = 'outbox/uncertain';
    await addSent(name, ['too old'], 8 * DAY_S, [`${SEED},77`]);
    await addSent(name, ['no send'], 25 * 3_600, ['x'.repeat(100_000)]);
    await addSent(
      name,
      ['sent often'],
      25 * 3_600,
      Array.from({ length: 1_002 }, (_, n) => `${SEED},${n + 5}`),
    );
    await addSent(
      name,
      ['sent a thousand times'],
      25 * 3_600,
      Array.from({ length: 1_000 }, (_, n) => `${SEED},${n + 5}`),
    );
    await eventsOf(name, 1);
    await until(async () => (await app.rows()).every(({ state }) => state === 'uncertain'), {
      describe: 'all are ended',
    });
    const rows = await app.rows();
    expect(rows.map(({ event }) => event?.id)).to.deep.equal(['too old', 'no send', 'sent often']);
    for (const { error } of rows) expect(error).to.include('nobody can tell');
    await app.query('delete from tidegate_outbox');
  });

  it('says in the overview and in metrics what waits and why, and continues when Postgres is back', async () => {
    const overview = (isSo: (outbox: Record<string, unknown>) => boolean) =>
      service.waitFor('/v1/overview', ({ body }) => body.data.outbox !== null && isSo(body.data.outbox));
    await overview(({ problem, waiting }) => problem === null && waiting === 0);
    await app.query(`insert into tidegate_outbox (event, state) values ('{}', 'refused')`);
    await overview(({ refused }) => refused === 1);
    const metrics = () => scrape(`http://127.0.0.1:${service.workers[0]?.metricsPort}`);
    await until(async () => (await metrics()).value('tidegate_outbox_events', { state: 'refused' }) === 1, {
      describe: 'a metric counts the refused event',
    });
    await app.query('truncate tidegate_outbox');
    proxy.leave();
    await service.logs('the database of the outbox');
    await overview(({ problem }) => String(problem).includes('the database of the outbox'));
    expect((await metrics()).value('tidegate_outbox_up')).to.equal(0);
    await app.add([{ name: 'outbox/late', id: 'l1', data: {} }]);
    proxy.comeBack();
    await eventsOf('outbox/late', 1);
    await isEmpty();
  });
});

describe('Workers that are killed while they relay', () => {
  it('lose no event, and make no duplicate', async function () {
    this.timeout(120_000);
    const app = await AppDatabase.create();
    const env = { OUTBOX_DATABASE_URL: app.url, STALLED_AFTER_SECONDS: '1' };
    const service = await startService({ processes: true, workers: 2, env });
    try {
      const ids = Array.from({ length: 450 }, () => ulid());
      for (let kill = 0; kill < 3; kill++) {
        const some = ids.slice(150 * kill, 150 * (kill + 1));
        await app.add(some.map((id) => ({ name: 'outbox/killed', id, data: {} })));
        await service.killWorker(kill);
        await service.startWorker();
      }
      await until(async () => (await app.rows()).length === 0, { timeoutMs: 90_000, describe: 'everything is sent' });
      const count = (data: { count: number }[]) => data.reduce((sum, bucket) => sum + bucket.count, 0);
      const path = '/v1/events/histogram?name=outbox/killed';
      const { body } = await service.waitFor(path, (response) => count(response.body.data) >= ids.length);
      expect(count(body.data)).to.equal(ids.length);
    } finally {
      await service.stop();
      await app.remove();
    }
  });
});
