import { expect } from 'chai';
import { Sealer } from '../../src/model/auth/seal.ts';
import { type ScriptedRedis, withScripts } from '../../src/store/redis/connection/scripts.ts';
import { sealLocation } from '../../src/store/webhooks/webhook-in-use.ts';
import { WebhookSecrets } from '../../src/store/webhooks/webhook-secrets.ts';
import { connectRedis, deleteKeys, freshPrefix, keyspaceOf } from '../support/redis.ts';

const prefix = freshPrefix();
const keys = keyspaceOf(prefix);
const FORMER = new Sealer('former secret key 0123456789', undefined);
const PRESENT = new Sealer('present secret key 0123456789', 'former secret key 0123456789');

describe('Secrets of webhooks', () => {
  const redis = connectRedis();
  withScripts(redis);
  after(async () => {
    await deleteKeys(redis, prefix);
    redis.disconnect();
  });

  it('are re-encrypted when a webhook is saved while SECRET_KEY changes, and the webhook keeps what was saved', async () => {
    const save = (name: string) => redis.hset(keys.webhooks, 'one', JSON.stringify(webhook(name)));
    await save('before');
    let reads = 0;
    // Another process saves between the first read and the write.
    const interrupted = new Proxy(redis, {
      get(target, property) {
        const value = Reflect.get(target, property);
        if (property !== 'hget') return typeof value === 'function' ? value.bind(target) : value;
        return async (key: string, field: string) => {
          const text = await target.hget(key, field);
          if (reads++ === 0) await save('after');
          return text;
        };
      },
    });
    const secrets = new WebhookSecrets(interrupted as unknown as ScriptedRedis, keys, { sealer: PRESENT });
    expect(await secrets.reencrypt()).to.equal(1);
    const { name, secrets: stored, reconciliation } = JSON.parse((await redis.hget(keys.webhooks, 'one')) as string);
    expect(name).to.equal('after');
    expect(PRESENT.isCurrent(stored[0].sealed)).to.equal(true);
    expect(PRESENT.open(stored[0].sealed, sealLocation('one', 's'))).to.equal('the secret');
    expect(PRESENT.isCurrent(reconciliation.key.sealed)).to.equal(true);
    expect(PRESENT.open(reconciliation.key.sealed, sealLocation('one', 'k'))).to.equal('the key');
    expect(await secrets.reencrypt()).to.equal(0);
  });

  function webhook(name: string) {
    const secrets = [{ id: 's', sealed: FORMER.seal('the secret', sealLocation('one', 's')) }];
    const key = { id: 'k', sealed: FORMER.seal('the key', sealLocation('one', 'k')) };
    return { id: 'one', name, secrets, reconciliation: { account: {}, key } };
  }
});
