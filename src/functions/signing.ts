/** Who is calling: the signature on calls to apps, and the proof by which an app registers. */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';

const KEY_PREFIX = /^signkey-\w+-/;

/** `t=<unix seconds>&s=<hex>`: HMAC-SHA256 over the body followed by t (protocol: signature). */
export function sign(body: string, signingKey: string, nowMs: number): string {
  const seconds = Math.floor(nowMs / 1_000);
  const mac = createHmac('sha256', signingKey.replace(KEY_PREFIX, '')).update(body).update(String(seconds));
  return `t=${seconds}&s=${mac.digest('hex')}`;
}

/** What an app sends instead of the key itself: the part after the prefix replaced by the SHA-256 of its bytes. */
export function hashedKey(signingKey: string): string {
  const prefix = KEY_PREFIX.exec(signingKey)?.[0] ?? '';
  const secret = Buffer.from(signingKey.slice(prefix.length), 'hex');
  return prefix + createHash('sha256').update(secret).digest('hex');
}

/** Whether the bearer is the hashed key. The official Python SDK leaves out the prefix, which is no secret. */
export function provesKey(bearer: string, signingKey: string): boolean {
  const hashed = hashedKey(signingKey);
  return [hashed, hashed.replace(KEY_PREFIX, '')].some((proof) => sameSecret(bearer, proof));
}

/** Compares in a time that tells nothing of the secrets. */
export function sameSecret(given: string, expected: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(expected));
}
