/** JSON Web Tokens prove who sends the request, and until when, but not the body. */
import { createPublicKey, createSecretKey, type KeyObject } from 'node:crypto';
import { createLocalJWKSet, errors, type JWTVerifyGetKey, type JWTVerifyOptions, jwtVerify } from 'jose';
import type { z } from 'zod';
import { isJsonObject } from '../../../model/values/json.ts';
import type { jwtSchema } from '../../preset.ts';
import { Documents, isFailure, perFetcher } from '../documents.ts';
import { FetchBudget } from '../fetch-budget.ts';
import { nameOf, valuesOf } from '../fields.ts';
import { type Failure, failed, type VerificationResult, type Verifier, type VerifyOptions } from '../verification.ts';
import { keyFromPem } from './public-key.ts';

export type JwtScheme = z.infer<typeof jwtSchema>;
type Algorithm = JwtScheme['algorithms'][number];

const SYMMETRIC: readonly string[] = ['HS256', 'HS384', 'HS512'];
const KEY_SET_MAX_AGE_MS = 10 * 60_000;
/** A key set is fetched again for an unknown key at most this often. */
const KEY_SET_MIN_AGE_MS = 60_000;
const KEY_SET_MAX_KEYS = 100;
/** Maximum length per field of a key: RSA with 8,192 bits. */
const KEY_FIELD_MAX_LENGTH = 1_400;
/** Maximum number of keys tried if a token names none. */
const KEYS_TRIED_MAX = 5;

/** The key decides the permitted algorithms: a public key is never used as an HMAC key, whatever the token says. */
interface Source {
  algorithms: Algorithm[];
  key: KeyObject | URL;
}

const keySets = perFetcher(() => new Documents(keySetOf));

/** @throws Error for a secret that is not a key for the algorithms */
export function jwtVerifier(scheme: JwtScheme, secrets: readonly string[]): Verifier {
  const { token: field, issuer, audience, tolerance } = scheme;
  const sources = secrets.map((secret) => sourceOf(secret.trim(), scheme.algorithms));
  const budget = new FetchBudget();
  return async (request, options) => {
    const [token] = valuesOf(request, field);
    if (token === undefined) return failed('signature_missing', `${nameOf(field.at)} has no token`);
    if (!hasCanonicalSignature(token))
      return failed('signature_malformed', 'the signature of the token is not base64url');
    const claims = {
      ...(issuer !== undefined && { issuer }),
      ...(audience !== undefined && { audience }),
      clockTolerance: tolerance,
      currentDate: new Date(options.receivedAtMs ?? options.nowMs),
    };
    const results = await Promise.all(
      sources.map(({ key, algorithms }) => verifiedBy(key, token, { ...claims, algorithms }, options, budget)),
    );
    const secretIndex = results.indexOf(undefined);
    if (secretIndex >= 0) return { result: 'verified', secretIndex };
    return bestOf(results as Failure[]);
  };
}

/** The last character of base64url may have unused bits, which would allow several texts for the same signature. */
function hasCanonicalSignature(token: string): boolean {
  const signature = token.slice(token.lastIndexOf('.') + 1);
  return Buffer.from(signature, 'base64url').toString('base64url') === signature;
}

/** The failure of the secret that comes closest: an expired but otherwise valid token says more than a mismatch. */
function bestOf(failures: readonly Failure[]): VerificationResult {
  const unavailable = failures.find(({ reason }) => reason === 'certificate_unavailable');
  const closer = failures.find(({ reason }) => reason.startsWith('timestamp_'));
  return closer ?? unavailable ?? (failures[0] as Failure);
}

/** undefined if the token is valid. */
async function verifiedBy(
  key: KeyObject | URL,
  token: string,
  claims: JWTVerifyOptions,
  options: VerifyOptions,
  budget: FetchBudget,
): Promise<Failure | undefined> {
  if (!(key instanceof URL)) return checked(token, key, claims);
  const documents = keySets(options.fetchDocument);
  const keys = await documents.get(key.href, KEY_SET_MAX_AGE_MS, options, budget);
  if (isFailure(keys)) return keys;
  const failure = await checked(token, keys, claims);
  if (failure !== NO_KEY) return failure;
  const newer = await documents.getNewer(key.href, KEY_SET_MIN_AGE_MS, options, budget);
  if (isFailure(newer)) return newer;
  return newer === keys ? failure : checked(token, newer, claims);
}

const NO_KEY = failed('signature_mismatch', 'the key set has no key for the token');

async function checked(
  token: string,
  key: KeyObject | JWTVerifyGetKey,
  claims: JWTVerifyOptions,
): Promise<Failure | undefined> {
  try {
    if (typeof key === 'function') await jwtVerify(token, key, claims);
    else await jwtVerify(token, key, claims);
    return undefined;
  } catch (error) {
    if (error instanceof errors.JWKSMultipleMatchingKeys) return checkedByAny(token, error, claims);
    return failureOf(error, claims);
  }
}

async function checkedByAny(token: string, keys: errors.JWKSMultipleMatchingKeys, claims: JWTVerifyOptions) {
  let failure: Failure | undefined;
  let tried = 0;
  for await (const key of keys) {
    try {
      await jwtVerify(token, key, claims);
      return undefined;
    } catch (error) {
      failure = failureOf(error, claims);
    }
    tried += 1;
    if (tried === KEYS_TRIED_MAX) break;
  }
  return failure ?? NO_KEY;
}

function failureOf(error: unknown, { algorithms = [], issuer, audience }: JWTVerifyOptions): Failure {
  if (error instanceof errors.JWTExpired)
    return failed('timestamp_too_old', 'the token has expired: its "exp" has passed');
  if (error instanceof errors.JWTClaimValidationFailed) {
    if (error.claim === 'nbf') return failed('timestamp_in_future', 'the token is not valid yet: its "nbf" is to come');
    const expected = error.claim === 'iss' ? issuer : error.claim === 'aud' ? audience : 'a valid value';
    return failed('signature_mismatch', `the claim "${error.claim}" of the token is wrong: expected ${expected}`);
  }
  if (error instanceof errors.JWKSNoMatchingKey) return NO_KEY;
  if (error instanceof errors.JOSEAlgNotAllowed) {
    return failed('signature_mismatch', `the token names another algorithm than ${algorithms.join(', ')}`);
  }
  if (error instanceof errors.JWSSignatureVerificationFailed) {
    return failed(
      'signature_mismatch',
      "the signature of the token does not fit the key. Compare it with the provider's",
    );
  }
  return failed('signature_malformed', 'the token is not a signed JSON Web Token');
}

/** @throws Error */
function sourceOf(secret: string, wanted: readonly Algorithm[]): Source {
  if (/^https?:\/\//i.test(secret)) return { key: keySetUrlOf(secret), algorithms: asymmetric(wanted, 'the key set') };
  const publicKey = secret.startsWith('-----BEGIN') ? keyFromPem(secret) : keyFromDer(secret);
  if (publicKey) {
    const fitting = asymmetric(wanted, 'the public key').filter((algorithm) => fits(publicKey, algorithm));
    if (fitting.length === 0) throw new Error(`the public key is not one for ${wanted.join(', ')}`);
    return { key: publicKey, algorithms: fitting };
  }
  const algorithms = wanted.filter((algorithm) => SYMMETRIC.includes(algorithm));
  if (algorithms.length === 0) {
    throw new Error(`${wanted.join(', ')} needs a public key in PEM, or the https: URL of a key set`);
  }
  return { key: createSecretKey(Buffer.from(secret)), algorithms };
}

/** @throws Error */
function asymmetric(wanted: readonly Algorithm[], what: string): Algorithm[] {
  const algorithms = wanted.filter((algorithm) => !SYMMETRIC.includes(algorithm));
  if (algorithms.length > 0) return algorithms;
  throw new Error(`${what} is public; ${wanted.join(', ')} needs a secret`);
}

function fits({ asymmetricKeyType: type, asymmetricKeyDetails: details }: KeyObject, algorithm: Algorithm): boolean {
  if (algorithm === 'RS256') return type === 'rsa' && (details?.modulusLength ?? 0) >= 2_048;
  if (algorithm === 'ES256') return type === 'ec' && details?.namedCurve === 'prime256v1';
  return algorithm === 'EdDSA' && type === 'ed25519';
}

/** A public key without PEM framing is not a secret either. */
function keyFromDer(text: string): KeyObject | undefined {
  if (!text.startsWith('M')) return undefined;
  try {
    return createPublicKey({ key: Buffer.from(text, 'base64'), format: 'der', type: 'spki' });
  } catch {
    return undefined;
  }
}

/** @throws Error */
function keySetUrlOf(text: string): URL {
  const url = URL.parse(text);
  if (url?.protocol !== 'https:' || url.username !== '' || url.password !== '' || url.href.length > 2_048) {
    throw new Error('the URL of a key set must begin with https:// and have no password');
  }
  return url;
}

/** Omits secret keys and encryption keys.
 *  @throws Error */
function keySetOf(text: string): JWTVerifyGetKey {
  const { keys } = JSON.parse(text) as { keys?: unknown };
  if (!Array.isArray(keys) || keys.length > KEY_SET_MAX_KEYS) throw new Error('it is not a JWK set, or too long a one');
  const usable = keys.filter((key: unknown) => isJsonObject(key) && isPublicKey(key));
  if (usable.length === 0) throw new Error('it has no public key');
  return createLocalJWKSet({ keys: usable });
}

function isPublicKey(key: Record<string, unknown>): boolean {
  const { kty, use } = key;
  if (kty !== 'RSA' && kty !== 'EC' && kty !== 'OKP') return false;
  if (use !== undefined && use !== 'sig') return false;
  return Object.values(key).every((value) => typeof value !== 'string' || value.length <= KEY_FIELD_MAX_LENGTH);
}
