import { expect } from 'chai';
import { ulid } from 'ulid';
import { pendingSleep } from '../../src/jobs/runs/operations/sleep.ts';
import { untilOf } from '../../src/jobs/runs/operations/timeout.ts';
import type { Op } from '../../src/model/runs/operation.ts';
import { RUN_FIELDS } from '../../src/store/keys/run-fields.ts';
import { RUN_SUFFIXES } from '../../src/store/keys/runs.ts';
import { type OwnStore, openStore } from '../support/own-store.ts';

const ENV = 'production';
const BEFORE_1970 = '1960-01-01T00:00:00Z';

describe('The reconciliation of sleeping runs', () => {
  let store: OwnStore;
  before(async () => {
    store = await openStore();
  });
  after(() => store.close());

  const keyOf = (runId: string) => store.keys.of(runId).run(ENV, runId);

  async function sleepingRun(untilMs: number) {
    const [runId, eventId] = [ulid(), ulid()];
    const nowMs = Date.now();
    const run = { id: runId, env: ENV, functionId: 'f', eventId, requestId: 'r', queuedAt: nowMs };
    await store.runs.create([{ ...run, reconcileAt: nowMs } as never]);
    await store.redis.hset(keyOf(runId), RUN_FIELDS.answeredAt, 0);
    await store.steps.beginAll({ env: ENV, id: runId, eventId }, [
      { stepId: 's', step: { op: 'Sleep', name: 's', since: nowMs, until: untilMs } },
    ]);
    return { env: ENV, runId };
  }

  async function scheduled(runs: { env: string; runId: string }[], isReconciled = false) {
    const next = { wakeJobLeadMs: 60_000, afterMs: 120_000, isReconciled, nowMs: Date.now() };
    return (await store.activeRuns.schedule(runs, next)).map(({ outcome }) => outcome);
  }

  it('reads the sleep until a time before 1970 that an earlier version stored', async () => {
    const runs = [await sleepingRun(Date.parse(BEFORE_1970)), await sleepingRun(Date.now() + 10_000)];
    expect(await scheduled(runs)).to.deep.equal(['needsReconciliation', 'needsWakes']);
    expect(await scheduled(runs, true)).to.deep.equal(['done', 'done']);
  });

  it('of one that is unreadable fails alone', async () => {
    const [odd, well] = [await sleepingRun(1), await sleepingRun(Date.now() + 10_000)];
    await store.redis.set(keyOf(odd.runId) + RUN_SUFFIXES.pending, 'no hash');
    expect(await scheduled([odd, well])).to.deep.equal(['failed', 'needsWakes']);
    expect(await scheduled([odd, well], true)).to.deep.equal(['failed', 'done']);
  });

  it('finds no new time before 1970: for sleeps and timeouts it is 1970', () => {
    const op = (opts: Op['opts']): Op => ({ id: 's', op: 'Sleep', opts });
    expect(pendingSleep(op({ duration: BEFORE_1970 }), Date.now())).to.include({ until: 0 });
    expect(untilOf(op({ timeout: BEFORE_1970 }), Date.now())).to.deep.equal({ until: 0 });
  });
});
