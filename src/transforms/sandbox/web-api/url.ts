import type { Kit } from './kit.ts';
import type { SearchParams } from './search-params.ts';

/** Runs *inside* the isolate, as source text: `URL`. The host parses. */
export function urlCode({ ask, define }: Kit, { URLSearchParams, replaceAll, onChange }: SearchParams): object[] {
  const { parse: parseJson } = JSON;
  const SETTABLE = [
    'href',
    'protocol',
    'username',
    'password',
    'host',
    'hostname',
    'port',
    'pathname',
    'search',
    'hash',
  ];
  type Parts = Record<string, string>;
  /** Set by the class. */
  let partsOf!: (url: URL) => Parts;
  let change!: (url: URL, name: string, value: string) => void;

  class URL {
    #parts: Parts;
    #params: InstanceType<typeof URLSearchParams> | undefined;

    static {
      partsOf = (url) => url.#parts;
      change = (url, name, value) => {
        let parts: string;
        try {
          parts = ask('set-url', url.#parts.href as string, name, value);
        } catch (error) {
          // As in browsers, the other parts stay unchanged.
          if (name !== 'href' && error instanceof Error && error.message === 'Invalid URL') return;
          throw error;
        }
        url.#parts = parseJson(parts);
        if (url.#params) replaceAll(url.#params, url.#parts.search as string);
      };
    }

    static canParse(url: unknown, base?: unknown) {
      return URL.parse(url, base) !== null;
    }

    static parse(url: unknown, base?: unknown) {
      try {
        return new URL(url, base);
      } catch {
        return null;
      }
    }

    constructor(url: unknown, base?: unknown) {
      const text = `${url}`.toWellFormed();
      const baseText = base === undefined ? '' : `${base}`.toWellFormed();
      this.#parts = parseJson(ask('url', text, baseText, base === undefined ? '' : 'with base'));
    }

    get origin() {
      return this.#parts.origin;
    }

    get searchParams() {
      if (!this.#params) {
        const params = new URLSearchParams(this.#parts.search);
        onChange(params, () => {
          const query = params.toString();
          this.#parts = parseJson(ask('set-url', this.#parts.href as string, 'search', query));
        });
        this.#params = params;
      }
      return this.#params;
    }

    toString() {
      return this.#parts.href;
    }

    toJSON() {
      return this.#parts.href;
    }
  }

  for (const name of SETTABLE) {
    const accessor = Object.getOwnPropertyDescriptor(
      {
        get part() {
          return partsOf(this as unknown as URL)[name] as string;
        },
        set part(value: unknown) {
          change(this as unknown as URL, name, `${value}`.toWellFormed());
        },
      },
      'part',
    ) as PropertyDescriptor;
    Object.defineProperty(URL.prototype, name, { ...accessor, enumerable: true });
  }
  define('URL', URL);
  return [];
}
