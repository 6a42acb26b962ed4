import { expect } from 'chai';
import { ulid } from 'ulid';
import type { FoundContents } from '../../src/archive/offloaded-run-rows.ts';
import { ServiceError } from '../../src/errors.ts';
import type { RunReturns } from '../../src/history/run-returns.ts';
import { returnRuns } from '../../src/jobs/archive/offload-returns.ts';
import { keepOffloaded, removeRows } from '../../src/jobs/archive/offload-rows.ts';
import { offloadRuns } from '../../src/jobs/archive/offloading.ts';
import { createLog } from '../../src/log.ts';
import { RUN_FIELDS } from '../../src/store/keys/run-fields.ts';
import { RUN_SUFFIXES } from '../../src/store/keys/runs.ts';
import type { Position } from '../../src/store/redis/pagination.ts';
import { PARTS } from '../../src/store/runs/run-parts.ts';
import { runArchiver } from '../support/killed-archiver.ts';
import { type OwnArchive, openArchive } from '../support/own-archive.ts';
import { envelope } from '../support/own-store.ts';
import { findKeys } from '../support/redis.ts';

const ENV = 'production';
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const LATER_MS = 365 * DAY_MS;

describe('An offloaded run', () => {
  let archive: OwnArchive;
  let runReturns: RunReturns;
  const log = createLog('silent', 'test');

  beforeEach(async () => {
    archive = await openArchive({ HOT_HOURS: '1' });
    runReturns = archive.history.runReturns as RunReturns;
  });
  afterEach(() => archive.close());

  const deps = () => ({ ...archive.store, archive, runReturns, reconcileAfterMs: 0, log });
  const offload = () => offloadRuns(0, deps(), Date.now());
  const bringBack = () => returnRuns(0, deps(), Date.now() + LATER_MS);
  const keyOf = (runId: string) => archive.store.keys.of(runId).run(ENV, runId);
  const rows = async () => (await archive.database.query('SELECT id FROM offloaded_runs')).length;

  /** Creates a run that sleeps for 30 days after a step, with all parts that a run may have. */
  async function create({ isLarge = false } = {}) {
    const { store } = archive;
    const event = envelope({ name: 'order/paid', data: { total: 3 } });
    await store.events.storeNew([event]);
    const nowMs = Date.now();
    const run = { id: ulid(), env: ENV, functionId: 'f', eventId: event.internalId, requestId: 'r', queuedAt: nowMs };
    await store.runs.create([{ ...run, reconcileAt: nowMs }]);
    const key = keyOf(run.id);
    await store.redis.hset(key, RUN_FIELDS.answeredAt, 1, RUN_FIELDS.status, 'Running');
    await store.redis.hset(key + RUN_SUFFIXES.memos, 'a', JSON.stringify({ data: isLarge ? 'é'.repeat(5_000) : 'é' }));
    await store.redis.rpush(key + RUN_SUFFIXES.stack, 'a');
    const entry = {
      kind: 'attempt' as const,
      status: 'Completed' as const,
      startedAt: nowMs,
      endedAt: nowMs,
      attempt: 0,
    };
    await store.runs.appendHistory(ENV, run.id, [entry, entry]);
    await store.runMetadata.update(
      ENV,
      run.id,
      { scope: 'run' },
      { kind: 'user.a', op: 'set', values: { a: 1 } },
      nowMs,
    );
    const step = { op: 'Sleep' as const, name: 'nap', since: nowMs, until: nowMs + 30 * DAY_MS };
    await store.steps.beginAll(run, [{ stepId: 'nap', step }]);
    const next = { wakeJobLeadMs: 60_000, afterMs: 120_000, isReconciled: false, nowMs };
    await store.activeRuns.schedule([{ env: ENV, runId: run.id }], next);
    return { ...run, contents: await contents(run.id) };
  }

  /** What Redis has of a run, byte for byte. */
  async function contents(runId: string) {
    const { redis, prefix } = archive.store;
    const found: Record<string, unknown> = {};
    for (const key of (await findKeys(redis, prefix, new RegExp(`^:run:.*${runId}`))).sort()) {
      const isHash = (await redis.type(key)) === 'hash';
      found[key] = isHash ? await redis.hgetallBuffer(key) : await redis.lrangeBuffer(key, 0, -1);
    }
    return found;
  }

  const where = async (runId: string) => {
    const { activeRuns, activeRunsIn, runIndex, offloadedRuns, offloadedRunsByFunction } = archive.store.keys.of(runId);
    const { redis } = archive.store;
    const lists = [
      redis.zscore(activeRuns, `${ENV}/${runId}`),
      redis.zscore(activeRunsIn(ENV), runId),
      redis.zscore(runIndex(ENV, 'active', 'f'), runId),
    ];
    const counted = Number((await redis.hget(offloadedRunsByFunction(ENV), 'f')) ?? 0);
    expect(counted).to.equal(await redis.hlen(offloadedRuns(ENV)));
    return {
      hash: await redis.exists(keyOf(runId)),
      lists: (await Promise.all(lists)).filter((score) => score !== null).length,
      offloaded: await redis.hexists(offloadedRuns(ENV), runId),
    };
  };
  const IN_REDIS = { hash: 1, lists: 3, offloaded: 0 };
  const IN_POSTGRES = { hash: 0, lists: 0, offloaded: 1 };
  const GONE = { hash: 0, lists: 0, offloaded: 0 };
  /** What a page of the list has of the runs. */
  const listed = async (functionIds?: string[]) => {
    const { runs } = await archive.history.runLists.list({ env: ENV, functionIds, timeRange: {}, limit: 100 });
    return runs.map(({ id }) => id);
  };

  for (const isLarge of [false, true]) {
    it(`returns as it left${isLarge ? ', if it is too large to be packed' : ''}`, async () => {
      const run = await create({ isLarge });
      expect(await offload()).to.equal(1);
      expect([await where(run.id), await contents(run.id), await rows()]).to.deep.equal([IN_POSTGRES, {}, 1]);
      await bringBack();
      expect([await where(run.id), await contents(run.id)]).to.deep.equal([IN_REDIS, run.contents]);
      expect(await removeRows(deps(), Date.now())).to.equal(0);
      expect(await removeRows(deps(), Date.now() + 8 * DAY_MS)).to.equal(1);
    });
  }

  it('is in the lists of all runs and of its function, page by page, beside runs in Redis', async () => {
    const runs: string[] = [];
    for (let n = 0; n < 5; n++) runs.push((await create()).id);
    expect(await offload()).to.equal(5);
    await archive.store.runs.readManyToChange(ENV, runs.slice(1, 3));
    const cancelled = await create();
    await archive.store.runs.end(cancelled, { status: 'Cancelled', reason: { cause: 'finish_timeout' } }, Date.now());
    for (const functionIds of [undefined, ['f'], ['f', 'g']]) {
      const found: string[] = [];
      let cursor: Position | undefined;
      do {
        const query = { env: ENV, functionIds, timeRange: { cursor }, limit: 2 };
        const { runs, next } = await archive.history.runLists.list(query);
        found.push(...runs.map(({ id }) => id));
        cursor = next;
      } while (cursor);
      expect(found).to.deep.equal([cancelled.id, ...runs.toReversed()]);
    }
    expect(await listed(['g'])).to.deep.equal([]);
    const active = await archive.store.runLists.activeOf(ENV, 'f', {}, 10);
    expect(active.map(({ id }) => id)).to.deep.equal(runs.toReversed());
  });

  for (const isLarge of [false, true]) {
    it(`is read from Postgres, and stays there${isLarge ? ', if it is too large to be packed' : ''}`, async () => {
      const { id } = await create({ isLarge });
      const { runs, runParts, steps } = archive.history;
      const read = async () => [
        await runs.read(ENV, id),
        ...(await Promise.all(PARTS.map((part) => runParts.read(ENV, id, part)))),
        await steps.progress(ENV, id),
        await steps.memo(ENV, id, 'a'),
        await steps.memo(ENV, id, 'nap'),
        await archive.store.steps.progressOf([{ env: ENV, id }]),
      ];
      const before = await read();
      await offload();
      expect([await read(), await where(id)]).to.deep.equal([before, IN_POSTGRES]);
    });
  }

  it('is listed and returns, if a failover of Redis loses its return', async () => {
    const run = await create();
    await offload();
    const { redis, prefix } = archive.store;
    const keys = archive.store.keys.of(run.id);
    const before = {
      alarm: (await redis.hget(keys.offloadedRuns(ENV), run.id)) as string,
      returnedAt: Date.now(),
    };
    await bringBack();
    for (const key of await findKeys(redis, prefix, new RegExp(`^:run:.*${run.id}`))) await redis.del(key);
    await redis.zrem(keys.activeRuns, `${ENV}/${run.id}`);
    await redis.zrem(keys.activeRunsIn(ENV), run.id);
    await redis.zrem(keys.runIndex(ENV, 'active', 'f'), run.id);
    await redis.hset(keys.offloadedRuns(ENV), run.id, before.alarm);
    await redis.hset(keys.offloadedRunsByFunction(ENV), 'f', 1);
    await archive.database.query('UPDATE offloaded_runs SET returned_at = returned_at - $1', [2 * MINUTE_MS]);
    expect([await where(run.id), await listed()]).to.deep.equal([IN_POSTGRES, []]);
    await keepOffloaded(deps(), before.returnedAt - 3 * MINUTE_MS);
    expect(await listed()).to.deep.equal([run.id]);
    await bringBack();
    expect([await where(run.id), await contents(run.id)]).to.deep.equal([IN_REDIS, run.contents]);
  });

  it('is not started again by its event', async () => {
    const run = await create();
    await offload();
    await archive.store.runs.create([{ ...run, reconcileAt: Date.now() }]);
    expect(await where(run.id)).to.deep.equal(IN_POSTGRES);
  });

  it('has its event when it returns, even if that is no longer stored anywhere', async () => {
    const { store } = archive;
    const run = await create();
    await offload();
    for (const key of await findKeys(store.redis, store.prefix, /event/)) await store.redis.del(key);
    await bringBack();
    expect((await store.events.record(ENV, run.eventId))?.data).to.deep.equal({ total: 3 });
    const listed = await archive.history.runLists.readByEvent(ENV, run.eventId);
    expect(listed.map(({ id }) => id)).to.deep.equal([run.id]);
  });

  it('keeps its changes: contents that another process read before have no effect', async () => {
    const run = await create();
    await offload();
    const stale = (await archive.offloadedRuns.contents(ENV, [run.id])).get(run.id);
    await bringBack();
    const changed = { kind: 'user.b', op: 'set' as const, values: { b: 2 } };
    await archive.store.runMetadata.update(ENV, run.id, { scope: 'run' }, changed, Date.now());
    const { activeRuns } = archive.store.keys.of(run.id);
    await archive.store.redis.zadd(activeRuns, Date.now() + 20 * DAY_MS, `${ENV}/${run.id}`);
    expect(await offload()).to.equal(1);
    const back = await archive.store.offloadedRuns.return(ENV, run.id, stale as FoundContents, Date.now());
    expect([back, await where(run.id)]).to.deep.equal(['changed', IN_POSTGRES]);
    await returnRuns(0, deps(), Date.now() + LATER_MS, new Map());
    const metadata = await archive.store.runParts.read(ENV, run.id, 'metadata');
    expect(JSON.stringify(metadata)).to.include('user.b');
  });

  it('returns in the version that Postgres has, if a backup of Redis with another one is restored', async () => {
    const run = await create();
    await offload();
    const { offloadedRuns } = archive.store.keys.of(run.id);
    const alarm = (await archive.store.redis.hget(offloadedRuns(ENV), run.id)) as string;
    const other = alarm.endsWith('0') ? '1' : '0';
    await archive.store.redis.hset(offloadedRuns(ENV), run.id, alarm.slice(0, -1) + other);
    const unusable = new Map();
    for (const minutes of [0, 0.5]) {
      await returnRuns(0, deps(), Date.now() + LATER_MS + minutes * MINUTE_MS, unusable);
      expect(await where(run.id)).to.deep.equal(IN_POSTGRES);
    }
    await returnRuns(0, deps(), Date.now() + LATER_MS + 2 * MINUTE_MS, unusable);
    expect([await where(run.id), await contents(run.id)]).to.deep.equal([IN_REDIS, run.contents]);
  });

  it('stays in Redis if it changes while its row is written', async () => {
    const run = await create();
    const { store } = archive.offloadedRuns;
    archive.offloadedRuns.store = async (...args) => {
      const stored = await store.apply(archive.offloadedRuns, args);
      await archive.store.runs.recordAnswered(ENV, run.id, 7);
      return stored;
    };
    expect([await offload(), await where(run.id)]).to.deep.equal([0, IN_REDIS]);
  });

  it('waits while Postgres is away', async () => {
    const run = await create();
    await offload();
    const { contents: read } = archive.offloadedRuns;
    archive.offloadedRuns.contents = async () => {
      throw new ServiceError('archive_unavailable');
    };
    const failed = await bringBack().catch((error: Error) => error.name);
    expect([failed, await where(run.id)]).to.deep.equal(['StillInPostgres', IN_POSTGRES]);
    const { count, overdueSince } = await archive.store.offloadedRunAlarms.seen();
    expect(count).to.equal(1);
    expect(Number(overdueSince) - Date.now()).to.be.within(29 * DAY_MS, 30 * DAY_MS);
    archive.offloadedRuns.contents = read;
    await bringBack();
    expect(await where(run.id)).to.deep.equal(IN_REDIS);
    await bringBack();
    expect(await archive.store.offloadedRunAlarms.seen()).to.deep.equal({ count: 0, overdueSince: undefined });
  });

  it('whose row is missing keeps its alarm, and holds no other up', async () => {
    const [lost, other] = [await create(), await create()];
    await offload();
    const [{ id: uuid } = { id: '' }] = await archive.database.query<{ id: string }>(
      'DELETE FROM offloaded_runs WHERE id = (SELECT min(id::text)::uuid FROM offloaded_runs) RETURNING id::text',
    );
    expect(uuid).not.to.equal('');
    await bringBack();
    const found = [await where(lost.id), await where(other.id)];
    expect(found).to.have.deep.members([IN_POSTGRES, IN_REDIS]);
  });

  it('leaves with its environment', async () => {
    const run = await create();
    await offload();
    await archive.numbers.forgetEnvironment(ENV, Date.now());
    await archive.store.environmentData.deleteAll(ENV, new AbortController().signal);
    expect([await where(run.id), await rows()]).to.deep.equal([GONE, 0]);
    await bringBack();
    expect(await where(run.id)).to.deep.equal(GONE);
  });

  it('is in one place, whole, whenever the process dies that moves it', async function () {
    this.timeout(600_000);
    const runs: Awaited<ReturnType<typeof create>>[] = [];
    const checked = async () => {
      for (const run of runs) {
        const place = await where(run.id);
        expect([IN_REDIS, IN_POSTGRES]).to.deep.include(place);
        if (place.hash) expect(await contents(run.id)).to.deep.equal(run.contents);
        const found = await archive.store.runs.read(ENV, run.id);
        expect(found?.status).to.equal('Running');
      }
      expect(await listed(['f'])).to.deep.equal(runs.map(({ id }) => id).toReversed());
    };
    const [moments, every] = process.env.TEST_ALL ? [['before', 'after'], 1] : [['after'], 3];
    for (const work of ['offload', 'return']) {
      for (const moment of moments) {
        for (let write = 1; ; write += every) {
          runs.push(await create());
          if (work === 'return') await offload();
          const ended = await runArchiver(archive, String(write), moment, work);
          await checked();
          // The others stay where they are.
          await archive.store.runs.readManyToChange(
            ENV,
            runs.map(({ id }) => id),
          );
          for (const { id } of runs) await archive.store.activeRuns.postpone(ENV, id, Date.now());
          if (ended !== undefined) break;
        }
      }
    }
    for (const run of runs)
      expect([await where(run.id), await contents(run.id)]).to.deep.equal([IN_REDIS, run.contents]);
  });
});
