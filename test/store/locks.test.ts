import { once } from 'node:events';
import { expect } from 'chai';
import type { ServiceError } from '../../src/errors.ts';
import { type OwnStore, openStore } from '../support/own-store.ts';

const NAME = 'a change';

describe('Changes of two processes that wait for their turn', () => {
  let one: OwnStore;
  let other: OwnStore;
  before(async () => {
    one = await openStore();
    other = await openStore(one.prefix);
  });
  after(async () => {
    await other.close();
    await one.close();
  });

  it('are made one after another, each in whole', async () => {
    const log: string[] = [];
    const change = async (store: OwnStore, name: string) => {
      log.push(`${name} begins`);
      await store.redis.ping();
      log.push(`${name} ends`);
      return name;
    };
    const changes = ['a', 'b', 'c', 'd'].map((name, i) => {
      const store = i % 2 === 0 ? one : other;
      return store.locks.inTurn(NAME, () => change(store, name));
    });
    expect(await Promise.all(changes)).to.deep.equal(['a', 'b', 'c', 'd']);
    const begun = log.filter((_, i) => i % 2 === 0).map((line) => line.slice(0, 1));
    expect(begun.toSorted()).to.deep.equal(['a', 'b', 'c', 'd']);
    expect(log).to.deep.equal(begun.flatMap((name) => [`${name} begins`, `${name} ends`]));
  });

  it('are made again if another may have had its turn meanwhile', async () => {
    let value = '';
    let times = 0;
    const change = async (lost: AbortSignal) => {
      times += 1;
      if (times === 1) {
        // As when this process was stopped for longer than its lock lives.
        await one.redis.del(one.keys.lock(NAME));
        await other.locks.inTurn(NAME, async () => {
          value = 'other';
          if (!lost.aborted) await once(lost, 'abort');
        });
      } else value = 'first';
      return times;
    };
    expect(await one.locks.inTurn(NAME, change, { ttlMs: 60 })).to.equal(2);
    expect(value).to.equal('first');
  });

  it('are refused if those before them take too long', async () => {
    const held = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    const first = one.locks.inTurn(NAME, () => {
      begun.resolve();
      return held.promise;
    });
    await begun.promise;
    const refusal = (await other.locks
      .inTurn(NAME, async () => 'done', { waitMs: 50 })
      .catch((error: unknown) => error)) as ServiceError;
    expect([refusal.code, refusal.status]).to.deep.equal(['overloaded', 503]);
    held.resolve();
    await first;
    expect(await other.locks.inTurn(NAME, async () => 'done')).to.equal('done');
  });

  it('hand on their error, and their turn', async () => {
    const failed = one.locks.inTurn(NAME, () => Promise.reject(new Error('no such app')));
    expect(await failed.catch((error: Error) => error.message)).to.equal('no such app');
    expect(await other.locks.inTurn(NAME, async () => 'done')).to.equal('done');
  });
});
