/** An encrypted value on the wire. Readers of version 1 alone cannot mistake version 2 for a plain value: they refuse its data. */
import type { Place } from './types.ts';

export const SCHEME = 'tidegate/aes-256-gcm';
const VERSION = /^([1-9]\d{0,3})\./;

export interface Encrypted {
  $encrypted: typeof SCHEME;
  /** ID of the key. */
  key: string;
  /** Nonce, ciphertext and tag in base64; in version 2 after `2.`. */
  data: string;
}

export function isEncrypted(value: unknown): value is Encrypted {
  if (!isObject(value) || Object.keys(value).length !== 3) return false;
  return value.$encrypted === SCHEME && typeof value.key === 'string' && typeof value.data === 'string';
}

export function versionOf({ data }: Encrypted): number {
  return Number(VERSION.exec(data)?.[1] ?? 1);
}

/** undefined: it is not base64. Version 1 has always read base64 leniently. */
export function bytesOf(encrypted: Encrypted): Uint8Array<ArrayBuffer> | undefined {
  const isFirst = versionOf(encrypted) === 1;
  const text = isFirst ? encrypted.data : encrypted.data.replace(VERSION, '');
  const bytes = Buffer.from(text, 'base64');
  return isFirst || bytes.toString('base64') === text ? new Uint8Array(bytes) : undefined;
}

/** @param place undefined: version 1 */
export function toEncrypted(key: string, bytes: Buffer, place: Place | undefined): Encrypted {
  return { $encrypted: SCHEME, key, data: `${place ? '2.' : ''}${bytes.toString('base64')}` };
}

/** The place to which a value is bound: in version 2 as netstrings (`<bytes>:<text>,`), so that no two places have the same text.
 *  @param place undefined: version 1 */
export function associatedData(key: string, place: Place | undefined): Uint8Array<ArrayBuffer> {
  const text = place ? [SCHEME, '2', key, ...place].map(netstring).join('') : `${SCHEME} ${key}`;
  return new TextEncoder().encode(text);
}

function netstring(text: string): string {
  return `${Buffer.byteLength(text)}:${text},`;
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
