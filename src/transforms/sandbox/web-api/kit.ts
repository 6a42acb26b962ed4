import type { HostCall } from './host-calls.ts';

/** Runs *inside* the isolate, as source text: what the parts of the web API share. The host's function stays in `ask`; everything that passes
 *  through it is a string, and no error of the host comes out of it. */
export function kitCode(host: HostCall) {
  const { apply, defineProperty, getPrototypeOf, getOwnPropertyDescriptor } = Reflect;
  const { fromCharCode } = String;
  const Bytes = Uint8Array;
  const BLOCK = 8_192;
  const REPLACEMENT = 0xfffd;
  const typedArray = getPrototypeOf(Bytes.prototype) as object;
  const kindOf = getterOf(typedArray, Symbol.toStringTag);
  const views = [typedArray, DataView.prototype].map((prototype) => ({
    buffer: getterOf(prototype, 'buffer'),
    byteOffset: getterOf(prototype, 'byteOffset'),
    byteLength: getterOf(prototype, 'byteLength'),
  }));
  const buffers = [ArrayBuffer.prototype, SharedArrayBuffer.prototype].map((prototype) =>
    getterOf(prototype, 'byteLength'),
  );

  /** An error whose name says what is wrong, as in browsers. */
  class DOMException extends Error {
    constructor(message = '', name = 'Error') {
      super(message);
      defineProperty(this, 'name', { value: `${name}`, configurable: true, writable: true });
    }
  }

  return {
    DOMException,
    bytesOf,
    typedArrayKind: (value: unknown) => apply(kindOf, value, []) as string | undefined,
    latin1,
    fromLatin1,
    encodeUtf8,
    decodeUtf8,
    ask,
    /** Adds a global. */
    define(name: string, value: unknown) {
      defineProperty(globalThis, name, { value, writable: true, enumerable: false, configurable: true });
    },
  };

  function getterOf(target: object, key: PropertyKey) {
    return getOwnPropertyDescriptor(target, key)?.get as () => unknown;
  }

  /** @returns the response; undefined: the host refuses */
  function ask(operation: string, a: string, b: string, c: string): string {
    for (const text of [operation, a, b, c]) if (typeof text !== 'string') throw new TypeError('expected a string');
    let reply = '';
    try {
      reply = host(operation, a, b, c);
    } catch {}
    if (typeof reply === 'string' && reply[0] === '+') return reply.slice(1);
    throw new TypeError(typeof reply === 'string' && reply !== '' ? reply.slice(1) : `${operation} failed`);
  }

  /** The bytes of a typed array, a DataView or a buffer, not copied; undefined: it is none. */
  function bytesOf(value: unknown): Uint8Array | undefined {
    if (typeof value !== 'object' || value === null) return undefined;
    for (const { buffer, byteOffset, byteLength } of views) {
      const length = attempt(byteLength, value);
      if (length !== undefined) {
        return new Bytes(apply(buffer, value, []) as ArrayBuffer, apply(byteOffset, value, []) as number, length);
      }
    }
    for (const byteLength of buffers) {
      if (attempt(byteLength, value) !== undefined) return new Bytes(value as ArrayBuffer);
    }
    return undefined;
  }

  /** Getters of buffers throw for other objects. */
  function attempt(getter: () => unknown, value: object): number | undefined {
    try {
      return apply(getter, value, []) as number;
    } catch {
      return undefined;
    }
  }

  /** One character for each byte. */
  function latin1(bytes: Uint8Array | Uint16Array, length = bytes.length): string {
    let text = '';
    for (let at = 0; at < length; at += BLOCK) {
      text += apply(fromCharCode, undefined, bytes.subarray(at, at + BLOCK < length ? at + BLOCK : length));
    }
    return text;
  }

  function fromLatin1(text: string): Uint8Array<ArrayBuffer> {
    const bytes = new Bytes(text.length);
    for (let i = 0; i < text.length; i += 1) bytes[i] = text.charCodeAt(i);
    return bytes;
  }

  function encodeUtf8(text: string): Uint8Array<ArrayBuffer> {
    const bytes = new Bytes(utf8Length(text));
    let at = 0;
    for (let i = 0; i < text.length; i += 1) {
      let point = text.codePointAt(i) as number;
      if (point > 0xffff) i += 1;
      else if (point >= 0xd800 && point <= 0xdfff) point = REPLACEMENT;
      if (point < 0x80) bytes[at++] = point;
      else {
        if (point < 0x800) bytes[at++] = 0xc0 | (point >> 6);
        else {
          if (point < 0x10000) bytes[at++] = 0xe0 | (point >> 12);
          else {
            bytes[at++] = 0xf0 | (point >> 18);
            bytes[at++] = 0x80 | ((point >> 12) & 0x3f);
          }
          bytes[at++] = 0x80 | ((point >> 6) & 0x3f);
        }
        bytes[at++] = 0x80 | (point & 0x3f);
      }
    }
    return bytes;
  }

  function utf8Length(text: string): number {
    let length = text.length;
    for (let i = 0; i < text.length; i += 1) {
      const point = text.codePointAt(i) as number;
      if (point > 0x7f) length += point < 0x800 ? 1 : 2;
      if (point > 0xffff) i += 1;
    }
    return length;
  }

  /** https://encoding.spec.whatwg.org/#utf-8-decoder
   *  @param fatal undefined instead of a replacement character */
  function decodeUtf8(bytes: Uint8Array, fatal = false): string | undefined {
    const units = new Uint16Array(BLOCK);
    let text = '';
    let filled = 0;
    for (let i = 0; i < bytes.length; ) {
      const first = bytes[i++] as number;
      let missing = first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : first >= 0x80 ? 1 : 0;
      let isValid = first < 0x80 || (first >= 0xc2 && first <= 0xf4);
      let point = missing === 0 ? first : first & (0x3f >> missing);
      let lower = first === 0xe0 ? 0xa0 : first === 0xf0 ? 0x90 : 0x80;
      let upper = first === 0xed ? 0x9f : first === 0xf4 ? 0x8f : 0xbf;
      for (; isValid && missing > 0; missing -= 1) {
        const next = i < bytes.length ? (bytes[i] as number) : 0;
        isValid = next >= lower && next <= upper;
        if (!isValid) break;
        i += 1;
        point = (point << 6) | (next & 0x3f);
        lower = 0x80;
        upper = 0xbf;
      }
      if (!isValid) {
        if (fatal) return undefined;
        point = REPLACEMENT;
      }
      if (point > 0xffff) {
        units[filled++] = 0xd800 + ((point - 0x10000) >> 10);
        units[filled++] = 0xdc00 + (point & 0x3ff);
      } else units[filled++] = point;
      if (filled > BLOCK - 2) {
        text += latin1(units, filled);
        filled = 0;
      }
    }
    return text + latin1(units, filled);
  }
}

export type Kit = ReturnType<typeof kitCode>;
