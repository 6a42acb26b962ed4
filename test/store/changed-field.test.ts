import { expect } from 'chai';
import { newId } from '../../src/model/ids.ts';
import { ORIGINS_MAX } from '../../src/origin-patterns.ts';
import { MAX_VIEWS } from '../../src/store/auth/saved-views.ts';
import { type OwnStore, openStore } from '../support/own-store.ts';

const ENV = 'production';

describe('what several processes change at once', () => {
  let store: OwnStore;
  before(async () => {
    store = await openStore();
  });
  after(() => store.close());

  const many = <T>(count: number, of: (n: number) => T): T[] => Array.from({ length: count }, (_, n) => of(n));

  it('saved views are no more than there may be', async () => {
    const view = () => ({ id: newId(Date.now()), list: 'runs', name: 'v', query: '', createdAt: 1 });
    for (let n = 0; n < MAX_VIEWS - 3; n++) await store.savedViews.save(ENV, 'user-1', view());
    const saved = await Promise.all(many(20, () => store.savedViews.save(ENV, 'user-1', view())));
    expect(saved.filter((isSaved) => isSaved)).to.have.length(3);
    const all = await store.savedViews.all(ENV, 'user-1');
    expect(all).to.have.length(MAX_VIEWS);
    const [first] = all as [(typeof all)[number]];
    expect(await store.savedViews.save(ENV, 'user-1', { ...first, query: 'q=1' }), 'a known one').to.equal(true);
  });

  it('no allowed origin is lost, and an app has so many at most', async () => {
    await Promise.all(many(10, (n) => store.allowedOrigins.add(ENV, 'shop', [`https://${n}.example.com`])));
    expect(await store.allowedOrigins.of(ENV, 'shop')).to.have.members(many(10, (n) => `https://${n}.example.com`));
    await store.allowedOrigins.add(
      ENV,
      'shop',
      many(ORIGINS_MAX, (n) => `https://x${n}.example.com`),
    );
    expect(await store.allowedOrigins.of(ENV, 'shop')).to.have.length(ORIGINS_MAX);
  });

  it('no held registration is lost while others are held and released', async () => {
    const held = (n: number) => {
      const url = `https://${n}.example.com/api`;
      return { id: `id-${n}`, app: 'shop', origins: [new URL(url).origin], url, functionCount: 1 };
    };
    const { heldRegistrations } = store;
    await Promise.all(many(4, (n) => heldRegistrations.hold(ENV, held(n), 1_000 + n)));
    const now = 2_000;
    const [released] = await Promise.all([
      heldRegistrations.release(ENV, 'shop', ({ id }) => id === 'id-0'),
      heldRegistrations.hold(ENV, held(4), now),
    ]);
    expect(released).to.equal(true);
    const ids = (await heldRegistrations.all(ENV, now)).map(({ id }) => id);
    expect(ids).to.have.members(['id-1', 'id-2', 'id-3', 'id-4']);
    await Promise.all(many(10, (n) => heldRegistrations.hold(ENV, { ...held(n), app: `app-${n}` }, now)));
    expect(await heldRegistrations.all(ENV, now)).to.have.length(14);
  });
});
