import { expect } from 'chai';
import { Sealer } from '../../src/model/auth/seal.ts';
import { newId } from '../../src/model/ids.ts';
import { withScripts } from '../../src/store/redis/connection/scripts.ts';
import type { Webhook } from '../../src/store/webhooks/webhook.ts';
import type { VersionBounds } from '../../src/store/webhooks/webhook-versions.ts';
import { Webhooks } from '../../src/store/webhooks/webhooks.ts';
import { type OwnStore, openStore } from '../support/own-store.ts';

const MANY = { maxVersions: 1_000, maxBytes: 1_000_000_000 };

describe('Limits of the versions of a webhook', () => {
  let store: OwnStore;
  before(async () => {
    store = await openStore();
  });
  after(() => store.close());

  function bounded(bounds?: VersionBounds): Webhooks {
    const { redis, keys } = store;
    const sealer = new Sealer('a secret key of more than 32 characters', undefined);
    return new Webhooks(withScripts(redis), keys, {
      sealer,
      cacheInvalidation: store.webhooks.cacheInvalidation,
      bounds,
    });
  }

  async function create(webhooks: Webhooks, transform = '0'): Promise<Webhook> {
    const id = newId();
    const webhook: Webhook = {
      id,
      key: id,
      env: 'production',
      name: 'n',
      transform,
      version: 1,
      createdAt: 1,
      updatedAt: 1,
    };
    await webhooks.create(webhook);
    return webhook;
  }

  const save = (webhooks: Webhooks, id: string, transform: string) =>
    webhooks.change(id, (before) => ({ ...before, transform }));

  async function kept(webhook: Webhook): Promise<number[]> {
    const { versions } = await store.webhookVersions.list(webhook, { limit: 1_000 });
    return versions.map(({ version }) => version);
  }

  it('the oldest versions are deleted when there are more than allowed', async () => {
    const webhooks = bounded({ ...MANY, maxVersions: 3 });
    const { id } = await create(webhooks);
    let webhook: Webhook | undefined;
    for (const n of [2, 3, 4, 5]) webhook = await save(webhooks, id, String(n));
    expect(await kept(webhook as Webhook)).to.deep.equal([5, 4, 3]);
    expect(await store.redis.hlen(store.keys.webhookVersions(id))).to.equal(6);
    expect(await store.webhookVersions.read(webhook as Webhook, 2)).to.equal(undefined);
  });

  it('the oldest versions are deleted when they have more bytes than allowed, but never the live one', async () => {
    const webhooks = bounded({ ...MANY, maxBytes: 3_000 });
    const { id } = await create(webhooks, 'x'.repeat(1_000));
    let webhook = await save(webhooks, id, 'y'.repeat(1_000));
    expect(await kept(webhook)).to.deep.equal([2, 1]);
    webhook = await save(webhooks, id, 'z'.repeat(1_000));
    expect(await kept(webhook)).to.deep.equal([3, 2]);
    webhook = await save(webhooks, id, 'large'.repeat(1_000));
    expect(await kept(webhook)).to.deep.equal([4]);
    webhook = await save(webhooks, id, 'small');
    expect(await kept(webhook)).to.deep.equal([5]);
    webhook = await save(webhooks, id, 'smaller');
    expect(await kept(webhook)).to.deep.equal([6, 5]);
  });

  it('lower limits of a later release apply from the next save on', async () => {
    const webhooks = bounded(MANY);
    const { id } = await create(webhooks);
    for (let n = 2; n <= 10; n++) await save(webhooks, id, String(n));
    const webhook = await save(bounded({ ...MANY, maxVersions: 2 }), id, 'last');
    expect(await kept(webhook)).to.deep.equal([11, 10]);
    expect(await store.redis.hlen(store.keys.webhookVersions(id))).to.equal(4);
  });

  it('100 versions and 2 MiB are kept by default', async () => {
    const webhooks = bounded();
    const small = await create(webhooks);
    let webhook: Webhook | undefined;
    for (let n = 2; n <= 102; n++) webhook = await save(webhooks, small.id, String(n));
    expect(await kept(webhook as Webhook)).to.deep.equal(Array.from({ length: 100 }, (_, i) => 102 - i));
    const large = await create(webhooks);
    for (let n = 2; n <= 40; n++) webhook = await save(webhooks, large.id, String(n).repeat(40_000));
    const fields = await store.redis.hvals(store.keys.webhookVersions(large.id));
    const bytes = fields.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
    expect(bytes).to.be.within(1_900_000, 2 * 1_048_576);
  });

  it('a version of a webhook that was deleted meanwhile is not written', async () => {
    const webhooks = bounded();
    const webhook = await create(webhooks);
    await webhooks.remove(webhook);
    const error = await save(webhooks, webhook.id, 'late').catch((thrown) => thrown);
    expect(error.code).to.equal('not_found');
    expect(await store.redis.exists(store.keys.webhookVersions(webhook.id))).to.equal(0);
  });

  it('a change that throws writes nothing', async () => {
    const webhooks = bounded();
    const webhook = await create(webhooks);
    const error = new Error('no');
    const thrown = await webhooks
      .change(webhook.id, () => {
        throw error;
      })
      .catch((caught) => caught);
    expect(thrown).to.equal(error);
    expect(await webhooks.read(webhook.id)).to.deep.equal(webhook);
  });
});
