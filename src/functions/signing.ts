/** Who is calling: the signature on calls to apps, and the proof by which an app registers. */
import { createHash, createHmac } from 'node:crypto';
import { sameSecret } from '../model/auth/secret.ts';

const KEY_PREFIX = /^signkey-\w+-/;

/** `t=<unix seconds>&s=<hex>`: HMAC-SHA256 over the body followed by t (docs/protocol.md#signatures). */
export function sign(body: string, signingKey: string, nowMs: number): string {
  const seconds = Math.floor(nowMs / 1_000);
  const mac = createHmac('sha256', signingKey.replace(KEY_PREFIX, '')).update(body).update(String(seconds));
  return `t=${seconds}&s=${mac.digest('hex')}`;
}

/** The header's value for the query parameters that name function and step: HMAC-SHA256 over them, then what `sign` signs. So a call that
 *  was recorded is of no use for another function of the app. The rest of the address is left out: proxies change it.
 *  @param signature what `sign` made of this body */
export function signUrl(url: string, body: string, signature: string, signingKey: string): string {
  const { searchParams } = new URL(url);
  const [fnId, stepId] = [searchParams.get('fnId') ?? '', searchParams.get('stepId') ?? 'step'];
  const seconds = /^t=(\d+)/.exec(signature)?.[1] ?? '';
  const mac = createHmac('sha256', signingKey.replace(KEY_PREFIX, ''));
  return mac.update(`url\n${fnId}\n${stepId}\n`).update(body).update(seconds).digest('hex');
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
