/** API keys: a name, what it may do, and perhaps the one environment it is held to. */
import { z } from 'zod';
import { ACCESS, type Access, type Principal } from './access.ts';

export const API_KEY_PREFIX = 'api-';

export const apiKeyNameSchema = z.string().trim().min(1).max(100);
export const accessSchema = z.enum(ACCESS).meta({ description: 'Each includes the one before: read, write, admin' });

export interface ApiKey {
  id: string;
  name: string;
  access: Access;
  /** The one environment it is held to; none: all. */
  environment?: string;
  /** SHA-256 of the secret, in hex. */
  digest: string;
  /** Its last characters, by which people tell keys apart. */
  hint: string;
  /** Unix milliseconds. */
  createdAt: number;
  /** Name of the caller who made it. */
  createdBy: string;
}

export function principalOfKey({ id, name, access, environment }: ApiKey): Principal {
  return { kind: 'api-key', id, name, access, ...(environment !== undefined && { environment }) };
}
