import { expect } from 'chai';
import { countDistinct } from '../../src/store/redis/hyperloglog.ts';
import { type OwnStore, openStore } from '../support/own-store.ts';

describe('Distinct elements of several HyperLogLogs', () => {
  let store: OwnStore;
  before(async () => {
    store = await openStore();
  });
  after(() => store.close());

  for (const count of [0, 1, 2, 50, 1_000, 20_000, 300_000]) {
    it(`are counted as Redis does: ${count}`, async () => {
      const keys = ['a', 'b', 'c'].map((name) => `${store.prefix}:${count}:${name}`);
      const all = Array.from({ length: count }, (_, n) => `u-${n}`);
      // The second overlaps the first; the third does not exist.
      for (const [key, some] of [
        [keys[0], all.slice(0, Math.ceil(count * 0.6))],
        [keys[1], all.slice(Math.floor(count * 0.4))],
      ] as const) {
        for (let i = 0; i < some.length; i += 10_000)
          await store.redis.call('pfadd', key as string, ...some.slice(i, i + 10_000));
      }
      const values = await Promise.all(keys.map((key) => store.redis.getBuffer(key)));
      const counted = countDistinct(values.filter((value) => value !== null));
      expect(counted).to.equal(await store.redis.pfcount(keys));
      expect(counted).to.be.closeTo(count, count * 0.03);
    });
  }
});
