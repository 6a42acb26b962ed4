/** HMAC signatures, used by nearly all providers. */
import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import type { z } from 'zod';
import type { hmacSchema } from '../../preset.ts';
import type { ProviderRequest } from '../../provider-request.ts';
import { bytesOf } from '../encodings.ts';
import { nameOf, valuesOf } from '../fields.ts';
import { compileSigned, hasUrl } from '../signed-content.ts';
import { checkTimestamp } from '../timestamps.ts';
import { failed, type VerificationResult, type Verifier } from '../verification.ts';

export type HmacScheme = z.infer<typeof hmacSchema>;

const FORMS = { utf8: /./s, hex: /^([\da-f]{2})+$/i, base64: /^[\w+/-]+={0,2}$/ };

/** Number of bytes hashed per turn of the event loop, in a third of a millisecond. 25 MiB at once would hold up every other request for
 *  tens of milliseconds. */
const SLICE_BYTES = 262_144;

const DIGEST_BYTES = { sha1: 20, sha256: 32, sha384: 48, sha512: 64 };

/** @param secrets newest first
 *  @throws Error for an invalid secret */
export function hmacVerifier(scheme: HmacScheme, secrets: readonly string[]): Verifier {
  const { algorithm, encoding, signature, signed, timestamp, key } = scheme;
  const keys = secrets.map((secret) => keyOf(secret, key));
  const content = compileSigned(signed);
  const triesUrls = hasUrl(signed);
  const bytes = DIGEST_BYTES[algorithm];

  return (request, options) => {
    const values = valuesOf(request, signature);
    if (values.length === 0) {
      const beginning = signature.prefix ? ` that begins with "${signature.prefix}"` : '';
      return failed('signature_missing', `${nameOf(signature.at)} has no signature${beginning}`);
    }
    const given = values
      .map((value) => bytesOf(value, encoding))
      .filter((value) => value?.length === bytes) as Buffer[];
    if (given.length === 0) {
      return failed(
        'signature_malformed',
        `the signature in ${nameOf(signature.at)} is not ${bytes} bytes in ${encoding}`,
      );
    }
    const age = checkTimestamp(request, timestamp, options);
    if ('result' in age) return age;
    const work = compare(request, given, age.text);
    return request.body.length > SLICE_BYTES ? inTurns(work) : atOnce(work);
  };

  function* compare(
    request: ProviderRequest,
    given: readonly Buffer[],
    timestamp: string | undefined,
  ): Sliced<VerificationResult> {
    const urls = triesUrls ? request.urls : ([''] as const);
    for (const url of urls) {
      const parts = content(request, timestamp, url);
      if (!parts) return failed('body_malformed', `the request has not all that is signed: ${signed}`);
      const match = yield* matching(keys, given, algorithm, parts);
      if (match >= 0) return { result: 'verified', secretIndex: match };
    }
    return failed(
      'signature_mismatch',
      `the signature in ${nameOf(signature.at)} does not fit the ${triesUrls ? 'URL and content' : 'content'} of the request and the secret. Compare the secret with the provider's`,
    );
  }
}

/** Work that yields after each slice. */
type Sliced<T> = Generator<void, T>;

function atOnce<T>(work: Sliced<T>): T {
  for (;;) {
    const { done, value } = work.next();
    if (done) return value;
  }
}

async function inTurns<T>(work: Sliced<T>): Promise<T> {
  for (;;) {
    const { done, value } = work.next();
    if (done) return value;
    await setImmediate();
  }
}

/** Compares every key with every signature, in constant time.
 *  @returns index of the key; -1 if none matches */
function* matching(
  keys: readonly KeyObject[],
  given: readonly Buffer[],
  algorithm: string,
  parts: readonly (string | Buffer)[],
): Sliced<number> {
  let found = -1;
  for (const [i, key] of keys.entries()) {
    const hmac = createHmac(algorithm, key);
    for (const slice of parts.flatMap(slicesOf)) {
      hmac.update(slice);
      yield;
    }
    const expected = hmac.digest();
    for (const value of given) if (timingSafeEqual(value, expected) && found === -1) found = i;
  }
  return found;
}

function slicesOf(part: string | Buffer): (string | Buffer)[] {
  if (typeof part === 'string' || part.length <= SLICE_BYTES) return [part];
  const count = Math.ceil(part.length / SLICE_BYTES);
  return Array.from({ length: count }, (_, n) => part.subarray(n * SLICE_BYTES, (n + 1) * SLICE_BYTES));
}

/** @throws Error */
export function keyOf(secret: string, { encoding, prefix }: HmacScheme['key']): KeyObject {
  const text = prefix !== undefined && secret.startsWith(prefix) ? secret.slice(prefix.length) : secret;
  const bytes = Buffer.from(text, encoding);
  // Buffer.from skips invalid characters: a mistyped secret would become another key.
  if (bytes.length === 0 || !FORMS[encoding].test(text)) {
    throw new Error(`the secret is not ${encoding === 'utf8' ? 'a text' : encoding}`);
  }
  return createSecretKey(bytes);
}
