/** AES-256-GCM under a key that is derived from a text. Only WebCrypto, which every runtime has. */
import { ConfigError } from '../errors.ts';
import { associatedData, bytesOf, type Encrypted, toEncrypted } from './encryption-envelope.ts';
import type { Place } from './types.ts';

const INFO = 'tidegate encryption v1';
const MIN_CHARACTERS = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const KEY_ID_DIGITS = 16;

export interface EncryptionKey {
  id: string;
  /** @param place undefined: in version 1
   *  @param nonce 12 bytes, never the same twice */
  seal(json: string, place: Place | undefined, nonce?: Uint8Array<ArrayBuffer>): Promise<Encrypted>;
  /** undefined: this key did not seal it at this place, or it has changed since. */
  open(encrypted: Encrypted, place: Place | undefined): Promise<string | undefined>;
}

/** @param option start of the message
 *  @throws ConfigError that does not reveal the text */
export function checkKeyText(option: string, text: unknown): string {
  if (typeof text === 'string' && [...text].length >= MIN_CHARACTERS) return text;
  throw new ConfigError(`${option} of encryption() must be a text of at least ${MIN_CHARACTERS} characters`);
}

export async function deriveKey(text: string): Promise<EncryptionKey> {
  const { subtle } = globalThis.crypto;
  const input = await subtle.importKey('raw', utf8(text), 'HKDF', false, ['deriveBits']);
  const derivation = { name: 'HKDF', hash: 'SHA-256', salt: new Uint8Array(), info: utf8(INFO) };
  const bits = await subtle.deriveBits(derivation, input, 256);
  const id = Buffer.from(await subtle.digest('SHA-256', bits))
    .toString('hex')
    .slice(0, KEY_ID_DIGITS);
  const key = await subtle.importKey('raw', bits, 'AES-GCM', false, ['encrypt', 'decrypt']);
  const paramsOf = (iv: Uint8Array<ArrayBuffer>, place: Place | undefined) => ({
    name: 'AES-GCM',
    iv,
    additionalData: associatedData(id, place),
  });

  return {
    id,
    async seal(json, place, nonce = globalThis.crypto.getRandomValues(new Uint8Array(NONCE_BYTES))) {
      const sealed = await subtle.encrypt(paramsOf(nonce, place), key, utf8(json));
      return toEncrypted(id, Buffer.concat([nonce, Buffer.from(sealed)]), place);
    },
    async open(encrypted, place) {
      const bytes = bytesOf(encrypted);
      if (!bytes || bytes.length < NONCE_BYTES + TAG_BYTES) return undefined;
      const nonce = bytes.subarray(0, NONCE_BYTES);
      const opened = await subtle
        .decrypt(paramsOf(nonce, place), key, bytes.subarray(NONCE_BYTES))
        .catch(() => undefined);
      return opened && new TextDecoder().decode(opened);
    },
  };
}

function utf8(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text);
}
