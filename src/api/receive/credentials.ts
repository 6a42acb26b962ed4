/** Who sends: what the key in the path stands for. One hash and a look into memory; the store is asked only for what is not there. */
import { ServiceError } from '../../errors.ts';
import { digestOf } from '../../model/auth/secret.ts';
import { PRODUCTION } from '../../model/environment.ts';
import type { EventKeyInUse, EventKeys } from '../../store/auth/event-keys.ts';
import type { WebhookDirectory, WebhookInUse } from '../../store/webhooks/webhook-directory.ts';

export type Credential = { kind: 'event-key'; key: EventKeyInUse } | { kind: 'webhook'; webhook: WebhookInUse };

/** In dev mode every key that is not known is this one, and of no environment. */
export const ANY_KEY: EventKeyInUse = {
  id: 'any',
  name: 'any',
  env: PRODUCTION,
  digest: '',
  hint: '',
  createdAt: 0,
  updatedAt: 0,
  gate: { allowsName: () => true, allowsAddress: () => true },
};

export class Credentials {
  readonly #eventKeys: EventKeys;
  readonly #webhooks: WebhookDirectory;
  readonly #dev: boolean;

  constructor(eventKeys: EventKeys, webhooks: WebhookDirectory, dev: boolean) {
    this.#eventKeys = eventKeys;
    this.#webhooks = webhooks;
    this.#dev = dev;
  }

  /** @throws ServiceError key_unknown; unavailable until keys and webhooks have been read for the first time */
  async of(secret: string, nowMs: number): Promise<Credential> {
    const digest = digestOf(secret);
    const key = this.#eventKeys.find(digest);
    if (key) return { kind: 'event-key', key };
    const webhook = this.#webhooks.find(secret, digest, nowMs);
    if (webhook) return { kind: 'webhook', webhook };
    return (await this.#seek(secret, digest, nowMs)) ?? this.#unknown();
  }

  async #seek(secret: string, digest: string, nowMs: number): Promise<Credential | undefined> {
    const [key, webhook] = await Promise.all([
      this.#eventKeys.seek(digest),
      this.#webhooks.seek(secret, digest, nowMs),
    ]);
    if (key) return { kind: 'event-key', key };
    return webhook && { kind: 'webhook', webhook };
  }

  #unknown(): Credential {
    if (this.#dev) return { kind: 'event-key', key: ANY_KEY };
    throw new ServiceError('key_unknown', {
      detail: 'use an event key of this service, or the URL of one of its webhooks',
    });
  }
}
