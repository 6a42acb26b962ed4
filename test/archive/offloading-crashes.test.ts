import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { ulid } from 'ulid';
import { ServiceError } from '../../src/errors.ts';
import type { RunReturns } from '../../src/history/offloaded-runs.ts';
import { offloadRuns, removeRows, returnRuns } from '../../src/jobs/archive/offloading.ts';
import { createLog } from '../../src/log.ts';
import { RUN_FIELDS } from '../../src/store/keys/run-fields.ts';
import { RUN_SUFFIXES } from '../../src/store/keys/runs.ts';
import { type OwnArchive, openArchive } from '../support/own-archive.ts';
import { envelope } from '../support/own-store.ts';
import { findKeys, redisSettings } from '../support/redis.ts';

const PROGRAM = join(import.meta.dirname, '../support/archiver-program.ts');
const ENV = 'production';
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
    const { activeRuns, offloadedRuns } = archive.store.keys.of(runId);
    const member = `${ENV}/${runId}`;
    const { redis } = archive.store;
    return {
      hash: await redis.exists(keyOf(runId)),
      active: Number((await redis.zscore(activeRuns, member)) !== null),
      offloaded: Number((await redis.zscore(offloadedRuns, member)) !== null),
    };
  };
  const IN_REDIS = { hash: 1, active: 1, offloaded: 0 };
  const IN_POSTGRES = { hash: 0, active: 0, offloaded: 1 };

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
    const back = await archive.store.offloadedRuns.return(ENV, run.id, stale?.contents as Buffer, Date.now());
    expect([back, await where(run.id)]).to.deep.equal(['changed', IN_POSTGRES]);
    await returnRuns(0, deps(), Date.now() + LATER_MS, new Map());
    const metadata = await archive.store.runParts.read(ENV, run.id, 'metadata');
    expect(JSON.stringify(metadata)).to.include('user.b');
  });

  it('returns in the version that Postgres has, if a backup of Redis with another one is restored', async () => {
    const run = await create();
    await offload();
    const { offloadedRuns } = archive.store.keys.of(run.id);
    await archive.store.redis.zadd(offloadedRuns, Date.now() + 0.5, `${ENV}/${run.id}`);
    const changed = new Map<string, true>();
    await returnRuns(0, deps(), Date.now() + LATER_MS, changed);
    expect(await where(run.id)).to.deep.equal(IN_POSTGRES);
    await returnRuns(0, deps(), Date.now() + LATER_MS, changed);
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
    const failed = await bringBack().catch((error: ServiceError) => error.code);
    expect([failed, await where(run.id)]).to.deep.equal(['archive_unavailable', IN_POSTGRES]);
    archive.offloadedRuns.contents = read;
    await bringBack();
    expect(await where(run.id)).to.deep.equal(IN_REDIS);
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
    expect([await where(run.id), await rows()]).to.deep.equal([{ hash: 0, active: 0, offloaded: 0 }, 0]);
    await bringBack();
    expect(await where(run.id)).to.deep.equal({ hash: 0, active: 0, offloaded: 0 });
  });

  it('is in one place, whole, whenever the process dies that moves it', async function () {
    this.timeout(600_000);
    const runs: Awaited<ReturnType<typeof create>>[] = [];
    const checked = async () => {
      for (const run of runs) {
        const place = await where(run.id);
        expect([IN_REDIS, IN_POSTGRES]).to.deep.include(place);
        if (place.hash) expect(await contents(run.id)).to.deep.equal(run.contents);
        const [listed] = await archive.store.runLists.listed.read(ENV, [run.id]);
        expect(listed?.status).to.equal('Running');
      }
    };
    const [moments, every] = process.env.TEST_ALL ? [['before', 'after'], 1] : [['after'], 3];
    for (const work of ['offload', 'return']) {
      for (const moment of moments) {
        for (let write = 1; ; write += every) {
          runs.push(await create());
          if (work === 'return') await offload();
          const ended = await round(String(write), moment, work);
          await checked();
          // The others stay where they are.
          await archive.store.runs.readMany(
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

  /** @returns number of writes; undefined: it was killed */
  async function round(...args: string[]): Promise<number | undefined> {
    const { url, schema } = archive.settings;
    const env = {
      PATH: process.env.PATH,
      SERVICE_TEST_RUN: process.env.SERVICE_TEST_RUN,
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      ...redisSettings(),
      PARTITIONS: '1',
      MODE: 'dev',
      KEY_PREFIX: archive.store.prefix,
      DATABASE_URL: url,
      DATABASE_SCHEMA: schema,
      HOT_HOURS: '1',
    };
    const child = spawn(process.execPath, [PROGRAM, ...args], { env, stdio: ['ignore', 'pipe', 'inherit'] });
    const [output, [code, signal]] = await Promise.all([text(child.stdout), once(child, 'close')]);
    if (signal === 'SIGKILL') return undefined;
    expect(code, output).to.equal(0);
    return Number(output);
  }
});
