/** Secrets that the service creates. It stores only their digests. */
import { hash, randomBytes, timingSafeEqual } from 'node:crypto';

const BYTES = 32;

/** 256 random bits after a prefix that names the kind of secret. */
export function newSecret(prefix = ''): string {
  return prefix + randomBytes(BYTES).toString('base64url');
}

/** A secret of Standard Webhooks, with which requests are signed. */
export function newSigningSecret(): string {
  return `whsec_${randomBytes(BYTES).toString('base64')}`;
}

/** SHA-256 is enough for 256 random bits; passwords need more (password.ts). */
export function digestOf(secret: string): string {
  return hash('sha256', secret, 'hex');
}

/** Compares in constant time. */
export function sameSecret(given: string, expected: string): boolean {
  const digest = (text: string) => hash('sha256', text, 'buffer');
  return timingSafeEqual(digest(given), digest(expected));
}

/** The secret of `Authorization: Bearer <secret>`. */
export function bearerToken(authorization: string | undefined): string | undefined {
  return /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1];
}
