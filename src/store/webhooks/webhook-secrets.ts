/** The encrypted secrets of all webhooks, for changes of SECRET_KEY. */
import type { Sealer } from '../../model/auth/seal.ts';
import type { ScriptedRedis } from '../redis/connection/scripts.ts';
import { Repository } from '../redis/repository.ts';
import { type StoredSecret, sealedSecretsOf, type Webhook } from './webhook.ts';
import { sealLocation } from './webhook-in-use.ts';

/** Maximum number of concurrent saves of a webhook that a re-encryption retries after. */
const TRIES_MAX = 100;

export class WebhookSecrets extends Repository<ScriptedRedis, { sealer: Sealer }> {
  /** Names of webhooks with a secret that cannot be decrypted. */
  async unreadable(): Promise<string[]> {
    const texts = await this.redis.hvals(this.keys.webhooks);
    const webhooks = texts.map((text) => JSON.parse(text) as Webhook);
    return webhooks
      .filter((webhook) => sealedSecretsOf(webhook).some((secret) => this.#open(webhook.id, secret) === undefined))
      .map(({ name }) => name);
  }

  /** Re-encrypts, with the current key, secrets encrypted with the fallback. Secrets that neither key decrypts stay unchanged.
   *  @returns number of webhooks
   *  @throws Error if other processes keep saving a webhook */
  async reencrypt(): Promise<number> {
    let count = 0;
    for (const id of await this.redis.hkeys(this.keys.webhooks)) count += Number(await this.#reencrypt(id));
    return count;
  }

  async #reencrypt(id: string): Promise<boolean> {
    for (let tries = 0; tries < TRIES_MAX; tries++) {
      const text = await this.redis.hget(this.keys.webhooks, id);
      if (text === null) return false;
      const webhook = JSON.parse(text) as Webhook;
      const secrets = webhook.secrets?.map((secret) => this.#current(id, secret));
      const { reconciliation: given } = webhook;
      const reconciliation = given && { ...given, key: this.#current(id, given.key) };
      const changed = { ...webhook, secrets, reconciliation };
      const before = sealedSecretsOf(webhook);
      if (sealedSecretsOf(changed).every((secret, index) => secret === before[index])) return false;
      // Does not overwrite a concurrent save.
      if (await this.redis.replaceField(this.keys.webhooks, id, text, JSON.stringify(changed))) return true;
    }
    throw new Error(`the webhook ${id} is being saved all the time`);
  }

  #current(webhookId: string, secret: StoredSecret): StoredSecret {
    if (this.deps.sealer.isCurrent(secret.sealed)) return secret;
    const opened = this.#open(webhookId, secret);
    if (opened === undefined) return secret;
    return { ...secret, sealed: this.deps.sealer.seal(opened, sealLocation(webhookId, secret.id)) };
  }

  /** undefined if neither SECRET_KEY nor the fallback decrypts it. */
  #open(webhookId: string, { id, sealed }: StoredSecret): string | undefined {
    return this.deps.sealer.tryOpen(sealed, sealLocation(webhookId, id));
  }
}
