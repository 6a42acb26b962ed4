/** The two proofs of the protocol, both made from the signing key `signkey-<word>-<hex>`. */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';

const SIGNING_KEY = /^(signkey-\w+-)((?:[0-9a-f]{2})+)$/i;
const MAX_AGE_SECONDS = 300;

export function isSigningKey(key: string): boolean {
  return SIGNING_KEY.test(key);
}

/** What the app shows to the service when it registers. */
export function hashedKey(key: string): string {
  const { prefix, hex } = partsOf(key);
  return prefix + createHash('sha256').update(Buffer.from(hex, 'hex')).digest('hex');
}

/** The signature header's value for a body sent at this time. */
export function sign(body: string | Buffer, key: string, atSeconds: number): string {
  return `t=${atSeconds}&s=${digest(body, key, String(atSeconds)).toString('hex')}`;
}

/** Why a signature header does not prove that the service sent this body; undefined when it does.
 *  @param keys any of them will do */
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

/** What a call's address names. The signature covers this and not the rest, which proxies change. */
export interface Target {
  fnId: string;
  stepId: string;
}

/** @param url with a query */
export function targetOf(url: string): Target {
  const query = new URLSearchParams(url.split('?', 2)[1]);
  return { fnId: query.get('fnId') ?? '', stepId: query.get('stepId') ?? 'step' };
}

/** The signature-url header's value.
 *  @param atSeconds as in the signature header */
export function signUrl(target: Target, body: string | Buffer, key: string, atSeconds: number): string {
  return urlDigest(target, body, key, String(atSeconds)).toString('hex');
}

/** Why the signature-url header does not prove that a call, whose signature is right, was made for this function and step;
 *  undefined when it does. */
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

/** Takes the same time wherever they differ. */
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
