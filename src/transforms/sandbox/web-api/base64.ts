import type { Kit } from './kit.ts';

/** Runs *inside* the isolate, as source text: `atob`, `btoa`, and base64 and hex of Uint8Array as in ECMAScript 2026. */
export function base64Code({ DOMException, bytesOf, typedArrayKind, latin1, fromLatin1, define }: Kit): object[] {
  const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
  const ALPHABETS = { base64: `${LETTERS}+/`, base64url: `${LETTERS}-_` };
  const HEX = '0123456789abcdef';
  const PAD = '='.charCodeAt(0);
  const invalid = 255;

  define('DOMException', DOMException);
  define(
    'atob',
    {
      atob(data: string) {
        let text = `${data}`.replace(/[\t\n\f\r ]/g, '');
        if (text.length % 4 === 0) text = text.replace(/={1,2}$/, '');
        const bytes = decode(text, ALPHABETS.base64);
        if (!bytes) throw new DOMException('the text is not base64', 'InvalidCharacterError');
        return latin1(bytes);
      },
    }.atob,
  );
  define(
    'btoa',
    {
      btoa(data: string) {
        const text = `${data}`;
        for (let i = 0; i < text.length; i += 1) {
          if (text.charCodeAt(i) > 255) {
            throw new DOMException('the text has characters beyond Latin-1', 'InvalidCharacterError');
          }
        }
        return encode(fromLatin1(text), ALPHABETS.base64, true);
      },
    }.btoa,
  );
  addTo(Uint8Array, {
    fromBase64(text: unknown, options?: { alphabet?: string }) {
      if (typeof text !== 'string') throw new TypeError('expected a string');
      let stripped = text.replace(/[\t\n\f\r ]/g, '');
      if (stripped.length % 4 === 0) stripped = stripped.replace(/={1,2}$/, '');
      const bytes = decode(stripped, alphabetOf(options));
      if (!bytes) throw new SyntaxError('the text is not base64');
      return bytes;
    },
    fromHex(text: unknown) {
      if (typeof text !== 'string') throw new TypeError('expected a string');
      const lower = text.toLowerCase();
      if (text.length % 2 !== 0 || !/^[0-9a-f]*$/.test(lower)) throw new SyntaxError('the text is not hexadecimal');
      const bytes = new Uint8Array(lower.length / 2);
      for (let i = 0; i < bytes.length; i += 1) {
        bytes[i] = HEX.indexOf(lower.charAt(2 * i)) * 16 + HEX.indexOf(lower.charAt(2 * i + 1));
      }
      return bytes;
    },
  });
  addTo(Uint8Array.prototype, {
    toBase64(this: unknown, options?: { alphabet?: string; omitPadding?: boolean }) {
      return encode(own(this), alphabetOf(options), !options?.omitPadding);
    },
    toHex(this: unknown) {
      const bytes = own(this);
      const codes = new Uint8Array(2 * bytes.length);
      for (let i = 0; i < bytes.length; i += 1) {
        const byte = bytes[i] as number;
        codes[2 * i] = HEX.charCodeAt(byte >> 4);
        codes[2 * i + 1] = HEX.charCodeAt(byte & 15);
      }
      return latin1(codes);
    },
  });
  return [];

  function addTo(target: object, methods: object) {
    for (const [name, value] of Object.entries(methods)) {
      Object.defineProperty(target, name, { value, writable: true, enumerable: false, configurable: true });
    }
  }

  function own(value: unknown): Uint8Array {
    if (typedArrayKind(value) !== 'Uint8Array') throw new TypeError('expected a Uint8Array');
    return bytesOf(value) as Uint8Array;
  }

  function alphabetOf(options: { alphabet?: string } | undefined): string {
    const name = options?.alphabet ?? 'base64';
    if (name !== 'base64' && name !== 'base64url') throw new TypeError('alphabet: expected base64 or base64url');
    return ALPHABETS[name];
  }

  function encode(bytes: Uint8Array, alphabet: string, isPadded: boolean): string {
    const codes = new Uint8Array(Math.ceil(bytes.length / 3) * 4);
    let at = 0;
    for (let i = 0; i < bytes.length; i += 3) {
      const [a = 0, b = 0, c = 0] = [bytes[i], bytes[i + 1], bytes[i + 2]];
      codes[at++] = alphabet.charCodeAt(a >> 2);
      codes[at++] = alphabet.charCodeAt(((a & 3) << 4) | (b >> 4));
      codes[at++] = alphabet.charCodeAt(((b & 15) << 2) | (c >> 6));
      codes[at++] = alphabet.charCodeAt(c & 63);
    }
    const padding = (3 - (bytes.length % 3)) % 3;
    for (let i = 1; i <= padding; i += 1) codes[at - i] = PAD;
    return latin1(codes, isPadded ? at : at - padding);
  }

  /** @returns undefined: not base64 */
  function decode(text: string, alphabet: string): Uint8Array | undefined {
    if (text.length % 4 === 1) return undefined;
    const values = new Uint8Array(128).fill(invalid);
    for (let i = 0; i < alphabet.length; i += 1) values[alphabet.charCodeAt(i)] = i;
    const bytes = new Uint8Array(Math.floor((text.length * 3) / 4));
    let at = 0;
    for (let i = 0; i < text.length; i += 4) {
      let group = 0;
      for (let j = i; j < i + 4; j += 1) {
        const value = j < text.length ? (values[text.charCodeAt(j)] ?? invalid) : 0;
        if (value === invalid) return undefined;
        group = (group << 6) | value;
      }
      for (let shift = 16; shift >= 0 && at < bytes.length; shift -= 8) bytes[at++] = (group >> shift) & 255;
    }
    return bytes;
  }
}
