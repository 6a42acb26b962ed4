/** Event keys: secrets that authenticate a sender for one environment, or for the set of all branches (docs/events.md#event-keys). The service
 *  stores and looks up only the hash of a secret, which also prevents timing attacks. */
import { PRODUCTION } from '../environment.ts';
import type { AccessLists } from './allow-lists.ts';
import { digestOf, newSecret } from './secret.ts';

const SECRET_PREFIX = 'evk_';
const HINT_CHARS = 4;

export interface EventKey extends AccessLists {
  id: string;
  name: string;
  /** Name of the environment, or BRANCHES. */
  env: string;
  /** SHA-256 of the secret, in hex. */
  digest: string;
  /** Last characters of the secret, to recognize the key. */
  hint: string;
  /** Maximum size of a request body; absent: the limit of the installation. */
  maxBytes?: number | undefined;
  /** Unix milliseconds. */
  createdAt: number;
  updatedAt: number;
}

/** Whether the key was created through the API. Keys of settings and of dev mode are not stored, and their IDs are meaningless. */
export function isStored({ createdAt }: Pick<EventKey, 'createdAt'>): boolean {
  return createdAt !== 0;
}

export function newEventKeySecret(): string {
  return newSecret(SECRET_PREFIX);
}

export function hintOf(secret: string): string {
  return secret.slice(-HINT_CHARS);
}

/** The key of a secret in the setting EVENT_KEYS: for production, without lists. */
export function keyOfSetting(secret: string): EventKey {
  const digest = digestOf(secret);
  return { id: `setting:${digest}`, name: 'EVENT_KEYS', env: PRODUCTION, digest, hint: '', createdAt: 0, updatedAt: 0 };
}
