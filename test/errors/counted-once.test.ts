import { expect } from 'chai';
import { FailureCounter } from '../../src/jobs/runs/ends/failure-counter.ts';
import { newId } from '../../src/model/ids.ts';
import { startAppHost } from '../support/app-host.ts';
import { envelope, type OwnStore, openStore } from '../support/own-store.ts';
import { findKeys } from '../support/redis.ts';
import { startService } from '../support/service.ts';
import { until } from '../support/until.ts';

const ERROR = { name: 'Error', message: 'no' };

describe('A failed run counts once in its error group', () => {
  let store: OwnStore;
  beforeEach(async () => {
    store = await openStore();
  });
  afterEach(() => store.close());

  const failedRun = async (functionId = 'f', error = ERROR) => {
    const now = Date.now();
    const event = envelope({ user: { id: 'u-1' } });
    await store.events.storeNew([event]);
    const [id, eventId] = [newId(now), event.internalId];
    const run = { id, env: 'production', functionId, eventId, requestId: eventId, queuedAt: now };
    await store.runs.create([{ ...run, reconcileAt: now + 60_000 }]);
    const counter = new FailureCounter({ ...store, history: store });
    const mark = await counter.mark(run, error);
    await store.runs.end(run, { status: 'Failed', error, ...mark }, now);
    return { id, counter, mark };
  };
  const groups = async () => {
    const positions = await store.errorGroups.positions('production', {});
    return store.errorGroups.read(
      'production',
      positions.map(({ id }) => id),
    );
  };

  it('however often its end is repeated, even by a process that finds it ended and uncounted', async () => {
    const { id, counter } = await failedRun();
    expect(await groups()).to.deep.equal([]);
    const found = await store.runs.read('production', id);
    if (!found) throw new Error('the run is gone');
    expect(found).to.include({ status: 'Failed', uncounted: '' });
    await Promise.all([counter.count(found), counter.count(found), counter.count(found)]);
    expect((await groups()).map((group) => [group?.count, group?.withUser])).to.deep.equal([[1, 1]]);
    expect(await store.errorGroups.countUsers('production', found.fingerprint as string)).to.equal(1);
    expect(await store.runs.read('production', id)).to.not.have.property('uncounted');
  });

  it('in keys that all expire', async () => {
    const { id, counter } = await failedRun();
    await counter.count((await store.runs.read('production', id)) as never);
    const keys = await findKeys(store.redis, store.prefix, /error-group/);
    expect(keys).to.have.length(4);
    for (const key of keys) expect(await store.redis.pttl(key), key).to.be.greaterThan(0);
  });

  it('in one of at most 1,000 groups of an environment; resolved ones are dropped first', async () => {
    const record = async (n: number) => {
      const { id, mark } = await failedRun(`f${Math.floor(n / 100)}`, { ...ERROR, message: `no ${'x'.repeat(n)}` });
      await store.errorGroups.record(
        { env: 'production', id, functionId: `f${Math.floor(n / 100)}` },
        { fingerprint: n.toString(16).padStart(32, '0'), error: ERROR, user: 'u-1' },
        1_700_000_000_000 + n,
      );
      return mark;
    };
    for (let n = 0; n < 1_000; n++) await record(n);
    const kept = async () => (await store.errorGroups.positions('production', {})).map(({ id }) => Number(`0x${id}`));
    expect(await kept()).to.have.length(1_000);
    const by = { kind: 'dev', id: 'dev', name: 'dev' } as const;
    await store.errorGroups.change('production', (5).toString(16).padStart(32, '0'), 'resolved', by, Date.now());
    await record(1_000);
    expect(await kept())
      .to.have.length(1_000)
      .and.include(0)
      .and.not.include(5);
    await record(1_001);
    expect(await kept())
      .to.have.length(1_000)
      .and.not.include(0);
    const ofFunction = await store.errorGroups.positions('production', { functionId: 'f0' });
    expect(ofFunction).to.have.length(98);
    expect(await findKeys(store.redis, store.prefix, /error-group-users/)).to.have.length(1_000);
  });
});

describe('Error groups of two partitions', () => {
  it('count each reopening by a failure once, and each user, whichever partition they are in', async () => {
    const store = await openStore(undefined, { PARTITIONS: '2' });
    try {
      const fingerprint = 'f'.repeat(32);
      const by = { kind: 'dev', id: 'dev', name: 'dev' } as const;
      let now = Date.now();
      const fail = async (partition: number, user?: string) => {
        const id = store.ids.inPartition(newId(now), partition);
        const run = { id, env: 'production', functionId: 'f', eventId: id, requestId: id, queuedAt: now };
        await store.runs.create([{ ...run, reconcileAt: now + 60_000 }]);
        await store.runs.end(run, { status: 'Failed', error: ERROR, uncounted: '' }, now);
        await store.errorGroups.record(run, { fingerprint, error: ERROR, user }, ++now);
      };
      const change = (to: 'open' | 'resolved') => store.errorGroups.change('production', fingerprint, to, by, ++now);
      const group = async () => (await store.errorGroups.read('production', [fingerprint]))[0];
      const reopened: unknown[] = [];
      for (const partition of [0, 1, 1, 0]) {
        await fail(partition);
        reopened.push((await group())?.reopened);
        await change('resolved');
        reopened.push((await group())?.reopened);
      }
      expect(reopened).to.deep.equal([0, 0, 1, 1, 2, 2, 3, 3]);
      await change('open');
      await fail(1);
      expect(await group()).to.include({ state: 'open', reopened: 3, count: 5, withUser: 0 });
      for (const [partition, user] of [0, 1].flatMap((n) => ['a', 'b', `${n}`].map((id) => [n, id] as const))) {
        await fail(partition, user);
      }
      expect(await group()).to.include({ count: 11, withUser: 6 });
      expect(await store.errorGroups.countUsers('production', fingerprint)).to.equal(4);
    } finally {
      await store.close();
    }
  });
});

describe('Error groups when a worker dies', function () {
  this.timeout(120_000);

  it('count every failed run exactly once', async () => {
    const EVENTS = 100;
    const service = await startService({
      processes: 'worker',
      env: { STALLED_AFTER_SECONDS: '1', RUN_CONCURRENCY: '10' },
    });
    const host = await startAppHost();
    try {
      host.on('f', () => ({ status: 400, headers: { 'x-service-no-retry': 'true' }, body: ERROR }));
      await host.register(service, [{ id: 'f', triggers: [{ event: 'die/x' }] }]);
      const events = Array.from({ length: EVENTS }, (_, n) => ({ name: 'die/x', data: { n } }));
      await service.post('/e/key', events);
      const countOf = async () => (await service.get('/v1/errors')).body.data[0]?.count ?? 0;
      await until(() => host.calls('f').length > 20, { describe: 'some runs have failed' });
      await service.killWorker();
      expect(await countOf()).to.be.at.most(EVENTS);
      await service.startWorker();
      await service.waitFor('/v1/runs?status=Queued,Running', ({ body }) => body.data.length === 0, 20_000);
      await until(async () => (await countOf()) >= EVENTS, { describe: 'all are counted', timeoutMs: 20_000 });
      expect(await countOf()).to.equal(EVENTS);
    } finally {
      await service.stop();
      await host.close();
    }
  });
});
