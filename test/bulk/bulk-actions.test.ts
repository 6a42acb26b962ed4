import { expect } from 'chai';
import { ServiceError } from '../../src/errors.ts';
import { doBulkAction } from '../../src/jobs/bulk/bulk-action-portion.ts';
import { SelectedRuns } from '../../src/jobs/bulk/selected-runs.ts';
import { newId } from '../../src/model/ids.ts';
import type { BulkAction, BulkActionDefinition } from '../../src/model/runs/bulk-action.ts';
import type { Run } from '../../src/model/runs/run.ts';
import { bulkActionKind } from '../../src/store/bulk/kinds.ts';
import { type OwnStore, openStore } from '../support/own-store.ts';

describe('Bulk actions on runs in the store', () => {
  let store: OwnStore;
  before(async () => {
    store = await openStore();
  });
  after(() => store.close());

  async function add(definition: BulkActionDefinition): Promise<BulkAction> {
    const { env } = definition.selection;
    const id = await store.bulkActions.add(env, definition, { position: null });
    return (await store.bulkActions.read(env, id)) as BulkAction;
  }

  it('an environment has at most ten in progress', async () => {
    const actions = Array.from({ length: 11 }, () => ({ ...actionFor('retry'), selection: selectionIn('crowded') }));
    for (const action of actions.slice(1)) await add(action);
    const refused = await add(actions[0] as BulkActionDefinition).catch((error: { code?: string }) => error.code);
    expect(refused).to.equal('quota_exceeded');
    const { id } = actions[1] as BulkActionDefinition;
    await store.bulkActions.change({ env: 'crowded', id }, 'cancelled', ['running'], Date.now());
    await add(actions[0] as BulkActionDefinition);
    expect(await store.bulkActions.list('crowded')).to.have.length(11);
  });

  it('an undo also finds runs that a dead worker had started for a cancelled re-run', async () => {
    const action = await add(actionFor('retry'));
    const results = [
      { runId: '1', rerunId: 'a' },
      { runId: '2', skip: 'run_active' },
      { runId: '3', rerunId: 'b' },
    ];
    await store.bulkActions.save(action, { counts: {}, results: results.map((result) => ({ result })) });
    const portion = {
      runs: [
        { id: '4', rerunId: 'c' },
        { id: '5', skip: 'event_gone' as const },
        { id: '6', rerunId: 'of another action' },
      ],
    };
    await store.bulkActions.plan({ ...action, portion: '1' }, portion);
    await store.bulkActions.change(action, 'cancelled', ['running'], Date.now());
    const selected = new SelectedRuns({
      ...store,
      searches: {} as never,
      functionTables: {} as never,
      runStates: {} as never,
      reruns: {} as never,
      runs: {
        readMany: async (_env, ids) =>
          ids.map((id) => ({ id, status: 'Running', bulkActionId: id.length === 1 ? action.id : id }) as Run),
      },
    });
    const selection = { ...selectionIn('production'), statuses: ['Running' as const], startedBy: action.id };
    const first = await selected.page(selection, undefined, { limit: 2, timeoutMs: 1_000 });
    expect([first.found.map(({ id }) => id), first.next]).to.deep.equal([['a'], { at: 2, id: '' }]);
    const last = await selected.page(selection, first.next, { limit: 2, timeoutMs: 1_000 });
    expect([last.found.map(({ id }) => id), last.next]).to.deep.equal([['b', 'c'], undefined]);
    expect(await selected.count(selection)).to.include({ count: 3, isExact: true });
  });

  it('an undo finds runs that an earlier version of the service started, which have no ID of their action', async () => {
    const action = await add(actionFor('retry'));
    const results = [{ result: { runId: '1', rerunId: 'a' } }];
    await store.bulkActions.save(action, { counts: { done: 1 }, results, doneAt: Date.now() });
    const runs = {
      readMany: async (_env: string, ids: string[]) => ids.map((id) => ({ id, status: 'Running' }) as Run),
    };
    const selected = new SelectedRuns({ ...store, runs } as never);
    const selection = { ...selectionIn('production'), statuses: ['Running' as const], startedBy: action.id };
    expect(await selected.count(selection)).to.include({ count: 1, isExact: true });
  });

  it('the results of skipped runs take no room of those of started runs, of which an undo reads the IDs', async () => {
    const runs = ['1', '2'].map((id) => ({ id, status: 'Failed' })) as Run[];
    const deps = {
      ...depsFor(runs),
      reruns: { of: async () => new Map([['1', 'already_rerun' as const]]) },
      retries: {
        nextRerun: async ({ id }: Run) => ({ id: `re-run-of-${id}` }),
        startRerun: async (_env: string, _runId: string, id: string, _nowMs: number, origin: object) =>
          ({ id, ...origin }) as Run,
      } as never,
    };
    const action = await add(actionFor('retry'));
    await doBulkAction(action, deps);
    const { counts } = (await store.bulkActions.read('production', action.id)) as BulkAction;
    expect(counts).to.include({ done: 1, skipped_kept: 1 });
    const { max, skippedMax = 0 } = bulkActionKind(1).results;
    expect(max - skippedMax).to.be.at.least(100_000);
  });

  it('it is known how many runs that a re-run started have no results', async () => {
    const selected = new SelectedRuns({ ...store } as never);
    const results = [
      { runId: '1', rerunId: 'a' },
      { runId: '2', skip: 'run_active' },
      { runId: '3', rerunId: 'b' },
    ];
    const stored = async (done: number, omitted: number) => {
      const action = await add(actionFor('retry'));
      const counts = { done, results_omitted: omitted };
      await store.bulkActions.save(action, { counts, results: results.map((result) => ({ result })) });
      return (await store.bulkActions.read('production', action.id)) as BulkAction;
    };
    expect(await selected.notListed(await stored(2, 0))).to.equal(0);
    // The omitted one was skipped.
    expect(await selected.notListed(await stored(2, 1))).to.equal(0);
    const action = await stored(5, 3);
    expect(await selected.notListed(action)).to.equal(3);
    await store.redis.del(store.keys.bulkOperationResults('production', 'bulk-action', action.id, 'all'));
    expect(await selected.notListed(action)).to.equal(5);
  });

  /** For an action that selects these runs; a test gives what its action uses besides. */
  function depsFor(runs: readonly Run[]) {
    const nothing = {} as never;
    const selectedRuns = { page: async () => ({ found: runs, next: undefined }) } as never;
    const reruns = { of: async () => new Map() };
    const others = { transitions: nothing, runMoves: nothing, retries: nothing, history: nothing, reruns };
    return { bulkActions: store.bulkActions, selectedRuns, ...others };
  }

  it('the next worker after a dead one acts on the same runs, under the same IDs, and counts them once', async () => {
    const runs = ['1', '2', '3'].map((id) => ({ id, status: 'Failed' })) as Run[];
    const rerunOf = (id: string) => `re-run-of-${id}`;
    const started: string[] = [];
    let planned = 0;
    let dies = true;
    const deps = {
      ...depsFor(runs),
      retries: {
        async nextRerun({ id }: Run) {
          planned++;
          return { id: rerunOf(id) };
        },
        async startRerun(_env: string, runId: string, id: string) {
          started.push(id);
          if (dies && runId === '2') throw new Error('killed');
          return { id, bulkActionId: action.id } as Run;
        },
        isWaiting: async () => false,
        retryNow: async () => undefined,
        resume: async () => undefined,
        historyOf: async () => [],
      },
    };
    const action = await add(actionFor('retry'));
    await doBulkAction(action, deps).catch(() => undefined);
    const left = (await store.bulkActions.read('production', action.id)) as BulkAction;
    expect([left.status, left.counts.done]).to.deep.equal(['running', undefined]);
    dies = false;
    await doBulkAction(left, deps);
    await doBulkAction(left, deps);
    const after = await store.bulkActions.read('production', action.id);
    expect([after?.status, after?.counts.done]).to.deep.equal(['done', 3]);
    expect(planned).to.equal(3);
    expect(new Set(started).size).to.equal(3);
    expect(await store.bulkActions.results(action, {})).to.deep.equal(
      runs.map(({ id }) => ({ runId: id, rerunId: rerunOf(id) })),
    );
  });

  it('of two that have planned the same re-run, the one that starts it counts it', async () => {
    const runs = ['1', '2', '3'].map((id) => ({ id, status: 'Failed' })) as Run[];
    const started = new Map<string, Run>();
    const bothPlanned = Promise.withResolvers<void>();
    let planned = 0;
    const deps = {
      ...depsFor(runs),
      retries: {
        async nextRerun({ id }: Run) {
          if (++planned === 2 * runs.length) bothPlanned.resolve();
          return { id: `re-run-of-${id}` };
        },
        async startRerun(_env: string, _runId: string, id: string, _nowMs: number, origin: { bulkActionId: string }) {
          await bothPlanned.promise;
          if (!started.has(id)) started.set(id, { id, ...origin } as Run);
          return started.get(id);
        },
      } as never,
    };
    const actions = [await add(actionFor('retry')), await add(actionFor('retry'))];
    await Promise.all(actions.map((action) => doBulkAction(action, deps)));
    for (const { id } of actions) {
      const after = await store.bulkActions.read('production', id);
      const own = [...started.values()].filter(({ bulkActionId }) => bulkActionId === id).length;
      expect([after?.status, after?.counts.done ?? 0, after?.counts['skipped:already_rerun'] ?? 0]).to.deep.equal([
        ...['done', own, runs.length - own],
      ]);
    }
    expect(started.size).to.equal(runs.length);
  });

  it('the next worker after a dead one counts its retries as retried, not as not waiting', async () => {
    const runs = ['1', '2', '3'].map((id) => ({ id, status: 'Running' })) as Run[];
    const waiting = new Set(['1', '2']);
    let dies = true;
    const deps = {
      ...depsFor(runs),
      retries: {
        isWaiting: async ({ id }: Run) => waiting.has(id),
        async retryNow(_env: string, id: string) {
          if (dies && id === '2') throw new Error('killed');
          if (!waiting.delete(id)) throw new ServiceError('run_not_waiting');
          return { id } as Run;
        },
      } as never,
    };
    const action = await add(actionFor('retry_now'));
    await doBulkAction(action, deps).catch(() => undefined);
    expect([...waiting]).to.deep.equal(['2']);
    dies = false;
    await doBulkAction((await store.bulkActions.read('production', action.id)) as BulkAction, deps);
    const after = await store.bulkActions.read('production', action.id);
    expect(after?.status).to.equal('done');
    expect(after?.counts).to.include({ done: 2, 'skipped:run_not_waiting': 1 });
  });

  it('the next worker after a dead one counts what that has cancelled, even if it is archived by then', async () => {
    const runs = ['1', '2', '3'].map((id) => ({ id, status: 'Running' })) as Run[];
    const hot = new Map(runs.map((run) => [run.id, run]));
    const archived = new Map<string, Run>([['3', { id: '3', status: 'Cancelled' } as Run]]);
    hot.delete('3');
    let dies = true;
    const deps = {
      ...depsFor(runs),
      transitions: {
        async cancel(_env: string, id: string, cancelReason: Run['cancelReason']) {
          const run = hot.get(id);
          if (!run) return undefined;
          if (dies && id === '2') throw new Error('killed');
          hot.delete(id);
          archived.set(id, { ...run, status: 'Cancelled', ...(cancelReason && { cancelReason }) });
          return archived.get(id);
        },
      },
      history: { runs: { read: async (_env: string, id: string) => archived.get(id) } } as never,
    };
    const action = await add(actionFor('cancel'));
    await doBulkAction(action, deps).catch(() => undefined);
    expect([...hot.keys()]).to.deep.equal(['2']);
    dies = false;
    await doBulkAction((await store.bulkActions.read('production', action.id)) as BulkAction, deps);
    const after = await store.bulkActions.read('production', action.id);
    expect([after?.status, after?.counts.done, after?.counts['skipped:run_ended']]).to.deep.equal(['done', 2, 1]);
  });
});

function selectionIn(env: string): BulkActionDefinition['selection'] {
  return { env, statuses: ['Failed'], before: Date.now() };
}

function actionFor(action: BulkActionDefinition['action']): BulkActionDefinition {
  const matched = { count: 3, isExact: true };
  return {
    id: newId(),
    action,
    selection: selectionIn('production'),
    rate: 1,
    matched,
    createdAt: Date.now(),
  };
}
