import { expect } from 'chai';
import { ulid } from 'ulid';
import { createArchive } from '../../src/archive/archive.ts';
import { createHistory } from '../../src/history/history.ts';
import { shipWebhookRequests } from '../../src/jobs/archive/webhook-requests.ts';
import { createLog } from '../../src/log.ts';
import type { LoggedRequest, LogOutcome } from '../../src/model/webhooks/request-log.ts';
import { type OwnArchive, openArchive } from '../support/own-archive.ts';

const HOUR_MS = 3_600_000;
const RETENTION_DAYS = 30;

describe('The archive of webhook requests', () => {
  let archive: OwnArchive;
  const webhookId = ulid();

  beforeEach(async () => {
    archive = await openArchive({ WEBHOOK_LOG_SIZE: '5' });
  });
  afterEach(() => archive.close());

  function logged(at: number, outcome: LogOutcome = 'accepted', body: Buffer | null = Buffer.from([0, 255, 1])) {
    const summary = {
      id: ulid(at),
      receivedAt: at,
      method: 'POST',
      ip: '127.0.0.1',
      outcome,
      status: outcome === 'rejected' ? 400 : 200,
      eventName: 'nul\0',
      ids: [],
      console: [],
      durationMs: 1,
      bodyBytes: body?.length,
    };
    return { summary, headers: { 'x-a': 'b' }, search: 'a=1', body: body ?? undefined } satisfies LoggedRequest;
  }

  async function add(
    count: number,
    { from = Date.now() - count, outcome = 'accepted' as LogOutcome, id = webhookId } = {},
  ) {
    const requests = Array.from({ length: count }, (_, i) => logged(from + i, outcome));
    await archive.store.webhookLog.add(id, requests);
    return requests.map(({ summary }) => summary.id);
  }

  const ship = (own = archive) =>
    shipWebhookRequests(
      { unarchivedRequests: own.store.unarchivedRequests, archive: own, retentionDays: RETENTION_DAYS },
      0,
    );
  const rows = async () =>
    (await archive.database.query<{ count: number }>('SELECT count(*) AS count FROM webhook_requests'))[0]?.count;
  const hotIds = () => archive.store.redis.zrange(archive.store.keys.of(webhookId).webhookLog(webhookId), '0', '-1');
  const list = async (query: object = {}, id = webhookId) => {
    const page = await archive.history.webhookLog.list(id, { limit: 100, ...query }, Date.now());
    return { ...page, ids: page.requests.map((request) => request.id) };
  };
  const stats = async () => (await archive.history.webhookLog.stats([webhookId], Date.now())).stats[0];

  it('has every request, while Redis keeps the newest', async () => {
    const ids = await add(12);
    expect(await hotIds()).to.deep.equal(ids);
    expect(await ship()).to.equal(12);
    expect(await rows()).to.equal(12);
    expect(await hotIds()).to.deep.equal(ids.slice(-5));
    expect((await list()).ids).to.deep.equal(ids.toReversed());
    expect(await ship()).to.equal(0);
  });

  it('keeps headers, query and body byte for byte, and the lack of a body', async () => {
    const [old, bare] = [logged(Date.now() - 5_000), logged(Date.now() - 4_999, 'rejected', null)];
    await archive.store.webhookLog.add(webhookId, [old, bare]);
    await add(5);
    await ship();
    expect(await hotIds()).to.have.length(5);
    expect(await archive.history.webhookLog.read(webhookId, old.summary.id)).to.deep.equal(
      JSON.parse(JSON.stringify(old), (key, value) => (key === 'body' ? old.body : value)),
    );
    const { body, summary } = (await archive.history.webhookLog.read(webhookId, bare.summary.id)) as LoggedRequest;
    expect([body, summary.outcome]).to.deep.equal([undefined, 'rejected']);
    expect(await archive.history.webhookLog.read(webhookId, ulid())).to.equal(undefined);
    expect(await archive.history.webhookLog.read(ulid(), old.summary.id)).to.equal(undefined);
  });

  it('counts and finds requests by the result of their verification, in Redis and in the archive', async () => {
    const results = ['verified', 'failed', 'skipped', undefined] as const;
    const from = Date.now() - 3 * 86_400_000;
    const requests = Array.from({ length: 40 }, (_, i) => {
      const result = results[i % 4];
      const request = logged(from + i * 6 * HOUR_MS, result === 'failed' ? 'rejected' : 'filtered');
      const text = 'a "verification":{"result":"failed" of a text';
      return {
        ...request,
        summary: { ...request.summary, message: text, ...(result && { verification: { result } }) },
      };
    }).filter(({ summary }) => summary.receivedAt < Date.now());
    await archive.store.webhookLog.add(webhookId, requests);
    const idsOf = (result: string | undefined) =>
      requests.flatMap(({ summary }) => (summary.verification?.result === result ? summary.id : [])).toReversed();
    const expectAll = async () => {
      for (const verification of ['verified', 'failed', 'skipped'] as const) {
        expect((await list({ verification })).ids).to.deep.equal(idsOf(verification));
        expect((await list({ verification, limit: 2 })).ids).to.deep.equal(idsOf(verification).slice(0, 2));
      }
      expect((await list({ verification: 'failed', outcomes: ['filtered'] })).ids).to.deep.equal([]);
      expect((await list({ verification: 'skipped', outcomes: ['filtered'] })).ids).to.deep.equal(idsOf('skipped'));
      const unverified = idsOf('failed').length;
      expect(await stats()).to.include({
        requests: requests.length,
        rejected: unverified,
        filtered: requests.length - unverified,
        unverified,
      });
    };
    await expectAll();
    await ship();
    expect(await hotIds()).to.have.length(5);
    await expectAll();
    await archive.store.webhookLog.remove(webhookId);
    expect(await archive.store.redis.keys(`${archive.store.keys.prefix}*webhook-*${webhookId}`)).to.deep.equal([]);
  });

  it('has each request once, even when two archivers ship it or one dies after the commit', async () => {
    await add(100);
    const { requests } = await archive.store.unarchivedRequests.read(webhookId, { limit: 10, maxBytes: 1e6 });
    const [first] = requests;
    if (!first) throw new Error('nothing to ship');
    const parts = { webhookId, eventName: undefined, verification: undefined, summary: first.summaryText };
    const row = { ...first.summary, at: Date.now(), ...parts };
    await archive.requestShipments.ship(
      [{ ...row, at: first.summary.receivedAt, request: first.request, body: first.body }],
      RETENTION_DAYS,
    );
    await Promise.all([ship(), ship()]);
    expect(await rows()).to.equal(100);
    expect(await stats()).to.include({ requests: 100, rejected: 0 });
    const days = await archive.database.query<{ rows: string }>(
      "SELECT sum(rows)::text AS rows FROM archived_days WHERE kind = 'webhook_requests'",
    );
    expect(days[0]?.rows).to.equal('100');
  });

  it('loses and duplicates nothing when its archiver dies before or after any of its steps', async () => {
    const ids = await add(30);
    const { unarchivedRequests } = archive.store;
    const objects = { unarchivedRequests, requestShipments: archive.requestShipments };
    const steps = [
      ['unarchivedRequests', 'read'],
      ['requestShipments', 'ship'],
      ['unarchivedRequests', 'note'],
    ] as const;
    for (const [name, method] of steps) {
      for (const isAfter of [false, true]) {
        const dying = new Proxy(objects[name], {
          get: (target, key) => {
            const value = Reflect.get(target, key, target);
            if (key !== method) return typeof value === 'function' ? value.bind(target) : value;
            return async (...args: unknown[]) => {
              if (isAfter) await value.apply(target, args);
              throw new Error('killed');
            };
          },
        });
        const deps = { unarchivedRequests, archive, retentionDays: RETENTION_DAYS };
        const broken =
          name === 'unarchivedRequests'
            ? { ...deps, unarchivedRequests: dying as typeof unarchivedRequests }
            : { ...deps, archive: { ...archive, requestShipments: dying as typeof archive.requestShipments } };
        const error = await shipWebhookRequests(broken, 0).catch((thrown) => thrown);
        // With nothing left to do it does not get that far.
        expect([0, 30]).to.include(typeof error === 'number' ? error : 0);
        expect((await list()).ids).to.deep.equal(ids.toReversed());
      }
    }
    await ship();
    expect(await rows()).to.equal(30);
    expect(await stats()).to.include({ requests: 30 });
    expect((await list()).ids).to.deep.equal(ids.toReversed());
  });

  it('has a request that a process with a slow clock logged late', async () => {
    const now = Date.now();
    const newer = await add(7, { from: now - 1_000 });
    await ship();
    const late = await add(1, { from: now - 60_000 });
    expect((await list()).ids).to.deep.equal([...newer.toReversed(), ...late]);
    expect(await ship()).to.equal(1);
    expect((await list()).ids).to.deep.equal([...newer.toReversed(), ...late]);
  });

  it('receives requests that were logged before there was an archive', async () => {
    const { store } = archive;
    const ids = await add(3);
    await store.webhooks.create({
      id: webhookId,
      key: 'k',
      env: 'production',
      name: 'n',
      transform: 't',
      version: 'v',
      createdAt: 1,
      updatedAt: 1,
    });
    const keys = store.keys.of(webhookId);
    await store.redis.del(keys.unarchivedRequests(webhookId), keys.dueWebhookLogs);
    expect(await ship()).to.equal(3);
    expect((await list()).ids).to.deep.equal(ids.toReversed());
  });

  it('lets Redis drop archived requests that are no longer hot', async () => {
    const { store } = archive;
    const old = await add(2, { from: Date.now() - 25 * HOUR_MS });
    const young = await add(2);
    await ship();
    expect(await hotIds()).to.deep.equal([...old, ...young]);
    await store.redis.zadd(store.keys.of(webhookId).dueWebhookLogs, 0, webhookId);
    await ship();
    expect(await hotIds()).to.deep.equal(young);
    expect((await list()).ids).to.deep.equal([...old, ...young].toReversed());
  });

  it('is read in pages by outcome and time, across the border between Redis and Postgres', async () => {
    const now = Date.now();
    const days = [2, 1, 0].map((ago) => now - ago * 24 * HOUR_MS - 1_000);
    const accepted: string[] = [];
    const rejected: string[] = [];
    for (const from of days) {
      accepted.push(...(await add(6, { from })));
      rejected.push(...(await add(3, { from: from + 100, outcome: 'rejected' })));
      await ship();
    }
    const all = [...accepted, ...rejected].sort().toReversed();
    const walked: string[] = [];
    for (let cursor: string | undefined; ; ) {
      const { ids, next } = await list({ limit: 4, cursor });
      walked.push(...ids);
      if (next === undefined) break;
      cursor = next;
    }
    expect(walked).to.deep.equal(all);
    expect((await list({ outcomes: ['rejected'] })).ids).to.deep.equal(rejected.toReversed());
    expect((await list({ outcomes: ['rejected'], limit: 4 })).ids).to.deep.equal(rejected.toReversed().slice(0, 4));
    const range = { after: days[1], before: (days[1] as number) + 100 };
    expect((await list(range)).ids).to.deep.equal(accepted.slice(6, 12).toReversed());
    const oldest: string[] = [];
    for (let cursor: string | undefined; ; ) {
      const page = await archive.history.webhookLog.listOldest(webhookId, { limit: 4, cursor }, now);
      oldest.push(...page.requests.map(({ id }) => id));
      if (page.next === undefined) break;
      cursor = page.next;
    }
    expect(oldest).to.deep.equal(all.toReversed());
    expect(await stats()).to.deep.equal({
      requests: 27,
      rejected: 9,
      filtered: 0,
      unverified: 0,
      lastAt: (days[2] as number) + 102,
    });
  });

  it('counts requests that are not archived yet', async () => {
    await add(2);
    await ship();
    await add(3, { outcome: 'rejected' });
    expect(await stats()).to.include({ requests: 5, rejected: 3 });
  });

  it('hides the requests of a deleted webhook, even those shipped later', async () => {
    const ids = await add(8);
    await ship();
    await archive.history.webhookLog.remove(webhookId);
    expect(await archive.history.webhookLog.read(webhookId, ids[0] as string)).to.equal(undefined);
    await ship();
    expect(await archive.store.unarchivedRequests.removals()).to.have.property('size', 0);
    expect(await archive.history.webhookLog.read(webhookId, ids[0] as string)).to.equal(undefined);
    expect((await list()).ids).to.deep.equal([]);
    expect(await rows()).to.equal(8);
  });

  it('receives the requests of every webhook in turn while one is busy', async () => {
    const others = [ulid(), ulid()];
    await add(1_000);
    for (const id of others) await add(1, { id });
    expect(await ship()).to.equal(1_002);
    for (const id of others) expect((await list({}, id)).ids).to.have.length(1);
  });
});

describe('While the archive is unavailable', () => {
  it('a list of webhook requests has the hot ones, and says where it stopped', async () => {
    const archive = await openArchive({ WEBHOOK_LOG_SIZE: '3' });
    const webhookId = ulid();
    const summary = (at: number) => ({
      id: ulid(at),
      receivedAt: at,
      method: 'POST',
      ip: '::1',
      outcome: 'accepted' as const,
      status: 200,
      ids: [],
      console: [],
      durationMs: 1,
    });
    const now = Date.now();
    const requests = [1, 2, 3, 4, 5].map((i) => ({ summary: summary(now - 10 + i), headers: {}, search: '' }));
    await archive.store.webhookLog.add(webhookId, requests);
    const { unarchivedRequests } = archive.store;
    await shipWebhookRequests({ unarchivedRequests, archive, retentionDays: 7 }, 0);
    const unreachable = createArchive(
      { archive: { ...archive.settings, url: 'postgres://127.0.0.1:1/none' } },
      async () => 7,
      createLog('silent', 'test'),
    );
    const history = createHistory(archive.store, unreachable);
    const ids = requests.map((request) => request.summary.id).toReversed();
    const hot = await history.webhookLog.list(webhookId, { limit: 2 }, now);
    expect(hot.requests.map(({ id }) => id)).to.deep.equal(ids.slice(0, 2));
    expect(hot.stoppedEarly).to.equal(undefined);
    const cut = await history.webhookLog.list(webhookId, { limit: 4 }, now);
    expect(cut.requests.map(({ id }) => id)).to.deep.equal(ids.slice(0, 3));
    expect(cut).to.include({ stoppedEarly: 'archive_unavailable', next: ids[2] });
    const rest = await archive.history.webhookLog.list(webhookId, { limit: 4, cursor: cut.next }, now);
    expect(rest.requests.map(({ id }) => id)).to.deep.equal(ids.slice(3));
    expect((await history.webhookLog.stats([webhookId], now)).stoppedEarly).to.equal('archive_unavailable');
    const error = await history.webhookLog.read(webhookId, ids[4] as string).catch((thrown) => thrown);
    expect(error.code).to.equal('archive_unavailable');
    await history.webhookLog.remove(webhookId);
    await archive.close();
  });
});
