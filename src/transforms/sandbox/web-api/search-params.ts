import type { Kit } from './kit.ts';

/** Runs *inside* the isolate, as source text: `URLSearchParams`. A URL of `url.ts` changes with its `searchParams`. */
export function searchParamsCode({ decodeUtf8, encodeUtf8, define }: Kit) {
  type Pair = [string, string];
  /** Set by the class: what a URL does with its parameters. */
  let replaceAll!: (params: URLSearchParams, query: string) => void;
  let onChange!: (params: URLSearchParams, changed: () => void) => void;

  class URLSearchParams {
    #pairs: Pair[];
    #changed: (() => void) | undefined;

    static {
      replaceAll = (params, query) => {
        params.#pairs = parse(query);
      };
      onChange = (params, changed) => {
        params.#changed = changed;
      };
    }

    constructor(init: unknown = '') {
      this.#pairs = pairsOf(init);
    }

    get size() {
      return this.#pairs.length;
    }

    append(name: unknown, value: unknown) {
      this.#pairs.push([`${name}`.toWellFormed(), `${value}`.toWellFormed()]);
      this.#changed?.();
    }

    delete(name: unknown, value?: unknown) {
      const matches = matcher(name, value);
      this.#pairs = this.#pairs.filter((pair) => !matches(pair));
      this.#changed?.();
    }

    get(name: unknown) {
      return this.#pairs.find(matcher(name))?.[1] ?? null;
    }

    getAll(name: unknown) {
      return this.#pairs.filter(matcher(name)).map(([, value]) => value);
    }

    has(name: unknown, value?: unknown) {
      return this.#pairs.some(matcher(name, value));
    }

    set(name: unknown, value: unknown) {
      const matches = matcher(name);
      const pair: Pair = [`${name}`.toWellFormed(), `${value}`.toWellFormed()];
      const first = this.#pairs.findIndex(matches);
      if (first < 0) this.#pairs.push(pair);
      else this.#pairs = this.#pairs.flatMap((other, i) => (i === first ? [pair] : matches(other) ? [] : [other]));
      this.#changed?.();
    }

    sort() {
      this.#pairs.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
      this.#changed?.();
    }

    forEach(use: (value: string, name: string, params: URLSearchParams) => void, self?: unknown) {
      for (const [name, value] of this.#copy()) Reflect.apply(use, self, [value, name, this]);
    }

    entries() {
      return this.#copy().values();
    }

    keys() {
      return this.#pairs.map(([name]) => name).values();
    }

    values() {
      return this.#pairs.map(([, value]) => value).values();
    }

    [Symbol.iterator]() {
      return this.entries();
    }

    toString() {
      return this.#pairs.map(([name, value]) => `${encode(name)}=${encode(value)}`).join('&');
    }

    #copy(): Pair[] {
      return this.#pairs.map(([name, value]): Pair => [name, value]);
    }
  }

  define('URLSearchParams', URLSearchParams);
  return { URLSearchParams, replaceAll, onChange };

  function matcher(name: unknown, value?: unknown) {
    const [wanted, wantedValue] = [`${name}`, value === undefined ? undefined : `${value}`];
    return ([ownName, other]: Pair) => ownName === wanted && (wantedValue === undefined || other === wantedValue);
  }

  function pairsOf(init: unknown): Pair[] {
    if (typeof init !== 'object' || init === null) return parse(`${init}`);
    const given = Symbol.iterator in init ? [...(init as Iterable<Iterable<unknown>>)] : Object.entries(init);
    return given.map((pair) => {
      const entries = [...pair];
      if (entries.length !== 2) throw new TypeError('expected pairs of a name and a value');
      return [`${entries[0]}`.toWellFormed(), `${entries[1]}`.toWellFormed()];
    });
  }

  /** https://url.spec.whatwg.org/#urlencoded-parsing */
  function parse(query: string): Pair[] {
    const text = query.startsWith('?') ? query.slice(1) : query;
    const fields = text.split('&').filter((field) => field !== '');
    return fields.map((field): Pair => {
      const end = field.indexOf('=');
      return end < 0 ? [decode(field), ''] : [decode(field.slice(0, end)), decode(field.slice(end + 1))];
    });
  }

  function decode(field: string): string {
    const text = field.replaceAll('+', ' ').toWellFormed();
    if (!text.includes('%')) return text;
    const bytes = encodeUtf8(text);
    let length = 0;
    for (let i = 0; i < bytes.length; i += 1) {
      const [high, low] = [digitOf(bytes[i + 1]), digitOf(bytes[i + 2])];
      const isEscape = bytes[i] === 0x25 && high >= 0 && low >= 0;
      bytes[length++] = isEscape ? 16 * high + low : (bytes[i] as number);
      if (isEscape) i += 2;
    }
    return decodeUtf8(bytes.subarray(0, length)) ?? '';
  }

  /** @returns -1: no hexadecimal digit */
  function digitOf(code: number | undefined): number {
    return code === undefined ? -1 : '0123456789abcdef'.indexOf(String.fromCharCode(code | (code > 57 ? 32 : 0)));
  }

  function encode(text: string): string {
    const escaped = encodeURIComponent(text).replaceAll('%20', '+');
    return escaped.replace(/[!'()~]/g, (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`);
  }
}

export type SearchParams = ReturnType<typeof searchParamsCode>;
