import type { Kit } from './kit.ts';

/** Runs *inside* the isolate, as source text: `crypto`, as the module of Node.js has it. The host hashes. */
export function cryptoCode({ ask, bytesOf, latin1, fromLatin1, encodeUtf8, define }: Kit): object[] {
  const CHUNK_CHARS = 131_072;
  const ALGORITHMS = ['md5', 'sha1', 'sha256', 'sha384', 'sha512'];
  const isAscii = /^[\0-\x7f]*$/;

  /** Text, and how the host makes bytes of it: 'u' as UTF-8, 'b' as Latin-1. */
  interface Data {
    kind: 'u' | 'b';
    text: string;
  }

  class Hash {
    readonly #algorithm: string;
    readonly #key: Data | undefined;
    #data: Data = { kind: 'u', text: '' };
    #isDone = false;

    constructor(algorithm: unknown, key?: unknown) {
      this.#algorithm = `${algorithm}`.toLowerCase().replace(/^sha-/, 'sha');
      this.#key = key === undefined ? undefined : dataOf(key);
      if (this.#key && this.#key.text.length > CHUNK_CHARS) throw new TypeError('the key is too long');
      if (!ALGORITHMS.includes(this.#algorithm)) {
        throw new TypeError(`algorithm: expected one of ${ALGORITHMS.join(', ')}`);
      }
    }

    update(data: unknown, encoding?: unknown) {
      if (this.#isDone) throw new TypeError('digest was called already');
      if (encoding !== undefined && encoding !== 'utf8' && encoding !== 'utf-8') {
        throw new TypeError('encoding: expected utf8; pass other data as a Uint8Array');
      }
      const next = dataOf(data);
      const { kind, text } = this.#data;
      if (text === '') this.#data = next;
      else if (kind === next.kind) this.#data = { kind, text: text + next.text };
      else this.#data = { kind: 'b', text: asBytes(this.#data) + asBytes(next) };
      return this;
    }

    digest(encoding?: unknown): string | Uint8Array {
      // No code of the transform may run between the calls of the host.
      const wanted = encoding === undefined || encoding === 'buffer' ? undefined : `${encoding}`;
      if (this.#isDone) throw new TypeError('digest was called already');
      this.#isDone = true;
      const { kind, text } = this.#data;
      const result = this.#hashed(kind, text, wanted ?? 'binary');
      return wanted === undefined ? fromLatin1(result) : result;
    }

    #hashed(kind: Data['kind'], text: string, encoding: string): string {
      const [specification, key] = [`${this.#algorithm} ${this.#key?.kind ?? '-'} ${kind}`, this.#key?.text ?? ''];
      if (text.length <= CHUNK_CHARS) return ask('digest', `${specification} ${encoding}`, key, text);
      ask('begin', specification, key, '');
      for (let at = 0; at < text.length; ) {
        let end = at + CHUNK_CHARS;
        // Never between the two halves of a character.
        if (end < text.length && (text.charCodeAt(end - 1) & 0xfc00) === 0xd800) end -= 1;
        ask('update', kind, text.slice(at, end), '');
        at = end;
      }
      return ask('end', encoding, '', '');
    }
  }

  define('crypto', {
    createHash(algorithm: unknown) {
      return new Hash(algorithm);
    },
    createHmac(algorithm: unknown, key: unknown) {
      if (key === undefined || key === null) throw new TypeError('key: expected a string or a Uint8Array');
      return new Hash(algorithm, key);
    },
    /** Data of different lengths is not equal. */
    timingSafeEqual(a: unknown, b: unknown) {
      const [first, second] = [dataOf(a), dataOf(b)];
      return ask('equal', first.kind + second.kind, first.text, second.text) === 'true';
    },
    randomUUID() {
      return ask('uuid', '', '', '');
    },
  });
  return [Hash.prototype];

  function dataOf(value: unknown): Data {
    if (typeof value === 'string') return { kind: 'u', text: value.toWellFormed() };
    const bytes = bytesOf(value);
    if (!bytes) throw new TypeError('data: expected a string or a Uint8Array');
    return { kind: 'b', text: latin1(bytes) };
  }

  function asBytes({ kind, text }: Data): string {
    return kind === 'b' || isAscii.test(text) ? text : latin1(encodeUtf8(text));
  }
}
