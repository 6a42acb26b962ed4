/** Event keys (docs/events.md#event-keys): secrets that authenticate a sender for one environment, or for all branches.
 *  Only the hash of a secret is kept, and looked up: that tells nobody by its duration how much of a guess was right. */
import { PRODUCTION } from '../environment.ts';
import type { Lists } from './allow-lists.ts';
import { digestOf, newSecret } from './secret.ts';

const SECRET_PREFIX = 'evk_';
const HINT_CHARS = 4;

export interface EventKey extends Lists {
  id: string;
  name: string;
  /** Name of the environment it belongs to, or BRANCHES. */
  env: string;
  /** Of the secret: SHA-256, in hex. */
  digest: string;
  /** The secret's last characters, by which people know it again. */
  hint: string;
  /** Largest request body; absent: the account's. */
  maxBytes?: number | undefined;
  /** Unix milliseconds. */
  createdAt: number;
  updatedAt: number;
}

/** Whether it was made in the API; one of a setting, or dev mode's, is kept nowhere and its ID means nothing to anybody. */
export function isKept({ createdAt }: Pick<EventKey, 'createdAt'>): boolean {
  return createdAt !== 0;
}

export function newEventKeySecret(): string {
  return newSecret(SECRET_PREFIX);
}

export function hintOf(secret: string): string {
  return secret.slice(-HINT_CHARS);
}

/** A key given by the setting EVENT_KEYS: one of production's, without lists. */
export function keyOfSetting(secret: string): EventKey {
  const digest = digestOf(secret);
  return { id: `setting:${digest}`, name: 'EVENT_KEYS', env: PRODUCTION, digest, hint: '', createdAt: 0, updatedAt: 0 };
}
