import type { Kit } from './kit.ts';

/** Runs *inside* the isolate, as source text: `TextEncoder` and `TextDecoder`, for UTF-8. */
export function textCode({ bytesOf, encodeUtf8, decodeUtf8, define }: Kit): object[] {
  class TextEncoder {
    get encoding() {
      return 'utf-8';
    }

    encode(text: unknown = '') {
      return encodeUtf8(`${text}`);
    }
  }

  class TextDecoder {
    readonly #fatal: boolean;
    readonly #ignoreBOM: boolean;

    constructor(label: unknown = 'utf-8', options: { fatal?: boolean; ignoreBOM?: boolean } = {}) {
      if (!/^\s*(unicode-1-1-)?utf-?8\s*$/i.test(`${label}`)) throw new RangeError('encoding: expected utf-8');
      this.#fatal = Boolean(options?.fatal);
      this.#ignoreBOM = Boolean(options?.ignoreBOM);
    }

    get encoding() {
      return 'utf-8';
    }

    get fatal() {
      return this.#fatal;
    }

    get ignoreBOM() {
      return this.#ignoreBOM;
    }

    decode(data?: unknown, options?: { stream?: boolean }) {
      if (options?.stream) throw new TypeError('stream: not supported');
      if (data === undefined) return '';
      const bytes = bytesOf(data);
      if (!bytes) throw new TypeError('expected a typed array or a buffer');
      const text = decodeUtf8(bytes, this.#fatal);
      if (text === undefined) throw new TypeError('the data is not valid UTF-8');
      return text.charCodeAt(0) === 0xfeff && !this.#ignoreBOM ? text.slice(1) : text;
    }
  }

  define('TextEncoder', TextEncoder);
  define('TextDecoder', TextDecoder);
  return [];
}
