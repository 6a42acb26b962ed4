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

  it('apps that register at the same time are no more than there may be, and known ones register on', async () => {
    const app = (n: number) => ({
      name: `app-${n}`,
      url: `https://${n}.example.com/api`,
      dialect: 'service' as const,
      registeredAt: 1,
      lastSync: { at: 1, found: 'told' as const },
    });
    const env = 'apps';
    const claims = await Promise.allSettled(many(10, (n) => store.apps.claim(env, app(n), 3)));
    const claimed = claims.flatMap((claim) => (claim.status === 'fulfilled' ? [claim.value] : []));
    expect(claimed).to.have.length(3);
    const refused = claims.find(({ status }) => status === 'rejected') as PromiseRejectedResult;
    expect(refused.reason.message).to.include('has 3 apps');
    const [first, ...others] = await store.apps.all(env);
    expect(others).to.have.length(2);
    const known = await store.apps.claim(env, first as never, 3);
    await known();
    expect(await store.apps.all(env), 'one that was known stays').to.have.length(3);
    for (const release of claimed) await release();
    expect(await store.apps.all(env)).to.deep.equal([]);
  });

  it('connections that are made at the same time are no more than there may be', async () => {
    const env = 'connecting';
    const places = await Promise.all(many(10, (n) => store.connections.reserve({ env, id: `id-${n}` }, 4)));
    expect(places.filter((hasPlace) => hasPlace)).to.have.length(4);
    const id = `id-${places.indexOf(true)}`;
    await store.connections.close({ env, id, apps: [] });
    expect(await store.connections.reserve({ env, id: 'next' }, 4)).to.equal(true);
  });

  it('signing keys that are rotated at the same time follow each other: each answer has a key that counted', async () => {
    const owner = 'rotated';
    const { current: original } = await store.signingKeys.of(owner);
    const pairs = await Promise.all(many(4, () => store.signingKeys.rotate(owner)));
    const last = await store.signingKeys.of(owner);
    const before = [original, ...pairs.map(({ current }) => current).filter((key) => key !== last.current)];
    expect(pairs.map(({ fallback }) => fallback)).to.have.members(before);
    expect(pairs).to.deep.include(last);
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
