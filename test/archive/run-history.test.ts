import { expect } from 'chai';
import { ulid } from 'ulid';
import { type Archive, createArchive } from '../../src/archive/archive.ts';
import { runRowOf } from '../../src/archive/run-row.ts';
import type { ServiceError } from '../../src/errors.ts';
import { createHistory, type History } from '../../src/history/history.ts';
import { createLog } from '../../src/log.ts';
import { METADATA_MAX_BYTES } from '../../src/model/runs/metadata.ts';
import type { Run, RunStatus } from '../../src/model/runs/run.ts';
import type { Position } from '../../src/store/redis/pagination.ts';
import { minuteIntervals, type RunInterval } from '../../src/store/runs/run-histogram.ts';
import { type OwnArchive, openArchive } from '../support/own-archive.ts';
import { envelope } from '../support/own-store.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const ENDINGS = ['Completed', 'Failed', 'Cancelled'] as const;

interface Given {
  env: string;
  at: number;
  functionId?: string;
  eventId?: string;
  batch?: string[];
  status?: RunStatus;
}

const noWait = () => expect.fail('no step waits');

describe('The history of runs', () => {
  let archive: OwnArchive;
  let history: History;
  let now: number;

  before(async () => {
    archive = await openArchive();
    history = archive.history;
    now = Date.now();
  });

  after(() => archive.close());

  const fresh = () => `test-${ulid().toLowerCase()}`;

  const batchOf = (batch: string, message: string, at: number) => {
    const line = { at, level: 'warn' as const, message, fields: { text: '\0' }, step: 'a'.repeat(40) };
    return { batch, attempt: 1, dropped: 2, lines: [line] };
  };

  /** Creates a run in Redis, with steps, history, metadata and a log. */
  async function create({ env, at, functionId = 'app-fn', eventId = ulid(at), batch, status = 'Completed' }: Given) {
    const { runs, steps, runMetadata, runLogs } = archive.store;
    const run = { env, id: ulid(at), functionId, eventId, requestId: ulid(at), queuedAt: at };
    await runs.create([{ ...run, reconcileAt: at, ...(batch && { batch }) }]);
    if (status === 'Queued') return run.id;
    await steps.memoize(env, run.id, 'step-1', { data: { total: 1, text: '\0 \ud800' } }, noWait);
    await steps.memoize(env, run.id, 'step-2', null, noWait);
    const entry = { kind: 'step' as const, stepId: 'step-1', name: 'one', status: 'Completed' as const };
    await runs.appendHistory(env, run.id, [{ ...entry, startedAt: at, endedAt: at + 1 }]);
    await runMetadata.update(env, run.id, { scope: 'run' }, { kind: 'user.score', op: 'set', values: { a: 1 } }, at);
    await runLogs.append(env, run.id, batchOf('b1', 'slow \0', at), at);
    if (status === 'Completed') await runs.end(run, { status, output: '{"ok":true}' }, at + 5);
    if (status === 'Failed') await runs.end(run, { status, error: { name: 'Error', message: 'no' } }, at + 5);
    if (status === 'Cancelled') await runs.end(run, { status, reason: { cause: 'request' } }, at + 5);
    return run.id;
  }

  async function contentsOf(env: string, ids: readonly string[]) {
    const runs = (await archive.store.runs.readMany(env, ids)).map(({ id, eventId }) => ({ id, eventId }));
    const { due } = await archive.store.archivableRuns.read(env, runs, now + 1);
    expect(due).to.have.length(ids.length);
    return due;
  }

  async function ship(env: string, ids: readonly string[]) {
    await archive.shipments.ship({ events: [], runs: (await contentsOf(env, ids)).map(runRowOf) });
  }

  async function free(env: string, ids: readonly string[]) {
    await archive.store.archivableRuns.free(env, await contentsOf(env, ids));
  }

  async function move(env: string, ids: readonly string[]) {
    await ship(env, ids);
    await free(env, ids);
  }

  /** Everything that can be read of a run. */
  async function read(env: string, id: string) {
    return {
      run: await history.runs.read(env, id),
      history: await history.runParts.read(env, id, 'history'),
      memo: await history.steps.memo(env, id, 'step-1'),
      noMemo: await history.steps.memo(env, id, 'step-3'),
      memos: await history.runParts.read(env, id, 'memos'),
      progress: await history.steps.progress(env, id),
      metadata: await history.runParts.read(env, id, 'metadata'),
      logs: await history.runParts.read(env, id, 'logs'),
      sizes: await history.listedRuns.outputSizes(env, [id]),
      outputs: await history.listedRuns.outputs(env, [id]),
    };
  }

  for (const status of ENDINGS) {
    it(`reads an archived run as it was in Redis: ${status}`, async () => {
      const env = fresh();
      const id = await create({ env, at: now - 2 * DAY_MS, status });
      const hot = await read(env, id);
      expect(hot.run?.status).to.equal(status);
      expect(hot.history).to.have.length(1);
      expect(hot.metadata).to.have.length(1);
      expect([hot.logs.lines.length, hot.logs.dropped]).to.deep.equal([1, 2]);
      await ship(env, [id]);
      expect(await read(env, id)).to.deep.equal(hot);
      await free(env, [id]);
      expect(await read(env, id)).to.deep.equal(hot);
    });
  }

  it('finds nothing for a run that never existed', async () => {
    const [env, id] = [fresh(), ulid()];
    expect(await read(env, id)).to.deep.equal({
      run: undefined,
      history: [],
      memo: undefined,
      noMemo: undefined,
      memos: {},
      progress: { pending: new Map(), done: 0 },
      metadata: [],
      logs: { lines: [], dropped: 0 },
      sizes: [0],
      outputs: [null],
    });
  });

  it('reads steps with unusual IDs', async () => {
    const env = fresh();
    const at = now - 2 * DAY_MS;
    const run = { env, id: ulid(at), functionId: 'app-fn', eventId: ulid(at), requestId: ulid(at), queuedAt: at };
    const { runs, steps } = archive.store;
    await runs.create([{ ...run, reconcileAt: at }]);
    const ids = ['__proto__', 'nul \0', 'quote "', '$.a[0]', ''];
    for (const id of ids) await steps.memoize(env, run.id, id, { data: id }, noWait);
    await runs.end(run, { status: 'Completed', output: 'null' }, at);
    await move(env, [run.id]);
    for (const id of ids) {
      expect(JSON.parse((await history.steps.memo(env, run.id, id)) as string)).to.deep.equal({ data: id });
    }
    expect(await history.steps.memo(env, run.id, 'constructor')).to.equal(undefined);
    expect(Object.keys(await history.runParts.read(env, run.id, 'memos'))).to.have.members(ids);
  });

  it('archives the whole log of a run, including lines that come meanwhile, and keeps the run until then', async () => {
    const env = fresh();
    const id = await create({ env, at: now - 2 * DAY_MS });
    const read = await contentsOf(env, [id]);
    await archive.shipments.ship({ events: [], runs: read.map(runRowOf) });
    await archive.store.runLogs.append(env, id, batchOf('b2', 'late', now), now);
    expect(await archive.store.archivableRuns.free(env, read)).to.deep.equal([id]);
    const hot = await history.runParts.read(env, id, 'logs');
    expect(hot.lines.map(({ message }) => message)).to.deep.equal(['slow \0', 'late']);
    await move(env, [id]);
    expect(await archive.store.redis.exists(archive.store.keys.of(id).logs(env, id))).to.equal(0);
    expect(await history.runParts.read(env, id, 'logs')).to.deep.equal(hot);
    expect(await archive.store.runLogs.append(env, id, batchOf('b3', 'too late', now), now)).to.equal('gone');
  });

  it('updates the metadata of an archived run with the same bounds and results as in Redis', async () => {
    const env = fresh();
    const [hot, archived] = [await create({ env, at: now - DAY_MS }), await create({ env, at: now - DAY_MS })];
    await move(env, [archived]);
    const step = { scope: 'step' as const, stepId: 'x' };
    const run = { scope: 'run' as const };
    const large = 'x'.repeat(METADATA_MAX_BYTES / 2);
    const many = Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`n${i}`, i]));
    const updates = [
      [run, { kind: 'user.score', op: 'merge', values: { b: 'ä', a: undefined } }],
      [step, { kind: 'user.score', op: 'set', values: { '\n': [1] } }],
      [run, { kind: 'user.score', op: 'set', values: { c: null } }],
      [run, { kind: 'large', op: 'merge', values: { large } }],
      [run, { kind: 'larger', op: 'merge', values: { large } }],
      [run, { kind: 'many', op: 'merge', values: many }],
      [run, { kind: 'large', op: 'set', values: {} }],
    ] as const;
    const outcomes: string[][] = [];
    for (const [i, [target, update]] of updates.entries()) {
      const apply = (id: string) => history.runMetadata.update(env, id, target, update, now + i);
      outcomes.push([await apply(hot), await apply(archived)]);
      expect(await history.runParts.read(env, archived, 'metadata')).to.deep.equal(
        await history.runParts.read(env, hot, 'metadata'),
      );
    }
    expect(outcomes.map(([, outcome]) => outcome)).to.deep.equal(outcomes.map(([outcome]) => outcome));
    expect(outcomes.flat().filter((outcome) => outcome === 'full')).to.have.length(4);
    expect(await history.runMetadata.update(env, ulid(), run, updates[0][1], now)).to.equal('gone');
  });

  it('gives a re-run from a step the finished steps of an archived run', async () => {
    const env = fresh();
    const former = await create({ env, at: now - 2 * DAY_MS });
    await move(env, [former]);
    const { runs, runParts, redis, keys } = archive.store;
    const rerun = { env, id: ulid(now), functionId: 'app-fn', eventId: ulid(now), requestId: ulid(now), queuedAt: now };
    const of = { retryOf: former, fromStep: { id: 'step-2' } };
    await runs.create([{ ...rerun, ...of, reconcileAt: now }]);
    expect(await history.runs.copySteps({ ...rerun, ...of }, now)).to.equal(1);
    expect(await runParts.read(env, rerun.id, 'memos')).to.deep.equal({
      'step-1': { data: { total: 1, text: '\0 \ud800' } },
    });
    expect(await redis.exists(keys.of(former).restoredRun(env, former))).to.equal(0);
    expect(await history.runs.copySteps({ ...rerun, ...of }, now)).to.equal(1);
    const other = { ...rerun, id: ulid(now), retryOf: ulid(now), fromStep: { id: 'step-2' } };
    await runs.create([{ ...other, reconcileAt: now }]);
    expect(await history.runs.copySteps(other, now)).to.equal(undefined);
  });

  /** A simple random sequence, the same each time. */
  function random(seed: number) {
    let state = seed;
    return (n: number) => {
      state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
      return Math.floor((state / 2 ** 31) * n);
    };
  }

  const idsOf = (runs: readonly Pick<Run, 'id'>[]) => runs.map(({ id }) => id);

  async function allPages(
    query: Omit<Parameters<History['runLists']['list']>[0], 'limit' | 'timeRange'>,
    limit: number,
  ) {
    const found: Run[] = [];
    let cursor: Position | undefined;
    do {
      const page = await history.runLists.list({ ...query, timeRange: { cursor }, limit });
      expect(page.stoppedEarly).to.equal(undefined);
      expect(page.runs.length).to.be.at.most(limit);
      found.push(...page.runs);
      cursor = page.next;
    } while (cursor);
    return found;
  }

  for (const seed of [1, 2, 3]) {
    it(`lists all runs once, newest first, and counts them over time, wherever they are stored (${seed})`, async () => {
      const env = fresh();
      const next = random(seed);
      const functions = ['app-a', 'app-b', 'app-c'];
      const model: (Given & { id: string })[] = [];
      for (let i = 0; i < 40; i++) {
        const at = now - next(4) * 12 * HOUR_MS - next(5) * 7 * HOUR_MS - next(3);
        const status = ([...ENDINGS, 'Queued'] as const)[next(4)] as RunStatus;
        const given = { env, at, status, functionId: functions[next(3)] as string };
        const id = await create(given);
        model.push({ ...given, id });
        const place = status !== 'Queued' && at < now - DAY_MS ? next(3) : 0;
        // In Redis; in both; in Postgres.
        if (place > 0) await ship(env, [id]);
        if (place > 1) await free(env, [id]);
      }
      const sorted = model.sort((a, b) => b.at - a.at || (a.id < b.id ? 1 : -1));
      const cases: { status?: RunStatus; functionIds?: string[] }[] = [
        {},
        { functionIds: ['app-a'] },
        { functionIds: ['app-a', 'app-c'] },
        ...[...ENDINGS, 'Queued' as const].map((status) => ({ status })),
        { status: 'Failed', functionIds: ['app-b', 'app-a'] },
      ];
      for (const { status, functionIds } of cases) {
        const wanted = sorted.filter(
          (run) =>
            (!status || run.status === status) && (!functionIds || functionIds.includes(run.functionId as string)),
        );
        for (const limit of [1, 2, 3, 7, 39, 40, 100]) {
          const found = await allPages({ env, functionIds, status }, limit);
          expect(idsOf(found), JSON.stringify({ status, functionIds, limit })).to.deep.equal(idsOf(wanted));
        }
        if (status) continue;
        for (const most of [1, 7, 120]) {
          const { from, stepMs, intervals } = minuteIntervals(now - 3 * DAY_MS, now + 1, most);
          const counted = await history.runHistogram.count({ env, functionIds, from, stepMs, intervals });
          const expected = Array.from({ length: intervals }, (_, i): RunInterval => {
            const start = from + i * stepMs;
            const inside = wanted.filter(({ at }) => at >= start && at < start + stepMs);
            const of = (group: RunStatus) => inside.filter(({ status }) => status === group).length;
            const [Completed, Failed, Cancelled] = ENDINGS.map(of) as [number, number, number];
            return { from: start, active: of('Queued'), Completed, Failed, Cancelled };
          });
          expect(counted, JSON.stringify({ functionIds, most })).to.deep.equal({ intervals: expected });
        }
      }
      const { runs } = await history.runLists.list({ env, functionIds: undefined, timeRange: {}, limit: 100 });
      expect(runs.every(({ output }) => output === undefined)).to.equal(true);
    });
  }

  it('finds the runs of an event wherever they are stored', async () => {
    const env = fresh();
    const at = now - 3 * DAY_MS;
    const eventId = ulid(at);
    const first = ulid(at - 1);
    const ended = await create({ env, at, eventId, functionId: 'app-a' });
    const waiting = await create({ env, at: at + 1, eventId, functionId: 'app-b', status: 'Queued' });
    const batch = await create({ env, at: at + 2, eventId: first, batch: [first, eventId], functionId: 'app-c' });
    const rerun = await create({ env, at: now, eventId, functionId: 'app-a', status: 'Failed' });
    const all = [ended, waiting, batch, rerun];
    const query = { env, functionIds: undefined, timeRange: {}, limit: 2 };
    const check = async () => {
      const briefs = await history.runLists.briefsByEvent(env, [eventId, ulid(), first]);
      expect(briefs.map(idsOf)).to.deep.equal([all, [], [batch]]);
      expect(idsOf(await history.runLists.readByEvent(env, eventId))).to.deep.equal(all);
      const page = await history.runLists.listByEvent(eventId, query);
      expect(idsOf(page.runs)).to.deep.equal([rerun, batch]);
      const rest = await history.runLists.listByEvent(eventId, { ...query, timeRange: { cursor: page.next } });
      expect(idsOf(rest.runs)).to.deep.equal([waiting, ended]);
      expect(rest.next).to.equal(undefined);
    };
    await check();
    await ship(env, [ended, batch]);
    await check();
    await free(env, [ended, batch]);
    await check();
  });

  it('reads the outputs of hot and archived runs', async () => {
    const env = fresh();
    const ids = [
      await create({ env, at: now }),
      await create({ env, at: now - 2 * DAY_MS }),
      await create({ env, at: now - 2 * DAY_MS, status: 'Failed' }),
      await create({ env, at: now - 2 * DAY_MS, status: 'Queued' }),
    ];
    await move(env, ids.slice(1, 3));
    expect(await history.listedRuns.outputs(env, ids)).to.deep.equal(['{"ok":true}', '{"ok":true}', null, null]);
    expect(await history.listedRuns.outputSizes(env, ids)).to.deep.equal([11, 11, 0, 0]);
    expect(idsOf(await history.runs.readMany(env, [ids[1] as string, ids[0] as string]))).to.deep.equal([
      ids[1],
      ids[0],
    ]);
  });
});

describe('The history of runs while Postgres is unavailable', () => {
  let archive: OwnArchive;
  let away: Archive;
  let history: History;
  let now: number;
  const env = 'production';

  beforeEach(async () => {
    archive = await openArchive();
    const settings = { ...archive.settings, url: 'postgres://127.0.0.1:1/none' };
    away = createArchive({ archive: settings }, async () => 30, createLog('silent', 'test')) as Archive;
    history = createHistory(archive.store, away);
    now = Date.now();
  });

  afterEach(async () => {
    await away.database.close();
    await archive.close();
  });

  async function create(at: number, eventId = ulid(at)) {
    const run = { env, id: ulid(at), functionId: 'app-fn', eventId, requestId: ulid(at), queuedAt: at };
    await archive.store.runs.create([{ ...run, reconcileAt: at }]);
    return run.id;
  }

  const list = (cursor: Position | undefined, limit: number) =>
    history.runLists.list({ env, functionIds: undefined, timeRange: { cursor }, limit });
  const idsOf = (runs: readonly Pick<Run, 'id'>[]) => runs.map(({ id }) => id);

  async function failure(promise: Promise<unknown>): Promise<ServiceError> {
    return promise.then(
      () => expect.fail('it did not fail'),
      (error) => error,
    );
  }

  it('lists the runs that are younger than all archived ones, and continues there', async () => {
    const young = [await create(now), await create(now - HOUR_MS), await create(now - 2 * HOUR_MS)];
    const old = await create(now - 5 * DAY_MS);
    const first = await list(undefined, 2);
    expect(idsOf(first.runs)).to.deep.equal(young.slice(0, 2));
    expect(first.stoppedEarly).to.equal(undefined);
    const second = await list(first.next, 2);
    expect(idsOf(second.runs)).to.deep.equal([young[2]]);
    expect(second.stoppedEarly).to.equal('archive_unavailable');
    const third = await list(second.next, 2);
    expect(third).to.deep.equal({ runs: [], next: second.next, stoppedEarly: 'archive_unavailable' });
    const { runs, next } = await archive.history.runLists.list({
      env,
      functionIds: undefined,
      timeRange: { cursor: third.next },
      limit: 2,
    });
    expect(idsOf(runs)).to.deep.equal([old]);
    expect(next).to.equal(undefined);
  });

  it('counts over time what Redis has, and says which archived runs are missing', async () => {
    await create(now);
    await create(now - 5 * DAY_MS);
    const query = { env, functionIds: undefined, ...minuteIntervals(now - 6 * DAY_MS, now + 1, 10) };
    const { intervals, ...stop } = await history.runHistogram.count(query);
    expect(intervals.map(({ active }) => active).filter((active) => active > 0)).to.deep.equal([1, 1]);
    expect(stop.stoppedEarly).to.equal('archive_unavailable');
    expect(stop.stoppedAt).to.be.within(now - away.hotMs, now);
  });

  it('lists active runs without Postgres', async () => {
    const old = await create(now - 5 * DAY_MS);
    const page = await history.runLists.list({
      env,
      functionIds: undefined,
      status: 'Queued',
      timeRange: {},
      limit: 5,
    });
    expect({ ...page, runs: idsOf(page.runs) }).to.deep.equal({ runs: [old], next: undefined });
  });

  it('reads what Redis has, and says that the archive is unavailable for everything else', async () => {
    const id = await create(now - 5 * DAY_MS);
    expect((await history.runs.read(env, id))?.id).to.equal(id);
    expect([...(await history.runs.present(env, [id]))]).to.deep.equal([id]);
    expect(await history.runParts.read(env, id, 'history')).to.deep.equal([]);
    expect(await history.runParts.read(env, id, 'memos')).to.deep.equal({});
    expect(await history.runParts.read(env, id, 'metadata')).to.deep.equal([]);
    const other = ulid(now - 5 * DAY_MS);
    const target = { scope: 'run' as const };
    const failures = await Promise.all([
      failure(history.runs.read(env, other)),
      failure(history.runs.present(env, [id, other])),
      failure(history.runParts.read(env, other, 'history')),
      failure(history.steps.memo(env, other, 'x')),
      failure(history.runParts.read(env, other, 'metadata')),
      failure(history.runMetadata.update(env, other, target, { kind: 'a', op: 'set', values: {} }, now)),
    ]);
    expect(failures.map(({ code }) => code)).to.deep.equal(failures.map(() => 'archive_unavailable'));
  });

  it('lists the runs of events that are not archived', async () => {
    const events = [envelope({}, { receivedAt: now }), envelope({}, { receivedAt: now - 2 * DAY_MS })];
    const { store } = archive;
    await store.events.storeNew(events);
    const stored = events.map((event) => ({ event, repeat: false, ingested: false }));
    await store.events.markIngested(stored, now);
    const [young, old] = events.map(({ internalId }) => internalId) as [string, string];
    const runs = [await create(now, young), await create(now, old)];
    expect(idsOf(await history.runLists.readByEvent(env, young))).to.deep.equal([runs[0]]);
    expect(idsOf(await history.runLists.readByEvent(env, old))).to.deep.equal([runs[1]]);
    const briefs = await history.runLists.briefsByEvent(env, [young, old, ulid()]);
    expect(briefs.map(idsOf)).to.deep.equal([[runs[0]], [runs[1]], []]);
    expect((await failure(history.runLists.readByEvent(env, ulid()))).code).to.equal('archive_unavailable');
    const query = { env, functionIds: undefined, timeRange: {}, limit: 5 };
    expect((await history.runLists.listByEvent(ulid(), query)).stoppedEarly).to.equal('archive_unavailable');
  });
});
