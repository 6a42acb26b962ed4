/** Encrypted values of clients, by Node's crypto alone: a second reading of the wire format, with which cases are checked. */
import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto';

const SCHEME = 'tidegate/aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const VERSION_2 = /^2\./;

export interface EncryptionCase {
  key: string;
  fallback_keys?: string[];
  event_field?: string | null;
  version?: number;
  strict?: boolean;
}

/** What a value of version 2 is bound to. */
export type Place = readonly string[];

export interface Encrypted {
  $encrypted: string;
  key: string;
  data: string;
}

function derive(key: string): Buffer {
  return Buffer.from(hkdfSync('sha256', key, '', 'tidegate encryption v1', 32));
}

export function keyIdOf(key: string): string {
  return createHash('sha256').update(derive(key)).digest('hex').slice(0, 16);
}

/** @param place undefined: version 1 */
export function sealText(
  text: string,
  key: string,
  place: Place | undefined,
  nonce: Buffer = randomBytes(NONCE_BYTES),
): Encrypted {
  const id = keyIdOf(key);
  const cipher = createCipheriv('aes-256-gcm', derive(key), nonce).setAAD(associatedData(id, place));
  const data = Buffer.concat([nonce, cipher.update(text), cipher.final(), cipher.getAuthTag()]);
  return { $encrypted: SCHEME, key: id, data: `${place ? '2.' : ''}${data.toString('base64')}` };
}

function associatedData(keyId: string, place: Place | undefined): Buffer {
  if (!place) return Buffer.from(`${SCHEME} ${keyId}`);
  return Buffer.concat(
    [SCHEME, '2', keyId, ...place].map((text) => Buffer.from(`${Buffer.byteLength(text)}:${text},`)),
  );
}

/** @param place undefined: version 1
 *  @throws Error if no key has sealed it, or not at this place */
export function openText({ key: id, data }: Encrypted, keys: readonly string[], place?: Place): string {
  const key = keys.find((key) => keyIdOf(key) === id);
  if (key === undefined) throw new Error(`The case has no key ${id}`);
  const bytes = Buffer.from(data.replace(VERSION_2, ''), 'base64');
  const decipher = createDecipheriv('aes-256-gcm', derive(key), bytes.subarray(0, NONCE_BYTES))
    .setAAD(associatedData(id, place))
    .setAuthTag(bytes.subarray(-TAG_BYTES));
  return Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]).toString();
}

/** Replaces encrypted values, at any depth, by `{"{{encrypted}}": value, "key": ID}`, as cases expect them, with the `place` of those in version 2.
 *  Their nonces differ.
 *  @param places where values of version 2 may be */
export function opened(value: unknown, { key, fallback_keys = [] }: EncryptionCase, places: readonly Place[]): unknown {
  return replaced(value, isEncrypted, (one) => {
    const found = one as unknown as Encrypted;
    const keys = [key, ...fallback_keys];
    if (!VERSION_2.test(found.data)) return { '{{encrypted}}': JSON.parse(openText(found, keys)), key: found.key };
    for (const one of places) {
      try {
        return { '{{encrypted}}': JSON.parse(openText(found, keys, one)), key: found.key, place: one };
      } catch {
        // It is at another place.
      }
    }
    throw new Error(`None of the places fits the value ${found.data}`);
  });
}

/** The reverse: a value as a client would send it. */
export function sealed(value: unknown, { key }: EncryptionCase): unknown {
  return replaced(
    value,
    (one) => '{{encrypted}}' in one,
    (one) => sealText(JSON.stringify(one['{{encrypted}}']), key, one.place as Place | undefined),
  );
}

type Fields = Record<string, unknown>;

function replaced(value: unknown, matches: (one: Fields) => boolean, by: (one: Fields) => unknown): unknown {
  if (Array.isArray(value)) return value.map((entry) => replaced(entry, matches, by));
  if (value === null || typeof value !== 'object') return value;
  if (matches(value as Fields)) return by(value as Fields);
  return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, replaced(entry, matches, by)]));
}

function isEncrypted(value: Fields): boolean {
  return Object.keys(value).sort().join() === '$encrypted,data,key' && value.$encrypted === SCHEME;
}
