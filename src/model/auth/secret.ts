/** Secrets that the service makes, and how it remembers them: as digests, never as they are. */
import { hash, randomBytes, timingSafeEqual } from 'node:crypto';

const BYTES = 32;

/** 256 random bits behind a prefix that tells what the secret is for. */
export function newSecret(prefix = ''): string {
  return prefix + randomBytes(BYTES).toString('base64url');
}

/** SHA-256 is enough for what has 256 random bits; passwords have not (password.ts). */
export function digestOf(secret: string): string {
  return hash('sha256', secret, 'hex');
}

/** Compares in a time that does not depend on where the secrets differ. */
export function sameSecret(given: string, expected: string): boolean {
  const digest = (text: string) => hash('sha256', text, 'buffer');
  return timingSafeEqual(digest(given), digest(expected));
}

/** The secret of `Authorization: Bearer <secret>`. */
export function bearerToken(authorization: string | undefined): string | undefined {
  return /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1];
}
