/** Encrypts what the service stores of a run: step results, outputs, and one field of events. */
import { ConfigError } from '../errors.ts';
import { refuseUnknown } from '../options.ts';
import { type Encrypted, isEncrypted, isObject, versionOf } from './encryption-envelope.ts';
import {
  doesNotOpen,
  isVersion1,
  notEncrypted,
  unknownKey,
  unknownVersion,
  withoutPlace,
} from './encryption-errors.ts';
import { checkKeyText, deriveKey, type EncryptionKey } from './encryption-key.ts';
import type { Middleware, Place } from './types.ts';

export interface EncryptionOptions {
  /** A secret text of at least 32 characters. */
  key: string;
  /** Former keys, which only decrypt. */
  fallbackKeys?: readonly string[];
  /** The field of an event's data that is encrypted; triggers and expressions can read the other fields. null: no field is encrypted. Default:
   *  `encrypted`. */
  eventField?: string | null;
  /** Version in which values are written; both versions are read. Version 2 binds a value to its event, step or function, and run. Default: 1,
   *  which older clients can read; 2 with `strict`. */
  version?: 1 | 2;
  /** Rejects values of version 1, and values that are not encrypted but should be. Default: false. */
  strict?: boolean;
}

/** Without `strict`, values that are not encrypted are read unchanged, so that encryption can be switched on at any time. An unknown key fails the
 *  run. @throws ConfigError if a key is too short, or `strict` is combined with version 1 */
export function encryption(options: EncryptionOptions): Middleware {
  refuseUnknown('encryption()', options, ['key', 'fallbackKeys', 'eventField', 'version', 'strict']);
  const { key, fallbackKeys = [], eventField = 'encrypted', strict = false } = options;
  const version = checkVersion(options);
  const texts = [
    checkKeyText('The key', key),
    ...fallbackKeys.map((text) => checkKeyText('Each of the fallbackKeys', text)),
  ];
  const keys = keyRing(texts);

  const seal = async (value: unknown, place: Place | undefined) => {
    if (version === 2 && !place) throw withoutPlace();
    return (await keys()).current.seal(JSON.stringify(value), version === 2 ? place : undefined);
  };
  const open = async (value: unknown, places: readonly Place[] | undefined) => {
    const place = places?.[0];
    if (!isEncrypted(value)) {
      if (strict && place) throw notEncrypted(place);
      return value;
    }
    if (strict && versionOf(value) === 1) throw isVersion1(place);
    const known = (await keys()).byId.get(value.key);
    if (!known) throw unknownKey(value.key);
    return JSON.parse(await opened(value, known, places));
  };
  /** Changes the field of an event's data, if it has one. */
  const inField = async (data: unknown, change: (value: unknown) => Promise<unknown>) => {
    if (eventField === null || !isObject(data) || !Object.hasOwn(data, eventField)) return data;
    return { ...data, [eventField]: await change(data[eventField]) };
  };

  return {
    name: 'encryption',
    encode: (value, kind, place) =>
      kind === 'event' ? inField(value, (field) => seal(field, place)) : seal(value, place),
    decode: (value, kind, places) =>
      kind === 'event' ? inField(value, (field) => open(field, places)) : open(value, places),
  };
}

function checkVersion({ version, strict = false }: EncryptionOptions): 1 | 2 {
  if (typeof strict !== 'boolean') throw new ConfigError('strict of encryption() must be true or false');
  const written = version ?? (strict ? 2 : 1);
  if (written !== 1 && written !== 2) throw new ConfigError(`version of encryption() must be 1 or 2, got ${written}`);
  if (strict && written === 1) {
    throw new ConfigError(
      'A strict encryption() refuses version 1, so it cannot write it: set version: 2, or leave it out',
    );
  }
  return written;
}

/** @param places places to which the value may belong @throws NonRetriableError if it belongs to none of them */
async function opened(value: Encrypted, key: EncryptionKey, places: readonly Place[] | undefined): Promise<string> {
  const version = versionOf(value);
  if (version !== 1 && version !== 2) throw unknownVersion(version);
  // Version 1 is bound to none.
  const bound = version === 1 ? [undefined] : (places ?? []);
  if (bound.length === 0) throw withoutPlace();
  for (const one of bound) {
    const json = await key.open(value, one);
    if (json !== undefined) return json;
  }
  throw doesNotOpen(key.id, bound[0]);
}

/** Derives the keys at first use. */
function keyRing(texts: readonly string[]) {
  let ring: Promise<{ current: EncryptionKey; byId: ReadonlyMap<string, EncryptionKey> }> | undefined;
  return () => {
    ring ??= Promise.all(texts.map(deriveKey)).then((keys) => ({
      current: keys[0] as EncryptionKey,
      byId: new Map(keys.map((key) => [key.id, key])),
    }));
    return ring;
  };
}
