/** Encrypts what the service stores of a run: step results, outputs, and one field of events. */
import { NonRetriableError } from '../errors.ts';
import { refuseUnknown } from '../options.ts';
import { checkKeyText, deriveKey, type Encrypted, type EncryptionKey, SCHEME } from './encryption-key.ts';
import type { Middleware } from './types.ts';

export interface EncryptionOptions {
  /** A secret text of at least 32 characters. */
  key: string;
  /** Former keys: they decrypt, and encrypt nothing. */
  fallbackKeys?: readonly string[];
  /** The field of an event's data that is encrypted; triggers and expressions read the others. null: none. Default: `encrypted`. */
  eventField?: string | null;
}

/** Values that were not encrypted are read as they are, so that it can be switched on at any time. An unknown key fails the run.
 *  @throws ConfigError if a key is too short */
export function encryption(options: EncryptionOptions): Middleware {
  refuseUnknown('encryption()', options, ['key', 'fallbackKeys', 'eventField']);
  const { key, fallbackKeys = [], eventField = 'encrypted' } = options;
  const texts = [
    checkKeyText('The key', key),
    ...fallbackKeys.map((text) => checkKeyText('Each of the fallbackKeys', text)),
  ];
  const keys = keyRing(texts);

  const seal = async (value: unknown) => (await keys()).current.seal(JSON.stringify(value));
  const open = async (value: unknown) => {
    if (!isEncrypted(value)) return value;
    const { byId } = await keys();
    const known = byId.get(value.key);
    if (known) return JSON.parse(await known.open(value));
    throw new NonRetriableError(
      `A value is encrypted with the key ${value.key}, which is not among the keys of encryption(): put that key into fallbackKeys`,
    );
  };
  /** Changes the field of an event's data, if it has one. */
  const inField = async (data: unknown, change: (value: unknown) => Promise<unknown>) => {
    if (eventField === null || !isObject(data) || !Object.hasOwn(data, eventField)) return data;
    return { ...data, [eventField]: await change(data[eventField]) };
  };

  return {
    name: 'encryption',
    encode: (value, kind) => (kind === 'event' ? inField(value, seal) : seal(value)),
    decode: (value, kind) => (kind === 'event' ? inField(value, open) : open(value)),
  };
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

function isEncrypted(value: unknown): value is Encrypted {
  if (!isObject(value) || Object.keys(value).length !== 3) return false;
  return value.$encrypted === SCHEME && typeof value.key === 'string' && typeof value.data === 'string';
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
