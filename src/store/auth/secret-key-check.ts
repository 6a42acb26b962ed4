/** Checks that SECRET_KEY or SECRET_KEY_FALLBACK decrypts the secrets in Redis. With a wrong key the service would start, and every
 *  signed call would fail. An encrypted check value is stored, because there may be no other secret yet. */
import { ConfigError } from '../../config.ts';
import { SealError, type Sealer } from '../../model/auth/seal.ts';
import type { Environments } from '../environments/environments.ts';
import type { Redis } from '../redis/connection/connection.ts';
import { Repository } from '../redis/repository.ts';
import type { WebhookSecrets } from '../webhooks/webhook-secrets.ts';
import type { SigningKeys } from './signing-keys.ts';
import type { TotpSecrets } from './totp-secrets.ts';

/** Encryption context of the check value (model/auth/seal.ts). */
const CONTEXT = 'secret-key-check';
/** Maximum number of webhooks named in a message. */
const NAMED_MAX = 10;

/** Has sealed secrets of environments. */
export interface Sealing {
  /** @returns number of objects whose secrets it re-encrypted */
  reencrypt(env: string): Promise<number>;
}

export class SecretKeyCheck extends Repository<
  Redis,
  {
    sealer: Sealer;
    signingKeys: SigningKeys;
    webhookSecrets: WebhookSecrets;
    totpSecrets: TotpSecrets;
    environments: Pick<Environments, 'all'>;
    sealing: readonly Sealing[];
  }
> {
  /** Read-only check.
   *  @throws ConfigError when a secret cannot be decrypted */
  async verify(): Promise<void> {
    const [checkValue, unreadable] = await Promise.all([
      this.redis.get(this.keys.secretKeyCheck),
      this.deps.signingKeys.unreadable(),
    ]);
    if (unreadable.length > 0) throw await this.#wrongKey(`the signing key of ${unreadable.join(', ')}`);
    if (checkValue !== null && !this.#decrypts(checkValue)) throw await this.#wrongKey('what a former start sealed');
  }

  /** Stores the check value if there is none, then verifies: of two processes that start on an empty Redis with different keys, one
   *  fails.
   *  @throws ConfigError when a secret cannot be decrypted */
  async claim(): Promise<void> {
    await this.verify();
    // If Redis rejects the write, a later start stores the value.
    await this.redis.setnx(this.keys.secretKeyCheck, this.deps.sealer.seal('', CONTEXT)).catch(() => undefined);
    await this.verify();
  }

  /** Describes the webhooks whose secrets cannot be decrypted, for people; undefined if there are none. The service runs without them and
   *  rejects their requests until their secrets are saved again. */
  async unreadableWebhooks(): Promise<string | undefined> {
    const names = await this.deps.webhookSecrets.unreadable();
    if (names.length === 0) return undefined;
    const rest = names.length > NAMED_MAX ? ` and ${names.length - NAMED_MAX} more` : '';
    const named = names.slice(0, NAMED_MAX).map((name) => JSON.stringify(name));
    return named.join(', ') + rest;
  }

  /** Encrypts all secrets with the current key, so that the fallback is no longer needed.
   *  @returns number of signing keys, webhooks, authenticator apps, destinations and alert channels */
  async reencrypt(): Promise<number> {
    const { signingKeys, webhookSecrets, totpSecrets, environments, sealing } = this.deps;
    let count = 0;
    for (const part of [signingKeys, webhookSecrets, totpSecrets]) count += await part.reencrypt();
    for (const { name } of await environments.all()) {
      for (const part of sealing) count += await part.reencrypt(name);
    }
    await this.redis.set(this.keys.secretKeyCheck, this.deps.sealer.seal('', CONTEXT));
    return count;
  }

  #decrypts(sealed: string): boolean {
    try {
      this.deps.sealer.open(sealed, CONTEXT);
      return true;
    } catch (error) {
      if (error instanceof SealError) return false;
      throw error;
    }
  }

  async #wrongKey(what: string): Promise<ConfigError> {
    const { secretKeyCheck: sealCheck, signingKeys } = this.keys;
    const webhooks = await this.unreadableWebhooks();
    const also = webhooks === undefined ? '' : `, and the secrets of the webhooks ${webhooks}`;
    const then = webhooks === undefined ? '' : '. Then save the secrets of these webhooks again';
    return new ConfigError(
      `SECRET_KEY: neither it nor SECRET_KEY_FALLBACK decrypts ${what}${also} in Redis. Set SECRET_KEY_FALLBACK to the previous key. ` +
        `If that key is lost, delete the Redis keys ${signingKeys} and ${sealCheck}: the service generates new signing keys, which apps then need${then}`,
    );
  }
}
