/** Requests to the REST API of the service (docs/rest.md). They are repeated while the service does not answer, if that has no further effect:
 *  reads, and POST of /v1, which has an idempotency key. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseExact } from './exact-json.ts';
import { type CliError, EXIT } from './exit-codes.ts';
import { serviceError, unreachable } from './service-errors.ts';
import type { Settings } from './settings.ts';

const TIMEOUT_MS = 60_000;
const RETRIES = 3;
const FIRST_PAUSE_MS = 300;
/** A longer `Retry-After` is not waited for. */
const MAX_PAUSE_MS = 10_000;
const PAGE = 100;
const TRANSIENT: readonly number[] = [429, 502, 503, 504];

/** undefined: the parameter is left out. */
export type Query = Record<string, string | number | boolean | undefined>;
// biome-ignore lint/suspicious/noExplicitAny: the JSON of the service
export type Json = any;

export interface Reply {
  status: number;
  data: Json;
  metadata: Json;
  /** The whole body. */
  body: Json;
}

export interface RequestOptions {
  query?: Query | undefined;
  /** An object is sent as JSON; a text is JSON already. */
  body?: unknown;
  headers?: Record<string, string> | undefined;
  /** Repeating it has no further effect, although it is no GET. */
  isRepeatable?: boolean;
}

export class ApiClient {
  readonly settings: Settings;
  readonly #signal: AbortSignal;

  /** @param signal aborts all requests */
  constructor(settings: Settings, signal: AbortSignal) {
    this.settings = settings;
    this.#signal = signal;
  }

  /** The same for another environment. */
  inEnvironment(environment: string): ApiClient {
    return new ApiClient({ ...this.settings, environment }, this.#signal);
  }

  get(path: string, query?: Query): Promise<Reply> {
    return this.request('GET', path, { query });
  }

  post(path: string, body?: unknown): Promise<Reply> {
    return this.request('POST', path, { body, headers: { 'idempotency-key': randomUUID() }, isRepeatable: true });
  }

  put(path: string, body?: unknown): Promise<Reply> {
    return this.request('PUT', path, { body });
  }

  patch(path: string, body?: unknown): Promise<Reply> {
    return this.request('PATCH', path, { body });
  }

  delete(path: string, query?: Query): Promise<Reply> {
    return this.request('DELETE', path, { query });
  }

  /** The first entries of a list, over as many pages as they take. */
  async list(path: string, query: Query, limit: number): Promise<Json[]> {
    const found: Json[] = [];
    let cursor: string | undefined;
    do {
      const page = await this.get(path, { ...query, limit: Math.min(PAGE, limit - found.length), cursor });
      found.push(...page.data);
      cursor = page.metadata?.cursor;
    } while (cursor && found.length < limit);
    return found;
  }

  /** All entries of a list that has no `limit`. */
  async all(path: string, query: Query = {}): Promise<Json[]> {
    const found: Json[] = [];
    let cursor: string | undefined;
    do {
      const page = await this.get(path, { ...query, cursor });
      found.push(...page.data);
      cursor = page.metadata?.cursor;
    } while (cursor);
    return found;
  }

  /** @throws CliError for every response that is not 2xx */
  async request(method: string, path: string, options: RequestOptions = {}): Promise<Reply> {
    for (let retry = 0; ; retry++) {
      const isLast = !(method === 'GET' || options.isRepeatable) || retry === RETRIES;
      const response = await this.#fetch(method, path, options).catch((error: CliError) => {
        if (isLast || error.exitCode !== EXIT.unreachable) throw error;
      });
      if (response && (isLast || !isTransient(response))) return this.#read(method, path, response);
      await response?.body?.cancel();
      const after = Number(response?.headers.get('retry-after')) * 1_000;
      await sleep(Math.min(after || FIRST_PAUSE_MS * 2 ** retry, MAX_PAUSE_MS), undefined, { signal: this.#signal });
    }
  }

  /** A response whose body is read as it arrives. @throws CliError if the status is not 2xx */
  async open(path: string, headers: Record<string, string> = {}): Promise<Response> {
    const response = await this.#fetch('GET', path, { headers }, false);
    if (!response.ok) await this.#read('GET', path, response);
    return response;
  }

  async #fetch(method: string, path: string, options: RequestOptions, hasTimeout = true): Promise<Response> {
    const { query = {}, body } = options;
    const given = new URLSearchParams();
    for (const [name, value] of Object.entries(query)) if (value !== undefined) given.set(name, String(value));
    const search = given.size > 0 ? `?${given}` : '';
    const signals = [this.#signal, ...(hasTimeout ? [AbortSignal.timeout(TIMEOUT_MS)] : [])];
    try {
      return await fetch(this.settings.url + path + search, {
        method,
        // A redirect would send the key to another server, or turn POST into GET.
        redirect: 'manual',
        signal: AbortSignal.any(signals),
        headers: { ...this.#headers(), ...(body === undefined ? {} : JSON_TYPE), ...options.headers },
        ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      });
    } catch (error) {
      if (this.#signal.aborted) throw error;
      throw unreachable(this.settings, error);
    }
  }

  #headers(): Record<string, string> {
    const { apiKey, environment } = this.settings;
    return {
      ...(apiKey && { authorization: `Bearer ${apiKey}` }),
      ...(environment && { 'x-service-env': environment }),
      accept: 'application/json',
    };
  }

  async #read(method: string, path: string, response: Response): Promise<Reply> {
    const text = await response.text();
    let body: Json;
    try {
      body = text === '' ? undefined : parseExact(text);
    } catch {
      body = text;
    }
    // Another server may answer every path with a page.
    const isOurs = text === '' || typeof body === 'object';
    if (!response.ok || !isOurs) throw serviceError({ method, path, response, body }, this.settings);
    return { status: response.status, data: body?.data, metadata: body?.metadata, body };
  }
}

/** 409 with a time: the first request with the idempotency key is still being carried out. */
function isTransient({ status, headers }: Response): boolean {
  return TRANSIENT.includes(status) || (status === 409 && headers.has('retry-after'));
}

const JSON_TYPE = { 'content-type': 'application/json' };
