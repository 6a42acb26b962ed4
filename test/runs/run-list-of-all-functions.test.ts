import { expect } from 'chai';
import fc from 'fast-check';
import { ulid } from 'ulid';
import type { Ending, RunStatus } from '../../src/model/runs/run.ts';
import { withScripts } from '../../src/store/redis/connection/scripts.ts';
import { keyspace } from '../../src/store/redis/keyspace/keyspace.ts';
import type { Position } from '../../src/store/redis/pagination.ts';
import { EndedRunIndex } from '../../src/store/runs/ended-run-index.ts';
import { OffloadedRuns } from '../../src/store/runs/offloaded-runs.ts';
import { RunLists } from '../../src/store/runs/run-lists.ts';
import { Runs } from '../../src/store/runs/runs.ts';
import { Waits } from '../../src/store/runs/waits.ts';
import { connectRedis, deleteKeys, freshPrefix, keysOf, type Redis } from '../support/redis.ts';

const MINUTE_MS = 60_000;
const RETENTION_MS = 7 * 86_400_000;
/** So few that runs are in segments of every length. */
const SEGMENT_RUNS = 4;
const FUNCTIONS = Array.from({ length: 12 }, (_, n) => `app-f${n}`);
const STATUSES = ['Queued', 'Completed', 'Failed', 'Cancelled'] as const;

const ENDINGS: Record<Ending['status'], Ending> = {
  Completed: { status: 'Completed', output: 'null' },
  Failed: { status: 'Failed', error: { name: 'Error', message: 'no' } },
  Cancelled: { status: 'Cancelled', reason: { cause: 'request' } },
};

interface Made {
  id: string;
  functionId: string;
  queuedAt: number;
  status: (typeof STATUSES)[number];
}

describe('The list of all runs', () => {
  let redis: Redis;
  let environments = 0;
  const prefix = freshPrefix();
  const keyspaces = keyspace({ prefix });
  const keys = keyspaces.partition(0);
  /** The start of a minute, so that some runs are created exactly at its edges. */
  const now = Date.now() - (Date.now() % MINUTE_MS) - MINUTE_MS;
  let runs: Runs;
  let lists: RunLists;

  before(() => {
    redis = connectRedis();
    const scripted = withScripts(redis);
    const offloadedRuns = new OffloadedRuns(scripted, keyspaces, { reconcileAfterMs: 0, keyPrefix: '' });
    runs = new Runs(scripted, keyspaces, {
      waits: new Waits(scripted, keyspaces),
      offloadedRuns,
      retentionMs: RETENTION_MS,
      segmentSize: SEGMENT_RUNS,
    });
    const endedRuns = new EndedRunIndex(redis, keyspaces, { segmentSize: SEGMENT_RUNS });
    lists = new RunLists(scripted, keyspaces, { endedRuns, offloadedRuns });
  });
  after(async () => {
    await deleteKeys(redis, prefix);
    await redis.quit();
  });

  async function create(env: string, made: readonly Made[]): Promise<void> {
    const origin = { env, eventId: 'EVENT', requestId: 'REQUEST', reconcileAt: now + RETENTION_MS };
    await runs.create(made.map(({ id, functionId, queuedAt }) => ({ ...origin, id, functionId, queuedAt })));
  }

  async function end(env: string, { id, functionId }: Made, status: Ending['status'], nowMs = now): Promise<void> {
    expect(await runs.end({ env, id, functionId }, ENDINGS[status], nowMs)).to.deep.equal({
      done: 0,
      pending: new Map(),
      isUnfinished: false,
      awaited: false,
    });
  }

  async function make(made: readonly Made[]): Promise<string> {
    const env = `env-${++environments}`;
    await create(env, made);
    await Promise.all(made.map((run) => run.status !== 'Queued' && end(env, run, run.status)));
    return env;
  }

  const run = (ago: number, more: Partial<Made> = {}): Made => {
    const queuedAt = now - ago;
    return { id: ulid(now), functionId: 'app-f0', queuedAt, status: 'Completed', ...more };
  };

  const newestFirst = (made: readonly Made[]) =>
    made.toSorted((a, b) => b.queuedAt - a.queuedAt || (a.id < b.id ? 1 : -1)).map(({ id }) => id);

  interface Walk {
    env: string;
    functionIds?: readonly string[];
    status?: RunStatus;
    after?: number;
    before?: number;
    limit?: number;
    /** Runs after each page. */
    between?: () => Promise<unknown>;
  }

  async function walk({ env, functionIds, status, after, before, limit = 10, between }: Walk): Promise<string[]> {
    const ids: string[] = [];
    let cursor: Position | undefined;
    do {
      const page = await lists.list({ env, functionIds, status, timeRange: { after, before, cursor }, limit });
      expect(page.runs.length).to.be.at.most(limit);
      ids.push(...page.runs.map(({ id }) => id));
      cursor = page.next;
      await between?.();
    } while (cursor);
    return ids;
  }

  /** Many in one second, in one millisecond, at the edges of minutes; and few over hours. */
  const ago = fc.oneof(
    fc.integer({ min: 0, max: 60 }),
    fc.integer({ min: 0, max: 3 * MINUTE_MS }),
    fc.integer({ min: 0, max: 8 }).map((n) => n * MINUTE_MS),
    fc.integer({ min: 0, max: 400 }).map((n) => n * MINUTE_MS + 1),
  );
  const made = fc.array(
    fc
      .record({ ago, functionId: fc.constantFrom(...FUNCTIONS), status: fc.constantFrom(...STATUSES) })
      .map(({ ago, ...more }) => run(ago, more)),
    { minLength: 1, maxLength: 300, size: 'max' },
  );
  const time = fc.oneof(fc.integer({ min: -60, max: 120 }), fc.integer({ min: 0, max: 5 * MINUTE_MS }));

  it('has the number of ended runs of each minute, however many share a segment', async () => {
    const index = new EndedRunIndex(redis, keyspaces, { segmentSize: SEGMENT_RUNS });
    await fc.assert(
      fc.asyncProperty(made, async (all) => {
        const env = await make(all);
        for (const ending of ['Completed', 'Failed', 'Cancelled'] as const) {
          const starts = all
            .filter(({ status }) => status === ending)
            .map(({ queuedAt }) => queuedAt - (queuedAt % MINUTE_MS));
          const minutes = [...new Set(starts)];
          const counts = await index.countsIn(minutes.map((minute) => ({ keys, env, ending, minute })));
          expect(counts).to.deep.equal(minutes.map((minute) => starts.filter((start) => start === minute).length));
        }
      }),
      { numRuns: 20 },
    );
  });

  it('is sorted, in pages of any size, for any functions, status and time range', async () => {
    const limit = fc.integer({ min: 1, max: 40 });
    const some = fc.subarray(FUNCTIONS);
    await fc.assert(
      fc.asyncProperty(made, limit, time, time, some, async (all, limit, a, b, functionIds) => {
        const env = await make(all);
        expect(await walk({ env, limit })).to.deep.equal(newestFirst(all));
        const span = { after: now - Math.max(a, b), before: now - Math.min(a, b) };
        const within = all.filter(({ queuedAt }) => queuedAt >= span.after && queuedAt < span.before);
        expect(await walk({ env, limit, ...span })).to.deep.equal(newestFirst(within));
        const ofSome = all.filter(({ functionId }) => functionIds.includes(functionId));
        expect(await walk({ env, limit, functionIds })).to.deep.equal(newestFirst(ofSome));
        const both = ofSome.filter((run) => within.includes(run));
        expect(await walk({ env, limit, functionIds, ...span })).to.deep.equal(newestFirst(both));
        for (const status of STATUSES) {
          const of = (made: Made[]) => newestFirst(made.filter((run) => run.status === status));
          expect(await walk({ env, limit, status })).to.deep.equal(of(all));
          expect(await walk({ env, limit, status, ...span })).to.deep.equal(of(within));
          expect(await walk({ env, limit, status, functionIds, ...span })).to.deep.equal(of(both));
        }
      }),
      { numRuns: 25 },
    );
  });

  it('has each run once and in the same position while runs end', async () => {
    await fc.assert(
      fc.asyncProperty(made, fc.integer({ min: 1, max: 40 }), async (all, limit) => {
        const env = `env-${++environments}`;
        await create(env, all);
        // The oldest first: runs end on pages that are not read yet, and on pages that are.
        const ending = all.toSorted((a, b) => a.queuedAt - b.queuedAt).filter(({ status }) => status !== 'Queued');
        const between = async () => {
          const some = [...ending.splice(0, limit), ...ending.splice(-limit, limit)];
          await Promise.all(some.map((run) => end(env, run, run.status as Ending['status'])));
        };
        expect(await walk({ env, limit, between })).to.deep.equal(newestFirst(all));
      }),
      { numRuns: 10 },
    );
  });

  it('has every run that ends while a page is read', async () => {
    const all = Array.from({ length: 120 }, (_, n) => run(n % 7));
    const env = `env-${++environments}`;
    await create(env, all);
    const reading = [];
    for (const one of all) {
      const ended = end(env, one, 'Completed');
      reading.push(lists.list({ env, functionIds: undefined, timeRange: {}, limit: 200 }));
      await ended;
    }
    for (const { runs } of await Promise.all(reading)) {
      expect(runs.map(({ id }) => id)).to.deep.equal(newestFirst(all));
    }
  });

  it('supports thousands of runs of the same second or millisecond, and of thousands of functions', async () => {
    const all = Array.from({ length: 3_000 }, (_, n) => run(n % 3 ? 5 : n % 900, { functionId: `app-f${n % 2_000}` }));
    const env = await make(all);
    const functionIds = [...new Set(all.map(({ functionId }) => functionId))];
    expect(await walk({ env, limit: 100 })).to.deep.equal(newestFirst(all));
    expect(await walk({ env, limit: 100, functionIds })).to.deep.equal(newestFirst(all));
  });

  it('skips runs whose records have expired, and continues after them', async () => {
    const all = Array.from({ length: 30 }, (_, n) => run(n));
    const env = await make(all);
    const [gone, there] = [all.slice(5, 25), [...all.slice(0, 5), ...all.slice(25)]];
    await redis.del(gone.map(({ id }) => keys.run(env, id)));
    expect(await walk({ env, limit: 3 })).to.deep.equal(newestFirst(there));
  });

  it('keeps a segment as long as its runs: each run that ends renews it and its index', async () => {
    const all = Array.from({ length: 3 * SEGMENT_RUNS }, () => run(0));
    const env = await make(all);
    const segments = await keysOf(redis, keys.endedRuns(env, 'Completed', ''));
    expect(segments.length).to.equal(3);
    const minutes = keys.endedRunMinutes(env, 'Completed');
    for (const key of [...segments, minutes]) {
      expect(await redis.pttl(key)).to.be.within(RETENTION_MS, RETENTION_MS + MINUTE_MS);
      await redis.pexpire(key, 60_000);
    }
    const late = run(0);
    await create(env, [late]);
    await end(env, late, 'Completed');
    for (const key of [...segments, minutes]) {
      expect(await redis.pttl(key), key).to.be.within(RETENTION_MS, RETENTION_MS + MINUTE_MS);
    }
  });

  it('removes minutes whose segment has expired, a few whenever a segment is written', async () => {
    const longAgo = now - 8 * 86_400_000;
    const slept = run(now - longAgo);
    const env = await make([slept]);
    const minutes = keys.endedRunMinutes(env, 'Completed');
    await redis.zadd(minutes, longAgo - MINUTE_MS, longAgo - MINUTE_MS);
    const another = run(0);
    await create(env, [another]);
    await end(env, another, 'Completed');
    expect(await redis.zrange(minutes, 0, '-1')).to.deep.equal([longAgo, now].map(String));
    expect(await walk({ env })).to.deep.equal([another.id, slept.id]);
  });

  it('removes a run from the active ones when it ends', async () => {
    const env = await make([run(0), run(1, { status: 'Failed' })]);
    expect(await redis.exists(keys.activeRunsIn(env))).to.equal(0);
  });
});
