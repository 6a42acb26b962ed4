import { createHash } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import { ulid } from 'ulid';
import type { Pending } from '../../src/model/runs/memo.ts';
import type { HistoryEntry } from '../../src/model/runs/run.ts';
import { RUN_FIELDS } from '../../src/store/keys/run-fields.ts';
import { RUN_SUFFIXES } from '../../src/store/keys/runs.ts';
import { type AppHost, startAppHost } from '../support/app-host.ts';
import { type OwnStore, openStore } from '../support/own-store.ts';
import { findKeys } from '../support/redis.ts';
import { type Service, startService } from '../support/service.ts';
import { until } from '../support/until.ts';

const ENV = 'production';
const DAY_MS = 86_400_000;
const PACKED_PARTS = ['memos', 'stack', 'history', 'pending'] as const;

interface Step {
  id: string;
  memo: unknown;
}

/** What a run has when it sleeps. */
interface State {
  done: Step[];
  pending: { id: string; step: Omit<Pending, 'since' | 'until'> }[];
  history: HistoryEntry[];
}

/** As SDKs hash the IDs of steps, which by default are their names. */
const hashed = (name: string) => createHash('sha1').update(name).digest('hex');
const hashedName = fc.nat(20).map((n) => hashed(`step-${n}`));
const id = fc.oneof(fc.string({ maxLength: 30, unit: 'grapheme' }), hashedName);
const name = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.nat(20).map((n) => `step-${n}`),
  hashedName,
);
const time = fc.integer({ min: 1_700_000_000_000, max: 1_900_000_000_000 });
const entry: fc.Arbitrary<HistoryEntry> = fc.record({
  kind: fc.constantFrom('attempt' as const, 'step' as const),
  status: fc.constantFrom('Completed' as const, 'Failed' as const),
  stepId: id,
  name,
  startedAt: time,
  endedAt: time,
});
/** As the call of a step leaves them. */
const attemptAndStep = fc.tuple(time, name, id).map(([startedAt, name, other]): HistoryEntry[] => {
  const attempt = { kind: 'attempt', status: 'Completed', startedAt, endedAt: startedAt + 100, attempt: 0 } as const;
  return [attempt, { ...attempt, kind: 'step', stepId: other.length > 15 ? other : hashed(name), name, op: 'StepRun' }];
});
const history = fc.array(fc.oneof(fc.tuple(entry), attemptAndStep), { maxLength: 8 }).map((entries) => entries.flat());
/** What resembles steps and history. */
const resembling = fc.oneof(
  fc.array(fc.oneof(time, fc.nat(5), fc.constant(0.0123456789012)), { maxLength: 5 }),
  fc.array(fc.oneof(hashedName, name, time.map(String)), { maxLength: 8 }),
  fc.record({ data: fc.oneof(hashedName, time, time.map(String), name), op: name, name, since: time }),
);
const state: fc.Arbitrary<State> = fc
  .tuple(
    fc.uniqueArray(id, { minLength: 1, maxLength: 12 }),
    fc.array(
      fc.oneof(fc.jsonValue(), resembling, fc.record({ data: fc.string({ unit: 'grapheme', maxLength: 60 }) })),
      {
        minLength: 12,
        maxLength: 12,
      },
    ),
    fc.array(name, { minLength: 12, maxLength: 12 }),
    history,
    fc.nat(11),
  )
  .map(([ids, memos, names, history, split]) => {
    const done = Math.min(split, ids.length - 1);
    return {
      done: ids.slice(0, done).map((id, i) => ({ id, memo: memos[i] })),
      pending: ids.slice(done).map((id, i) => ({ id, step: { op: 'Sleep', name: names[i] as string } })),
      history,
    };
  });

describe('A packed run', () => {
  let store: OwnStore;
  before(async () => {
    store = await openStore();
  });
  after(() => store.close());

  const keyOf = (runId: string) => store.keys.of(runId).run(ENV, runId);

  /** Creates a run that sleeps for 30 days. */
  async function create({ done, pending, history }: State): Promise<{ runId: string; eventId: string }> {
    const [runId, eventId] = [ulid(), ulid()];
    const nowMs = Date.now();
    const run = { id: runId, env: ENV, functionId: 'f', eventId, requestId: 'r', queuedAt: nowMs };
    await store.runs.create([{ ...run, reconcileAt: nowMs } as never]);
    await store.redis.hset(keyOf(runId), RUN_FIELDS.answeredAt, done.length);
    for (const { id, memo } of done) {
      await store.redis.hset(keyOf(runId) + RUN_SUFFIXES.memos, id, JSON.stringify(memo));
      await store.redis.rpush(keyOf(runId) + RUN_SUFFIXES.stack, id);
    }
    await store.runs.appendHistory(ENV, runId, history);
    const begun = pending.map(({ id, step }) => ({
      stepId: id,
      step: { ...step, since: nowMs, until: nowMs + 30 * DAY_MS },
    }));
    await store.steps.beginAll({ env: ENV, id: runId, eventId }, begun);
    return { runId, eventId };
  }

  const next = { wakeJobLeadMs: 60_000, afterMs: 120_000, isReconciled: false };
  const pack = (runId: string) => store.activeRuns.schedule([{ env: ENV, runId }], { ...next, nowMs: Date.now() });
  const isPacked = async (runId: string) => (await store.redis.hexists(keyOf(runId), RUN_FIELDS.packed)) === 1;

  async function read(runId: string) {
    const { pending, done } = await store.steps.progress(ENV, runId);
    const [listed] = await store.steps.progressOf([{ env: ENV, id: runId }]);
    const ids = await store.runParts.read(ENV, runId, 'stack');
    return {
      run: await store.runs.read(ENV, runId),
      memos: await store.runParts.read(ENV, runId, 'memos'),
      stack: ids,
      history: await store.runParts.read(ENV, runId, 'history'),
      lastHistory: await store.runs.lastHistory(ENV, runId, 2),
      eachMemo: await Promise.all([...ids, 'none'].map((id) => store.steps.memo(ENV, runId, id))),
      pending: Object.fromEntries(pending),
      listed: [Object.fromEntries(listed?.pending ?? []), listed?.unread, listed?.done],
      done,
    };
  }

  const contents = (runId: string) =>
    Promise.all(
      PACKED_PARTS.map((part) => {
        const key = keyOf(runId) + RUN_SUFFIXES[part];
        return part === 'stack' || part === 'history' ? store.redis.lrange(key, 0, -1) : store.redis.hgetall(key);
      }),
    );

  it('is read like any other, and unpacked without a change when one of its steps changes', async function () {
    this.timeout(120_000);
    await fc.assert(
      fc.asyncProperty(state, async (given) => {
        const { runId, eventId } = await create(given);
        const [before, had] = [await read(runId), await contents(runId)];
        expect(await pack(runId)).to.deep.equal([{ outcome: 'done' }]);
        expect(await isPacked(runId)).to.equal(true);
        expect(await store.redis.exists(...PACKED_PARTS.map((part) => keyOf(runId) + RUN_SUFFIXES[part]))).to.equal(0);
        expect(await read(runId)).to.deep.equal(before);
        const [first] = given.pending as [State['pending'][number]];
        await store.steps.begin({ env: ENV, id: runId, eventId }, first.id, { ...first.step, since: 0 });
        expect(await isPacked(runId)).to.equal(false);
        expect(await contents(runId)).to.deep.equal(had);
      }),
      { numRuns: 200 },
    );
  });

  it('gives its finished steps to a re-run', async () => {
    const done = ['a', 'b'].map((id) => ({ id, memo: { data: id } }));
    const { runId, eventId } = await create({
      done,
      pending: [{ id: 'c', step: { op: 'Sleep', name: 'c' } }],
      history: [],
    });
    await pack(runId);
    const rerun = { id: ulid(), env: ENV, functionId: 'f', eventId, requestId: 'r', queuedAt: Date.now() };
    await store.runs.create([{ ...rerun, reconcileAt: Date.now() }]);
    const copied = await store.runs.copySteps({ ...rerun, retryOf: runId, fromStep: { id: 'b' } }, Date.now());
    expect([copied, await store.runParts.read(ENV, rerun.id, 'memos')]).to.deep.equal([1, { a: { data: 'a' } }]);
  });

  it('keeps the order of its history when an entry is added', async () => {
    const entry = (attempt: number): HistoryEntry => {
      return { kind: 'attempt', status: 'Completed', startedAt: 1, endedAt: 2, attempt };
    };
    const pending: State['pending'] = [{ id: 'c', step: { op: 'Sleep', name: 'c' } }];
    const { runId, eventId } = await create({ done: [], pending, history: [entry(0), entry(1)] });
    await store.redis.hset(keyOf(runId), RUN_FIELDS.answeredAt, 0);
    await pack(runId);
    await store.runs.appendHistory(ENV, runId, [entry(2)]);
    const all = [entry(0), entry(1), entry(2)];
    expect(await store.runParts.read(ENV, runId, 'history')).to.deep.equal(all);
    expect(await store.runs.lastHistory(ENV, runId, 2)).to.deep.equal(all.slice(1));
    await store.steps.begin({ env: ENV, id: runId, eventId }, 'd', { op: 'Sleep', name: 'd', since: 0 });
    expect([await isPacked(runId), await store.runParts.read(ENV, runId, 'history')]).to.deep.equal([false, all]);
  });

  it('is not packed if its contents are large', async () => {
    const pending: State['pending'] = [{ id: 'c', step: { op: 'Sleep', name: 'c' } }];
    const memo = { data: 'x'.repeat(5_000) };
    const { runId } = await create({ done: [{ id: 'a', memo }], pending, history: [] });
    expect(await pack(runId)).to.deep.equal([{ outcome: 'done' }]);
    expect([await isPacked(runId), await store.runParts.read(ENV, runId, 'memos')]).to.deep.equal([false, { a: memo }]);
  });
});

describe('A run that sleeps or waits for long', () => {
  let service: Service;
  let host: AppHost;
  before(async () => {
    service = await startService({ env: { STALLED_AFTER_SECONDS: '1' } });
    host = await startAppHost();
    const first = { id: hashed('first'), op: 'StepRun', name: 'first', displayName: 'first', data: { n: 1 } };
    for (const [id, op] of Object.entries(OPERATIONS)) {
      host.on(id, ({ body: { steps } }) => {
        const next = [first, op].find(({ id }) => steps[id] === undefined);
        return next
          ? { status: 206, body: [next] }
          : { body: [steps[first.id].data, steps[op.id]?.data?.answer ?? null] };
      });
    }
    await host.register(
      service,
      Object.keys(OPERATIONS).map((id) => ({ id, triggers: [{ event: `long/${id}` }] })),
      { appName: 'long' },
    );
  });
  after(async () => {
    await host?.close();
    await service?.stop();
  });

  const OPERATIONS: Record<string, { id: string; op: string; name: string; displayName: string; opts: object }> = {
    sleeps: { id: hashed('nap'), op: 'Sleep', name: '30d', displayName: 'nap', opts: { duration: '30d' } },
    waits: {
      ...{ id: hashed('answer'), op: 'WaitForEvent', name: 'long/answer', displayName: 'answer' },
      opts: { event: 'long/answer', timeout: '30d', if: 'async.data.key == event.data.key' },
    },
  };
  const runKey = (runId: string) => service.keys.of(runId).run(ENV, runId);
  const detail = async (runId: string) => (await service.get(`/v1/runs/${runId}`)).body.data;
  const ended = async (runId: string) =>
    (await service.waitFor(`/v1/runs/${runId}`, ({ body }) => body.data.ended_at)).body.data;

  /** @returns the run, once it is packed, and what it looked like before */
  async function packed(id: string, key = 'k'): Promise<{ runId: string; before: { state: { kind: string } } }> {
    const { body } = await service.post('/e/key', { name: `long/${id}`, data: { key } });
    const path = `/v1/events/${body.ids[0]}/runs`;
    const runId = (await service.waitFor(path, ({ body }) => body.data?.length === 1)).body.data[0].run_id;
    const isAsleep = (kind: string) => kind === 'sleeping' || kind === 'waiting_for_event';
    const { body: seen } = await service.waitFor(`/v1/runs/${runId}`, ({ body }) => isAsleep(body.data.state.kind));
    await until(() => service.redis.hexists(runKey(runId), RUN_FIELDS.packed), { describe: 'the run is packed' });
    return { runId, before: seen.data };
  }

  it('has one key and no job, and looks as before', async () => {
    const { runId, before } = await packed('sleeps');
    expect(await findKeys(service.redis, service.prefix, new RegExp(runId))).to.deep.equal([runKey(runId)]);
    expect(await detail(runId)).to.deep.equal(before);
    const { body } = await service.get('/v1/runs?state=sleeping&function_id=long-sleeps');
    expect(body.data.map(({ run_id }: { run_id: string }) => run_id)).to.include(runId);
  });

  it('is cancelled like any other', async () => {
    const { runId } = await packed('sleeps');
    expect((await service.request('DELETE', `/v1/runs/${runId}`)).status).to.equal(200);
    const { status, history } = await ended(runId);
    expect(status).to.equal('Cancelled');
    const steps = history.filter(({ kind }: HistoryEntry) => kind === 'step');
    expect(steps.map(({ name, status }: HistoryEntry) => [name, status])).to.deep.equal([
      ['first', 'Completed'],
      ['nap', 'Cancelled'],
    ]);
  });

  it('continues with the results of its steps when the event comes', async () => {
    const { runId } = await packed('waits', 'mine');
    await service.post('/e/key', { name: 'long/answer', data: { key: 'another', answer: 1 } });
    await service.post('/e/key', { name: 'long/answer', data: { key: 'mine', answer: 42 } });
    const { status, output, history } = await ended(runId);
    expect([status, output]).to.deep.equal(['Completed', [{ n: 1 }, 42]]);
    expect(history).to.have.lengthOf(5);
  });
});
