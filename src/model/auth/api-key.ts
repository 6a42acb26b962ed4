/** API keys: a name, an access level and optionally a single environment. */
import { z } from 'zod';
import { ACCESS, type Access, onlyIn, type Principal } from './access.ts';

export const API_KEY_PREFIX = 'api-';

export const apiKeyNameSchema = z.string().trim().min(1).max(100);
export const accessSchema = z.enum(ACCESS).describe('Each level includes the previous one: read, write, admin');

export interface ApiKey {
  id: string;
  name: string;
  access: Access;
  /** The only environment that the key can access; absent: all. */
  environment?: string;
  /** SHA-256 of the secret, in hex. */
  digest: string;
  /** Last characters of the secret, to recognize the key. */
  hint: string;
  /** Unix milliseconds. */
  createdAt: number;
  /** Name of the principal who created it. */
  createdBy: string;
}

export function principalOfKey({ id, name, access, environment }: ApiKey): Principal {
  return { kind: 'api-key', id, name, ...(environment === undefined ? { access } : onlyIn(environment, access)) };
}
