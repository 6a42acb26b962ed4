/** Sources of events by names that users know: those of the event key or webhook. */
import type { ApiClient, Json } from './api-client.ts';
import { CliError } from './exit-codes.ts';

const PATHS: Record<string, string> = { 'event-key': '/v1/event-keys', webhook: '/v1/webhooks' };

export class SourceNames {
  readonly #api: ApiClient;
  readonly #names = new Map<string, string>();

  constructor(api: ApiClient) {
    this.#api = api;
  }

  /** `event-key till 1` for `event-key:<ID>`; the source itself where its name cannot be read, or is gone. */
  async of(source: string): Promise<string> {
    const [kind = '', id] = source.split(':');
    const path = PATHS[kind];
    if (id === undefined || path === undefined) return source;
    if (!this.#names.has(source)) await this.#read(kind, path, source);
    return this.#names.get(source) ?? source;
  }

  async #read(kind: string, path: string, asked: string): Promise<void> {
    this.#names.set(asked, asked);
    try {
      const all: Json[] = await this.#api.all(path);
      for (const { id, name } of all) this.#names.set(`${kind}:${id}`, `${kind} ${name}`);
    } catch (error) {
      // A key with little access follows events, and does not read keys.
      if (!(error instanceof CliError)) throw error;
    }
  }
}
