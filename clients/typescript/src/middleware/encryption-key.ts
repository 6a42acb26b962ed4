/** AES-256-GCM under a key that is derived from a text. Only WebCrypto, which every runtime has. */
import { ConfigError, NonRetriableError } from '../errors.ts';

export const SCHEME = 'tidegate/aes-256-gcm';
const INFO = 'tidegate encryption v1';
const MIN_CHARACTERS = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const KEY_ID_DIGITS = 16;

export interface Encrypted {
  $encrypted: typeof SCHEME;
  /** ID of the key. */
  key: string;
  /** Nonce, ciphertext and tag in base64. */
  data: string;
}

export interface EncryptionKey {
  id: string;
  /** @param nonce 12 bytes, never the same twice */
  seal(json: string, nonce?: Uint8Array<ArrayBuffer>): Promise<Encrypted>;
  /** @throws NonRetriableError if this key did not seal it, or it has changed since */
  open(encrypted: Encrypted): Promise<string>;
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
  const paramsOf = (iv: Uint8Array<ArrayBuffer>) => ({ name: 'AES-GCM', iv, additionalData: utf8(`${SCHEME} ${id}`) });

  return {
    id,
    async seal(json, nonce = globalThis.crypto.getRandomValues(new Uint8Array(NONCE_BYTES))) {
      const sealed = await subtle.encrypt(paramsOf(nonce), key, utf8(json));
      return { $encrypted: SCHEME, key: id, data: Buffer.concat([nonce, Buffer.from(sealed)]).toString('base64') };
    },
    async open({ data }) {
      const bytes = new Uint8Array(Buffer.from(data, 'base64'));
      if (bytes.length < NONCE_BYTES + TAG_BYTES) throw changed(id);
      const opened = await subtle
        .decrypt(paramsOf(bytes.subarray(0, NONCE_BYTES)), key, bytes.subarray(NONCE_BYTES))
        .catch(() => {
          throw changed(id);
        });
      return new TextDecoder().decode(opened);
    },
  };
}

function changed(id: string): NonRetriableError {
  return new NonRetriableError(
    `A value that the key ${id} encrypted cannot be decrypted: it has changed since. If another text had this key, put that text into fallbackKeys`,
  );
}

function utf8(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text);
}
