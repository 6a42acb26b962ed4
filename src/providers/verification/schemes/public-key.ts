/** Signatures verified by the provider's public key, which users paste as the secret. */
import { createPublicKey, type KeyObject, verify } from 'node:crypto';
import type { z } from 'zod';
import type { publicKeySchema } from '../../preset.ts';
import { bytesOf } from '../encodings.ts';
import { nameOf, valuesOf } from '../fields.ts';
import { compileSigned, hasUrl } from '../signed-content.ts';
import { checkTimestamp } from '../timestamps.ts';
import { failed, type Verifier } from '../verification.ts';

export type PublicKeyScheme = z.infer<typeof publicKeySchema>;
type Algorithm = PublicKeyScheme['algorithm'];

/** SubjectPublicKeyInfo prefix of an Ed25519 key (RFC 8410, section 4). */
const ED25519_SPKI = Buffer.from('302a300506032b6570032100', 'hex');
const ED25519_KEY_BYTES = 32;
const RSA_MIN_BITS = 2_048;
const RSA_MAX_BITS = 8_192;

/** @param secrets public keys, newest first
 *  @throws Error for a key that does not fit the algorithm */
export function publicKeyVerifier(scheme: PublicKeyScheme, secrets: readonly string[]): Verifier {
  const { algorithm, encoding, signature, signed, timestamp } = scheme;
  const keys = secrets.map((secret) => publicKeyOf(secret, scheme));
  const content = compileSigned(signed);
  const triesUrls = hasUrl(signed);

  return (request, options) => {
    const values = valuesOf(request, signature);
    if (values.length === 0) return failed('signature_missing', `${nameOf(signature.at)} has no signature`);
    const given = values
      .map((value) => bytesOf(value, encoding))
      .filter((bytes): bytes is Buffer => bytes !== undefined && hasLength(bytes, algorithm));
    if (given.length === 0) {
      return failed(
        'signature_malformed',
        `the signature in ${nameOf(signature.at)} is not one of ${algorithm} in ${encoding}`,
      );
    }
    const age = checkTimestamp(request, timestamp, options);
    if ('result' in age) return age;
    for (const url of triesUrls ? request.urls : ['']) {
      const parts = content(request, age.text, url);
      if (!parts) return failed('body_malformed', `the request has not all that is signed: ${signed}`);
      const data = Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : part)));
      const secretIndex = keys.findIndex((key) => given.some((bytes) => isSigned(algorithm, data, key, bytes)));
      if (secretIndex >= 0) return { result: 'verified', secretIndex };
    }
    return failed(
      'signature_mismatch',
      `the signature in ${nameOf(signature.at)} does not fit the content of the request and the public key. Compare the key with the provider's`,
    );
  };
}

function hasLength({ length }: Buffer, algorithm: Algorithm): boolean {
  if (algorithm === 'ed25519') return length === 64;
  if (algorithm === 'ecdsa-p256-sha256') return length >= 8 && length <= 72;
  return length >= RSA_MIN_BITS / 8 && length <= RSA_MAX_BITS / 8;
}

function isSigned(algorithm: Algorithm, data: Buffer, key: KeyObject, signature: Buffer): boolean {
  return verify(algorithm === 'ed25519' ? null : 'sha256', data, key, signature);
}

/** @throws Error */
function publicKeyOf(secret: string, { algorithm, key }: Pick<PublicKeyScheme, 'algorithm' | 'key'>): KeyObject {
  const found = parsed(secret.trim(), key);
  const { asymmetricKeyType: type, asymmetricKeyDetails: details = {} } = found;
  if (algorithm === 'ed25519' && type === 'ed25519') return found;
  if (algorithm === 'ecdsa-p256-sha256' && type === 'ec' && details.namedCurve === 'prime256v1') return found;
  const bits = details.modulusLength ?? 0;
  if (algorithm === 'rsa-sha256' && type === 'rsa' && bits >= RSA_MIN_BITS && bits <= RSA_MAX_BITS) return found;
  throw new Error(`the public key is not one for ${algorithm}`);
}

function parsed(text: string, { encoding, format }: PublicKeyScheme['key']): KeyObject {
  if (text.startsWith('-----BEGIN')) return keyFromPem(text);
  const bytes = bytesOf(text.replace(/\s/g, ''), encoding);
  if (!bytes) throw new Error(`the public key is not in ${encoding}`);
  if (format === 'raw' && bytes.length !== ED25519_KEY_BYTES) {
    throw new Error(`the public key has ${bytes.length} bytes; expected ${ED25519_KEY_BYTES}`);
  }
  const der = format === 'raw' ? Buffer.concat([ED25519_SPKI, bytes]) : bytes;
  try {
    return createPublicKey({ key: der, format: 'der', type: 'spki' });
  } catch {
    throw new Error('the text is not a public key');
  }
}

/** @throws Error also for a private key: only the provider has it */
export function keyFromPem(text: string): KeyObject {
  if (!/^-----BEGIN ((RSA )?PUBLIC KEY|CERTIFICATE)-----/.test(text)) {
    throw new Error('the text is not a public key: expected -----BEGIN PUBLIC KEY-----');
  }
  try {
    return createPublicKey(text);
  } catch {
    throw new Error('the text is not a public key in PEM');
  }
}
