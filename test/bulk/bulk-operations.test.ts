/** What is stored of bulk operations, whatever they do. */
import { expect } from 'chai';
import { newId } from '../../src/model/ids.ts';
import type { ReplayDefinition } from '../../src/model/replays/replay.ts';
import { digestOf } from '../../src/model/runs/cancellation.ts';
import { type OwnStore, openStore } from '../support/own-store.ts';

describe('Bulk operations in the store', () => {
  let store: OwnStore;
  before(async () => {
    store = await openStore();
  });
  after(() => store.close());

  const replayIn = (env: string): ReplayDefinition => {
    const now = Date.now();
    return { id: newId(now), env, filter: {}, after: 0, before: now, statuses: ['Failed'], rate: 10, createdAt: now };
  };
  const addReplay = (definition: ReplayDefinition) =>
    store.replays.add(definition.env, definition, { position: { at: 0 } });

  it('stay within the limit of their environment when many are added at once', async () => {
    const adding = Array.from({ length: 30 }, () => addReplay(replayIn('crowded')));
    const outcomes = await Promise.allSettled(adding);
    const refused = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason.code] : []));
    expect(refused).to.deep.equal(Array.from({ length: 20 }, () => 'quota_exceeded'));
    expect(await store.replays.list('crowded')).to.have.length(10);
  });

  it('stay within the limit of their kind when many are added at once', async () => {
    const bulkAction = () => {
      const [id, createdAt] = [newId(), Date.now()];
      const selection = { env: 'crowded', statuses: ['Failed' as const], before: createdAt };
      const matched = { count: 1, isExact: true };
      return store.bulkActions.add(
        'crowded',
        { id, action: 'retry', selection, rate: 1, matched, createdAt },
        { position: null },
      );
    };
    const cancellation = () => {
      const [id, createdAt] = [newId(), Date.now()];
      const definition = { id, app: 'shop', functionId: 'shop-pay', before: createdAt, createdAt };
      return store.cancellations.add('crowded', definition, { position: null });
    };
    await Promise.allSettled(Array.from({ length: 25 }, bulkAction));
    await Promise.allSettled(Array.from({ length: 120 }, cancellation));
    expect(await store.bulkActions.list('crowded')).to.have.length(10);
    expect(await store.cancellations.list('crowded')).to.have.length(100);
  });

  it('are the same one if they do the same as an open one, even when many are added at once', async () => {
    const ids = await Promise.all(
      Array.from({ length: 10 }, () => {
        const definition = { id: newId(), app: 'shop', functionId: 'shop-pay', before: 9, createdAt: 7 };
        return store.cancellations.add('same', definition, { position: null, digest: digestOf(definition) });
      }),
    );
    expect(new Set(ids).size).to.equal(1);
    expect(await store.cancellations.list('same')).to.have.length(1);
  });

  it('make room for others when they end', async () => {
    const [first] = await store.replays.list('crowded');
    await store.replays.change({ env: 'crowded', id: first?.id as string }, 'cancelled', ['running'], Date.now());
    const added = await addReplay(replayIn('crowded'));
    expect((await store.replays.read('crowded', added))?.status).to.equal('running');
  });

  it('save each portion once, and only what is still left to do', async () => {
    const definition = replayIn('once');
    await addReplay(definition);
    const replay = await store.replays.read('once', definition.id);
    if (!replay) throw new Error('it was not stored');
    const portion = { position: { at: 5 }, counts: { started: 2 }, results: [{ result: 'a' }, { result: 'b' }] };
    expect(await store.replays.save(replay, portion)).to.equal('running');
    expect(await store.replays.save(replay, portion)).to.equal(undefined);
    const saved = await store.replays.read('once', definition.id);
    expect(saved).to.deep.include({ position: { at: 5 }, portion: '1' });
    expect(saved?.counts).to.include({ started: 2 });
    expect(await store.replays.results(replay, {})).to.deep.equal(['a', 'b']);
  });

  it('stay due when somebody resumes them while a worker pauses them', async () => {
    const definition = replayIn('resting');
    await addReplay(definition);
    const ref = { env: 'resting', id: definition.id };
    await store.replays.change(ref, 'paused', ['running'], Date.now());
    await store.replays.change(ref, 'running', ['paused'], Date.now());
    await store.replays.schedule(ref, 'paused', undefined);
    expect(await store.replays.due(Date.now() + 1, 100)).to.deep.include(ref);
    await store.replays.schedule(ref, 'running', undefined);
    expect(await store.replays.due(Date.now() + 1, 100)).to.not.deep.include(ref);
  });
});
