import { expect } from 'chai';
import type { AppFunction } from '../../src/model/apps/app.ts';
import { newId } from '../../src/model/ids.ts';
import { ORIGINS_MAX } from '../../src/origin-patterns.ts';
import { MAX_VIEWS } from '../../src/store/auth/saved-views.ts';
import { type OwnStore, openStore } from '../support/own-store.ts';

const ENV = 'production';

describe('Data that several processes change at once', () => {
  let store: OwnStore;
  before(async () => {
    store = await openStore();
  });
  after(() => store.close());

  const many = <T>(count: number, of: (n: number) => T): T[] => Array.from({ length: count }, (_, n) => of(n));

  it('saved views do not exceed their limit', async () => {
    const view = () => ({ id: newId(Date.now()), list: 'runs', name: 'v', query: '', createdAt: 1 });
    for (let n = 0; n < MAX_VIEWS - 3; n++) await store.savedViews.save(ENV, 'user-1', view());
    const saved = await Promise.all(many(20, () => store.savedViews.save(ENV, 'user-1', view())));
    expect(saved.filter((isSaved) => isSaved)).to.have.length(3);
    const all = await store.savedViews.all(ENV, 'user-1');
    expect(all).to.have.length(MAX_VIEWS);
    const [first] = all as [(typeof all)[number]];
    expect(await store.savedViews.save(ENV, 'user-1', { ...first, query: 'q=1' }), 'a known one').to.equal(true);
  });

  it('allowed origins are not lost, and do not exceed the limit of an app', async () => {
    await Promise.all(many(10, (n) => store.allowedOrigins.add(ENV, 'shop', [`https://${n}.example.com`])));
    expect(await store.allowedOrigins.of(ENV, 'shop')).to.have.members(many(10, (n) => `https://${n}.example.com`));
    await store.allowedOrigins.add(
      ENV,
      'shop',
      many(ORIGINS_MAX, (n) => `https://x${n}.example.com`),
    );
    expect(await store.allowedOrigins.of(ENV, 'shop')).to.have.length(ORIGINS_MAX);
  });

  it('apps that register at the same time do not exceed their limit, and known ones can still register', async () => {
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

  const fn = (app: string, id: string, endpoint = false) =>
    ({
      ...{ app, id, name: id, url: 'https://shop.example.com/api', dialect: 'service', retries: 4 },
      ...{ triggers: endpoint ? [] : [{ event: `${id}/x` }], cancel: [], archived: false, config: {} },
      ...(endpoint && { endpoint: 'signed-body' }),
    }) as AppFunction;
  const refusals = (all: PromiseSettledResult<unknown>[]) =>
    all.flatMap((item) => (item.status === 'rejected' ? [item.reason.code] : []));

  it('functions and endpoints that are registered at the same time do not exceed their limit', async () => {
    const env = 'functions';
    const others = await Promise.all(many(3, () => openStore(store.prefix)));
    const stores = [store, ...others];
    const of = (n: number) => stores[n % stores.length]?.functions as typeof store.functions;
    try {
      const two = (n: number) => [fn(`app-${n}`, `f-${n}-1`), fn(`app-${n}`, `f-${n}-2`)];
      const apps = await Promise.allSettled(many(12, (n) => of(n).replaceForApp(env, `app-${n}`, two(n), 7)));
      expect(refusals(apps)).to.deep.equal(Array(9).fill('quota_exceeded'));
      const endpoints = await Promise.allSettled(
        many(12, (n) => of(n).putEndpoint(env, fn('host', `e-${n}`, true), 5)),
      );
      expect(refusals(endpoints)).to.deep.equal(Array(7).fill('quota_exceeded'));
      const all = (await store.functions.all(env)).functions;
      expect([all.filter(({ endpoint }) => !endpoint).length, all.length]).to.deep.equal([6, 11]);
    } finally {
      for (const other of others) await other.close();
    }
  });

  it('a function ID that two apps register at the same time belongs to one of them', async () => {
    const env = 'owners';
    const other = await openStore(store.prefix);
    try {
      const replaced = await Promise.all([
        store.functions.replaceForApp(env, 'one', [fn('one', 'shared')], 10),
        other.functions.replaceForApp(env, 'two', [fn('two', 'shared')], 10),
      ]);
      expect(replaced.map(({ registered }) => registered.length).toSorted()).to.deep.equal([0, 1]);
      expect(replaced.map(({ refused }) => refused.length).toSorted()).to.deep.equal([0, 1]);
    } finally {
      await other.close();
    }
  });

  it('connections that are opened at the same time do not exceed their limit', async () => {
    const env = 'connecting';
    const places = await Promise.all(many(10, (n) => store.connections.reserve({ env, id: `id-${n}` }, 4)));
    expect(places.filter((hasPlace) => hasPlace)).to.have.length(4);
    const id = `id-${places.indexOf(true)}`;
    await store.connections.close({ env, id, apps: [] });
    expect(await store.connections.reserve({ env, id: 'next' }, 4)).to.equal(true);
  });

  it('signing keys that are rotated at the same time follow each other, and each response has a key that was valid', async () => {
    const owner = 'rotated';
    const { current: original } = await store.signingKeys.of(owner);
    const pairs = await Promise.all(many(4, () => store.signingKeys.rotate(owner)));
    const last = await store.signingKeys.of(owner);
    const before = [original, ...pairs.map(({ current }) => current).filter((key) => key !== last.current)];
    expect(pairs.map(({ fallback }) => fallback)).to.have.members(before);
    expect(pairs).to.deep.include(last);
  });

  it('held registrations are not lost while others are held and released', async () => {
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
