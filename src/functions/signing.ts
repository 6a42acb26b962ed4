/** Signatures of calls to apps, and the key hash that authenticates an app's registration. */
import { createHmac, hash } from 'node:crypto';
import { sameSecret } from '../model/auth/secret.ts';

/** Older signatures are rejected, so that recorded messages become useless. */
const SIGNATURE_MAX_AGE_MS = 5 * 60_000;
const KEY_PREFIX = /^signkey-\w+-/;

/** `t=<unix seconds>&s=<hex>`: HMAC-SHA256 over the body followed by t (docs/protocol.md#signatures). */
export function sign(body: string, signingKey: string, nowMs: number): string {
  const seconds = Math.floor(nowMs / 1_000);
  const mac = createHmac('sha256', signingKey.replace(KEY_PREFIX, '')).update(body).update(String(seconds));
  return `t=${seconds}&s=${mac.digest('hex')}`;
}

/** Whether an app has signed the body with the key within the last minutes.
 *  @param signature as `sign` returns it */
export function isSignedWith(signature: string | undefined, body: string, signingKey: string, nowMs: number): boolean {
  const seconds = /^t=(\d{1,12})&s=[\da-f]{64}$/.exec(signature ?? '')?.[1];
  if (signature === undefined || seconds === undefined) return false;
  const atMs = Number(seconds) * 1_000;
  return Math.abs(nowMs - atMs) <= SIGNATURE_MAX_AGE_MS && sameSecret(signature, sign(body, signingKey, atMs));
}

/** Signature of the query parameters that select function and step: HMAC-SHA256 over them and over the input of `sign`. It prevents the
 *  replay of a recorded call to another function of the app. It leaves out the rest of the URL, because proxies change it.
 *  @param signature the result of `sign` for this body */
export function signUrl(url: string, body: string, signature: string, signingKey: string): string {
  const { searchParams } = new URL(url);
  const [fnId, stepId] = [searchParams.get('fnId') ?? '', searchParams.get('stepId') ?? 'step'];
  const seconds = /^t=(\d+)/.exec(signature)?.[1] ?? '';
  const mac = createHmac('sha256', signingKey.replace(KEY_PREFIX, ''));
  return mac.update(`url\n${fnId}\n${stepId}\n`).update(body).update(seconds).digest('hex');
}

/** Apps send this instead of the key: the prefix, followed by the SHA-256 of the key's bytes. */
export function hashedKey(signingKey: string): string {
  const prefix = KEY_PREFIX.exec(signingKey)?.[0] ?? '';
  const secret = Buffer.from(signingKey.slice(prefix.length), 'hex');
  return prefix + hash('sha256', secret, 'hex');
}

/** Identifies a key without authenticating: unlike the hashed key, it may be stored. */
export function keyFingerprint(signingKey: string): string {
  return hash('sha256', `fingerprint of ${signingKey}`, 'base64url').slice(0, 22);
}

/** Whether the bearer token is the key itself or the hashed key. */
export function isKey(bearer: string, signingKey: string): boolean {
  // Nearly all apps send the hashed key.
  return provesKey(bearer, signingKey) || sameSecret(bearer, signingKey);
}

/** Whether the bearer token is the hashed key. The official Python SDK omits the prefix, which is not secret. */
export function provesKey(bearer: string, signingKey: string): boolean {
  const hashed = hashedKey(signingKey);
  return sameSecret(bearer, hashed) || sameSecret(bearer, hashed.replace(KEY_PREFIX, ''));
}
