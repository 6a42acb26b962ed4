/** A provider's request for verification and handshakes. Parsed lazily, and at most once. */
import type { IncomingHttpHeaders } from 'node:http';
import { isJsonObject, tryParseShallow } from '../model/values/json.ts';
import type { Location } from './preset.ts';

const FORM = 'application/x-www-form-urlencoded';
/** Maximum number of fields of a query string or form. */
const MAX_FIELDS = 1_000;
/** Maximum length of a value that becomes a signature, an ID or part of a response. */
const VALUE_MAX_LENGTH = 8_192;

export interface ProviderRequestInput {
  method: string;
  /** URLs by which the provider may know the webhook, without query string. */
  urls: () => readonly string[];
  headers: IncomingHttpHeaders;
  /** The query string, without its question mark. */
  search: string;
  body: Buffer;
  /** The JSON of a large body, as far as it is needed: then nothing else is read from the body. */
  json?: unknown;
}

export class ProviderRequest {
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
  readonly search: string;
  readonly body: Buffer;
  readonly #urls: () => readonly string[];
  #json: { value: unknown } | undefined;
  #query: URLSearchParams | undefined;
  #form: { fields: URLSearchParams | undefined } | undefined;

  constructor({ method, urls, headers, search, body, json }: ProviderRequestInput) {
    this.method = method;
    this.#urls = urls;
    this.headers = headers;
    this.search = search;
    this.body = body;
    if (json === undefined) return;
    this.#json = { value: json };
    this.#form = { fields: undefined };
  }

  get urls(): readonly string[] {
    return this.#urls();
  }

  /** The JSON body; undefined if it is not JSON, or nested too deeply. */
  get json(): unknown {
    this.#json ??= { value: tryParseShallow(this.body.toString('utf8')) };
    return this.#json.value;
  }

  get query(): URLSearchParams {
    this.#query ??= fields(this.search);
    return this.#query;
  }

  /** Fields of an urlencoded body. undefined if a transform would read the body in another format, whose fields are not signed. */
  get form(): URLSearchParams | undefined {
    this.#form ??= { fields: this.#isForm() ? fields(this.body.toString('utf8')) : undefined };
    return this.#form.fields;
  }

  /** Text at a location; in JSON a string, number or boolean. undefined if there is no text, or it is longer than any ID or signature. */
  valueAt(location: Location): string | undefined {
    const colon = location.indexOf(':');
    const value = this.#find(location.slice(0, colon), location.slice(colon + 1));
    return value === undefined || value.length > VALUE_MAX_LENGTH ? undefined : value;
  }

  /** Distinct texts at a path in the JSON body in which `*` stands for every list item. undefined if a list is empty, or an item has no text. */
  everyAt(location: Location): ReadonlySet<string> | undefined {
    const found = new Set<string>();
    const path = location.slice(location.indexOf(':') + 1).split('.');
    return collect(this.json, path, found) && found.size > 0 ? found : undefined;
  }

  /** JSON is parsed as JSON under any content type. */
  #isForm(): boolean {
    const mediaType = (this.headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase();
    if (mediaType !== '' && mediaType !== FORM) return false;
    return typeof this.json !== 'object' || this.json === null;
  }

  #find(kind: string, name: string): string | undefined {
    if (kind === 'header') {
      const value = this.headers[name];
      return Array.isArray(value) ? value.join(', ') : value;
    }
    if (kind === 'query') return this.query.get(name) ?? undefined;
    if (kind === 'form') return this.form?.get(name) ?? undefined;
    return textAt(this.json, name.split('.'));
  }
}

/** Also finds a field whose name contains dots. */
function textAt(value: unknown, path: readonly string[]): string | undefined {
  let at: unknown = value;
  for (const [i, name] of path.entries()) {
    if (Array.isArray(at)) at = at[Number(name)];
    else if (!isJsonObject(at)) return undefined;
    else {
      const rest = path.slice(i).join('.');
      if (i < path.length - 1 && Object.hasOwn(at, rest)) return asText(at[rest]);
      at = Object.hasOwn(at, name) ? at[name] : undefined;
    }
  }
  return asText(at);
}

/** Whether every item has a text. */
function collect(value: unknown, path: readonly string[], found: Set<string>): boolean {
  const star = path.indexOf('*');
  if (star === -1) {
    const text = textAt(value, path);
    if (text !== undefined && text.length <= VALUE_MAX_LENGTH) found.add(text);
    return text !== undefined && text.length <= VALUE_MAX_LENGTH;
  }
  const list = star === 0 ? value : valueIn(value, path.slice(0, star));
  return Array.isArray(list) && list.every((item) => collect(item, path.slice(star + 1), found));
}

function valueIn(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (at, name) => (isJsonObject(at) && Object.hasOwn(at, name) ? at[name] : undefined),
    value,
  );
}

function asText(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined;
}

function fields(text: string): URLSearchParams {
  let end = -1;
  for (let count = 0; count < MAX_FIELDS; count++) {
    end = text.indexOf('&', end + 1);
    if (end === -1) return new URLSearchParams(text);
  }
  return new URLSearchParams(text.slice(0, end));
}
