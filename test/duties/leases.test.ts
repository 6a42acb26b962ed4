import { fork } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { expect } from 'chai';
import { DutyRunner } from '../../src/duties/runner.ts';
import { createLog } from '../../src/log.ts';
import { NOOP_RECORDER } from '../../src/metrics/recorder.ts';
import { type LeasedDutyDeps, leasedDuty } from '../support/leased-duty.ts';
import { type OwnStore, openStore } from '../support/own-store.ts';
import { until } from '../support/until.ts';

const PROGRAM = resolve(import.meta.dirname, '../support/duty-program.ts');
const LEASE_MS = 1_000;
const log = createLog('silent', 'test');

describe('The lease of a duty', () => {
  let store: OwnStore;
  beforeEach(async () => {
    store = await openStore();
  });
  afterEach(() => store.close());

  const start = (round: LeasedDutyDeps['round'], leaseMs: number = LEASE_MS) => {
    const { locks } = store;
    return new DutyRunner({ locks, recorder: NOOP_RECORDER, log }).start([leasedDuty(leaseMs)], { round });
  };

  it('is renewed during a round, and passes to another process once its holder is dead', async () => {
    const child = fork(PROGRAM, [store.prefix, String(LEASE_MS)], { stdio: 'inherit' });
    await once(child, 'message');
    let rounds = 0;
    const started = start(async () => {
      rounds++;
    });
    const lease = store.keys.lock('test');
    const before = await store.redis.get(lease);
    let renewed = 0;
    let last = LEASE_MS;
    await until(
      async () => {
        const left = await store.redis.pttl(lease);
        if (left > last) renewed++;
        last = left;
        return renewed >= 4;
      },
      { describe: 'the lease has been renewed for longer than it lasts' },
    );
    expect([await store.redis.get(lease), rounds]).to.deep.equal([before, 0]);
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(rounds, 'rounds before the lease of the dead process has ended').to.equal(0);
    await until(() => rounds > 0, { describe: 'the other process does a round' });
    await started.close();
  });

  it('lets only one of several processes do a round at a time', async () => {
    let inProgress = 0;
    let most = 0;
    const done = [0, 0, 0];
    const started = done.map((_, i) =>
      start(async () => {
        most = Math.max(most, ++inProgress);
        await store.redis.ping();
        inProgress--;
        done[i] = (done[i] ?? 0) + 1;
      }),
    );
    await until(() => done.every((count) => count > 0), { describe: 'each has done a round' });
    await Promise.all(started.map((process) => process.close()));
    expect(most).to.equal(1);
  });

  it('aborts the signal of its round when another process takes it', async () => {
    const round = Promise.withResolvers<AbortSignal>();
    const started = start(({ signal }) => {
      round.resolve(signal);
      return new Promise((resolve) => signal.addEventListener('abort', () => resolve()));
    }, 300);
    const signal = await round.promise;
    expect(signal.aborted).to.equal(false);
    await store.redis.set(store.keys.lock('test'), 'another process', 'PX', 60_000);
    await until(() => signal.aborted, { describe: 'the round is told' });
    expect(await store.redis.get(store.keys.lock('test'))).to.equal('another process');
    await started.close();
  });

  it('is released as soon as a round ends, even by an error', async () => {
    let rounds = 0;
    const started = start(async () => {
      rounds++;
      throw new Error('no');
    }, 60_000);
    await until(() => rounds > 0, { describe: 'a round has failed' });
    await started.close();
    expect(await store.redis.exists(store.keys.lock('test'))).to.equal(0);
  });
});
