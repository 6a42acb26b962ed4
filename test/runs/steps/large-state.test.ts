import { expect } from 'chai';
import { newId } from '../../../src/model/ids.ts';
import { openStore } from '../../support/own-store.ts';

const MEBIBYTE = 1_048_576;

describe('A call without room for the memos of its run', () => {
  it('reads only the short ones, which may be errors', async () => {
    const own = await openStore();
    try {
      const [env, id, eventId, nowMs] = ['production', newId(), newId(), Date.now()];
      await own.runs.create([
        { env, id, eventId, functionId: 'shop-large', requestId: newId(), queuedAt: nowMs, reconcileAt: nowMs },
      ]);
      const load = (finishedSteps: number) =>
        own.runs.load({ env, runId: id, eventId, finishedSteps }, 0, nowMs, nowMs) as Promise<Record<string, unknown>>;
      const store = (step: string, memo: object) =>
        own.checkpoints.store(env, id, [{ id: step, memo: JSON.stringify(memo) }]);
      const large = { data: 'x'.repeat(1.5 * MEBIBYTE) };
      const failed = { error: { name: 'Error', message: 'refused' } };
      await load(0);
      await store('a', large);
      await store('b', failed);
      await store('c', large);
      expect(await load(3))
        .to.deep.include({ memos: { a: large, b: failed, c: large } })
        .and.not.have.key('omitsMemos');
      await store('d', large);
      expect(await load(4)).to.deep.include({ memos: { a: null, b: failed, c: null, d: null }, omitsMemos: true });
    } finally {
      await own.close();
    }
  });
});
