/** Secrets that the service makes, and how it remembers them: as digests, never as they are. */
import { hash, randomBytes } from 'node:crypto';

const BYTES = 32;

/** 256 random bits behind a prefix that tells what the secret is for. */
export function newSecret(prefix = ''): string {
  return prefix + randomBytes(BYTES).toString('base64url');
}

/** SHA-256 is enough for what has 256 random bits; passwords have not (password.ts). */
export function digestOf(secret: string): string {
  return hash('sha256', secret, 'hex');
}
