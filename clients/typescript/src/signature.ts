/** The signatures and the key hash of the protocol, derived from the signing key `signkey-<word>-<hex>`. */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';

const SIGNING_KEY = /^(signkey-\w+-)((?:[0-9a-f]{2})+)$/i;
const MAX_AGE_SECONDS = 300;

export function isSigningKey(key: string): boolean {
  return SIGNING_KEY.test(key);
}

/** Authenticates the app's registration. */
export function hashedKey(key: string): string {
  const { prefix, hex } = partsOf(key);
  return prefix + createHash('sha256').update(Buffer.from(hex, 'hex')).digest('hex');
}

/** Value of the signature header for a body sent at this time. */
export function sign(body: string | Buffer, key: string, atSeconds: number): string {
  return `t=${atSeconds}&s=${digest(body, key, String(atSeconds)).toString('hex')}`;
}

/** Why the signature of a body is invalid; undefined: it is valid. @param keys keys of which any may have signed */
export function findFlaw(
  header: string | undefined,
  body: string | Buffer,
  keys: readonly string[],
  nowMs: number,
): string | undefined {
  if (!header) return 'the request is not signed';
  const fields = new URLSearchParams(header);
  const [at, signature] = [fields.get('t') ?? '', fields.get('s') ?? ''];
  if (!/^\d+$/.test(at)) return 'the signature cannot be read';
  const given = Buffer.from(signature, 'hex');
  if (!keys.some((key) => equal(given, digest(body, key, at)))) return 'the signature is wrong';
  if (nowMs / 1_000 - Number(at) > MAX_AGE_SECONDS) return 'the signature is older than 5 minutes';
  return undefined;
}

/** The signed part of a call's URL. Proxies can change the rest. */
export interface Target {
  fnId: string;
  stepId: string;
}

/** @param url with a query */
export function targetOf(url: string): Target {
  const query = new URLSearchParams(url.split('?', 2)[1]);
  return { fnId: query.get('fnId') ?? '', stepId: query.get('stepId') ?? 'step' };
}

/** Value of the signature-url header.
 *  @param atSeconds the same as in the signature header */
export function signUrl(target: Target, body: string | Buffer, key: string, atSeconds: number): string {
  return urlDigest(target, body, key, String(atSeconds)).toString('hex');
}

/** Why the signature-url header is invalid for this function and step, given a valid signature; undefined: it is valid. */
export function findUrlFlaw(
  urlHeader: string | undefined,
  header: string | undefined,
  target: Target,
  body: string | Buffer,
  keys: readonly string[],
): string | undefined {
  if (!urlHeader) return 'the URL is not signed';
  const at = new URLSearchParams(header).get('t') ?? '';
  const given = Buffer.from(urlHeader, 'hex');
  if (keys.some((key) => equal(given, urlDigest(target, body, key, at)))) return undefined;
  return "the URL's signature is wrong: the call was made for another function or step";
}

/** Constant-time comparison. */
function equal(given: Buffer, expected: Buffer): boolean {
  return given.length === expected.length && timingSafeEqual(given, expected);
}

function digest(body: string | Buffer, key: string, at: string): Buffer {
  return createHmac('sha256', partsOf(key).hex).update(body).update(at).digest();
}

function urlDigest({ fnId, stepId }: Target, body: string | Buffer, key: string, at: string): Buffer {
  const mac = createHmac('sha256', partsOf(key).hex).update(`url\n${fnId}\n${stepId}\n`);
  return mac.update(body).update(at).digest();
}

function partsOf(key: string): { prefix: string; hex: string } {
  const [, prefix = '', hex = ''] = SIGNING_KEY.exec(key) ?? [];
  return { prefix, hex };
}
