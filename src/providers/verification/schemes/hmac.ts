/** HMAC signatures, used by nearly all providers. */
import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto';
import type { z } from 'zod';
import type { hmacSchema } from '../../preset.ts';
import type { ProviderRequest } from '../../provider-request.ts';
import { bytesOf } from '../encodings.ts';
import { nameOf, valuesOf } from '../fields.ts';
import { compileSigned, hasUrl, type SignedContent } from '../signed-content.ts';
import { checkTimestamp } from '../timestamps.ts';
import { failed, type Verifier } from '../verification.ts';

export type HmacScheme = z.infer<typeof hmacSchema>;

const FORMS = { utf8: /./s, hex: /^([\da-f]{2})+$/i, base64: /^[\w+/-]+={0,2}$/ };

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
    const urls = triesUrls ? request.urls : ([''] as const);
    for (const url of urls) {
      const match = matching(keys, given, algorithm, content, request, age.text, url);
      if (match === undefined) return failed('body_malformed', `the request has not all that is signed: ${signed}`);
      if (match >= 0) return { result: 'verified', secretIndex: match };
    }
    return failed(
      'signature_mismatch',
      `the signature in ${nameOf(signature.at)} does not fit the ${triesUrls ? 'URL and content' : 'content'} of the request and the secret. Compare the secret with the provider's`,
    );
  };
}

/** Compares every key with every signature, in constant time.
 *  @returns index of the key; -1 if none matches; undefined if the request lacks a signed part */
function matching(
  keys: readonly KeyObject[],
  given: readonly Buffer[],
  algorithm: string,
  content: SignedContent,
  request: ProviderRequest,
  timestamp: string | undefined,
  url: string,
): number | undefined {
  const parts = content(request, timestamp, url);
  if (!parts) return undefined;
  let found = -1;
  for (const [i, key] of keys.entries()) {
    const hmac = createHmac(algorithm, key);
    for (const part of parts) hmac.update(part);
    const expected = hmac.digest();
    for (const value of given) if (timingSafeEqual(value, expected) && found === -1) found = i;
  }
  return found;
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
