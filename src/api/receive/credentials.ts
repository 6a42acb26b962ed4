/** Authenticates a request to `/e/:key`: finds the event key or webhook of the key in the path, and applies its allow lists. A known key
 *  costs one hash and one lookup in memory. An unknown key costs a request to the store; in dev mode, which accepts any key, only its first
 *  request does. */
import { LRUCache } from 'lru-cache';
import { ServiceError } from '../../errors.ts';
import type { AccessListMatcher } from '../../model/auth/allow-lists.ts';
import { digestOf } from '../../model/auth/secret.ts';
import { PRODUCTION } from '../../model/environment.ts';
import type { Event } from '../../model/events/event.ts';
import { atMost } from '../../model/values/cache-size.ts';
import { Composed } from '../../model/values/composed.ts';
import { describe } from '../../model/values/json.ts';
import type { EventKeyInUse, EventKeys } from '../../store/auth/event-keys.ts';
import type { WebhookDirectory } from '../../store/webhooks/webhook-directory.ts';
import type { WebhookInUse } from '../../store/webhooks/webhook-in-use.ts';

export type Credential = { kind: 'event-key'; key: EventKeyInUse } | { kind: 'webhook'; webhook: WebhookInUse };

/** Represents every unknown key in dev mode. It belongs to no environment. */
export const ANY_KEY: EventKeyInUse = {
  id: 'any',
  name: 'any',
  env: PRODUCTION,
  digest: '',
  hint: '',
  createdAt: 0,
  updatedAt: 0,
  allowList: { allowsName: () => true, allowsAddress: () => true },
};

/** Maximum number of remembered unknown keys: after a flood of other keys, this process looks a key up again. */
const UNKNOWN_MAX = 10_000;

export class Credentials extends Composed<{ eventKeys: EventKeys; webhooks: WebhookDirectory; dev: boolean }> {
  /** Digests of secrets that Redis does not know, only used in dev mode. Secrets are random, so no user can later be given a
   *  secret that was tried before. */
  readonly #unknown = new LRUCache<string, true>(atMost(UNKNOWN_MAX));

  /** @throws ServiceError key_unknown; unavailable until keys and webhooks have been read for the first time */
  async of(secret: string, nowMs: number): Promise<Credential> {
    const digest = digestOf(secret);
    const key = this.deps.eventKeys.find(digest);
    if (key) return { kind: 'event-key', key };
    const webhook = this.deps.webhooks.find(secret, digest, nowMs);
    if (webhook) return { kind: 'webhook', webhook };
    if (this.deps.dev && this.#unknown.has(digest)) return { kind: 'event-key', key: ANY_KEY };
    const found = await this.#readFromStore(secret, digest, nowMs);
    if (found) return found;
    if (this.deps.dev) {
      this.#unknown.set(digest, true);
      return { kind: 'event-key', key: ANY_KEY };
    }
    throw keyUnknown();
  }

  async #readFromStore(secret: string, digest: string, nowMs: number): Promise<Credential | undefined> {
    const [key, webhook] = await Promise.all([
      this.deps.eventKeys.findOrFetch(digest),
      this.deps.webhooks.findOrFetch(secret, digest, nowMs),
    ]);
    if (key) return { kind: 'event-key', key };
    return webhook && { kind: 'webhook', webhook };
  }
}

export function keyUnknown(): ServiceError {
  return new ServiceError('key_unknown', {
    detail: 'use an event key of this service, or the URL of one of its webhooks',
  });
}

/** @throws ServiceError ip_refused */
export function rejectDeniedAddress(allowList: AccessListMatcher, address: string): void {
  if (allowList.allowsAddress(address)) return;
  throw new ServiceError('ip_refused', { detail: `got ${describe(address)}` });
}

/** One event with a rejected name rejects the whole request.
 *  @throws ServiceError event_refused, naming the event */
export function rejectDeniedNames(allowList: AccessListMatcher, events: readonly Event[]): void {
  const index = events.findIndex(({ name }) => !allowList.allowsName(name));
  if (index === -1) return;
  const name = (events[index] as Event).name;
  throw new ServiceError('event_refused', {
    detail: `event ${index}, ${describe(name)}; none of the events was accepted`,
    facts: { index, name },
  });
}
