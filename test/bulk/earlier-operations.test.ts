/** Bulk operations that an earlier version stored. */
import { expect } from 'chai';
import { newId } from '../../src/model/ids.ts';
import { type OwnStore, openStore } from '../support/own-store.ts';
import { findKeys } from '../support/redis.ts';

describe('After an upgrade', () => {
  let store: OwnStore;
  beforeEach(async () => {
    store = await openStore();
  });
  afterEach(() => store.close());

  const key = (...words: string[]) => [store.keys.prefix, ...words].join(':');
  const earlierKeys = () =>
    findKeys(store.redis, store.prefix, /^:(?!(.*:)?(bulk|open-bulk|due-bulk-operations|partition))/);

  it('a replay continues where it was, with its counts, results and active runs', async () => {
    const id = newId();
    const definition = {
      id,
      env: 'production',
      filter: {},
      after: 1,
      before: 9,
      statuses: ['Failed'],
      rate: 5,
      createdAt: 7,
    };
    await store.redis.hset(key('replay', 'production', id), {
      definition: JSON.stringify(definition),
      status: 'running',
      portion: '4',
      position: '{"at":3}',
      window_ms: '60000',
      started: '2',
      'ended:Failed': '1',
    });
    await store.redis.pexpire(key('replay', 'production', id), 600_000);
    await store.redis.zadd(key('replays', 'production'), 7, id);
    await store.redis.sadd(key('open-replays', 'production'), id);
    await store.redis.zadd(key('due-replays'), 8, `production/${id}`);
    await store.redis.sadd(key('replay-active-runs', 'production', id), 'run-2');
    await store.redis.hset(key('replay-portion', 'production', id), 'run-2', 'event-2');
    await store.redis.rpush(key('replay-results', 'production', id), '{"eventId":"e"}');
    expect(await store.earlierOperations.envsInProgress()).to.deep.equal(['production']);

    await store.earlierOperations.adopt(['production']);

    const replay = await store.replays.read('production', id);
    expect(replay).to.deep.include({ definition, status: 'running', portion: '4', position: { at: 3 } });
    expect(replay?.counts).to.deep.equal({ window_ms: 60_000, started: 2, 'ended:Failed': 1, active: 1 });
    const ref = { env: 'production', id };
    expect(await store.replays.due(8, 10)).to.deep.equal([ref]);
    expect([...(await store.replayedRuns.registered(ref))]).to.deep.equal([['run-2', 'event-2']]);
    expect(await store.replays.results(ref, {})).to.deep.equal([{ eventId: 'e' }]);
    expect(await store.redis.smembers(store.keys.openBulkOperations('production', 'replay'))).to.deep.equal([id]);
    expect(await earlierKeys()).to.deep.equal([]);
  });

  it('a replay of webhook requests continues with its draft, under the same event IDs', async () => {
    const id = newId();
    const definition = {
      id,
      webhookId: 'w',
      to: 9,
      hasDraft: true,
      rate: 5,
      total: { count: 3, isExact: true },
      createdAt: 7,
    };
    await store.redis.hset(key('webhook-replay', id), {
      spec: JSON.stringify(definition),
      state: 'running',
      position: 'request-2',
      parent: 'parent-3',
      waiting: '',
      done: '1',
      failed: '1',
      draftFilter: '',
    });
    await store.redis.pexpire(key('webhook-replay', id), 600_000);
    await store.redis.zadd(key('webhook-replays'), 7, id);
    await store.redis.zadd(key('active-webhook-replays'), 7, id);
    await store.redis.rpush(key('webhook-replay-results', id, 'done'), '{"requestId":"request-1"}');

    await store.earlierOperations.adopt([]);

    const adopted = await store.webhookReplays.read('', id);
    expect(adopted).to.deep.include({
      definition: { ...definition, draft: { filter: null } },
      status: 'running',
      position: { last: 'request-2', after: 'request-2' },
      planned: { parent: 'parent-3' },
    });
    expect(adopted?.counts).to.deep.equal({ done: 1, failed: 1, active: 0 });
    expect(await store.webhookReplays.due(Date.now(), 10)).to.deep.equal([{ env: '', id }]);
    const results = await store.webhookReplays.results({ env: '', id }, { list: 'done' });
    expect(results).to.deep.equal([{ requestId: 'request-1' }]);
    expect(await earlierKeys()).to.deep.equal([]);
  });

  it('a bulk cancellation continues where it was', async () => {
    const id = newId();
    const definition = { id, app: 'shop', functionId: 'shop-pay', before: 9, createdAt: 7 };
    const pass = { startedAt: 5, position: { at: 3, id: 'run-3' } };
    const cancellation = { ...definition, env: 'production', cancelledRuns: 2, pass };
    await store.redis.hset(key('cancellations', 'production'), id, JSON.stringify(cancellation));
    await store.redis.pexpire(key('cancellations', 'production'), 600_000);
    await store.redis.zadd(key('due-cancellations'), 8, `production/${id}`);
    expect(await store.earlierOperations.envsInProgress()).to.deep.equal(['production']);

    await store.earlierOperations.adopt(['production']);

    const adopted = await store.cancellations.read('production', id);
    const position = { startedAt: 5, at: 3, id: 'run-3' };
    expect(adopted).to.deep.include({ definition, status: 'running', position });
    expect(adopted?.counts).to.deep.equal({ cancelled: 2, active: 0 });
    expect(await store.cancellations.due(8, 10)).to.deep.equal([{ env: 'production', id }]);
    expect(await earlierKeys()).to.deep.equal([]);
  });

  it('a bulk action continues with the runs that it was acting on, and can be undone', async () => {
    const id = newId();
    const definition = { id, action: 'retry', selection: { env: 'production' }, rate: 5, createdAt: 7 };
    const portion = { runs: [{ id: 'run-3', rerunId: 'again-3' }], next: { at: 1, id: 'run-3' } };
    const action = { ...definition, status: 'running', done: 1, skipped: { run_active: 1 }, portion };
    await store.redis.hset(key('bulk-actions', 'production'), id, JSON.stringify(action));
    await store.redis.pexpire(key('bulk-actions', 'production'), 600_000);
    await store.redis.zadd(key('due-bulk-actions'), 8, `production/${id}`);
    await store.redis.zadd(key('bulk-results', 'production', id), 0, '0 run-1 again-1', 1, '1 run-2 run_active');
    expect(await store.earlierOperations.envsInProgress()).to.deep.equal(['production']);

    await store.earlierOperations.adopt(['production']);

    const adopted = await store.bulkActions.read('production', id);
    expect(adopted).to.deep.include({ definition, status: 'running', position: null, planned: portion });
    expect(adopted?.counts).to.deep.equal({ done: 1, 'skipped:run_active': 1, active: 0 });
    expect(await store.bulkActions.due(8, 10)).to.deep.equal([{ env: 'production', id }]);
    expect(await store.bulkActions.results({ env: 'production', id }, {})).to.deep.equal([
      { runId: 'run-1', rerunId: 'again-1' },
      { runId: 'run-2', skip: 'run_active' },
    ]);
    expect(await earlierKeys()).to.deep.equal([]);
  });
});
