/** Listens for new rows in an outbox with `LISTEN`, on its own connection. Without it, a relay polls every second. */
import type pg from 'pg';
import type { ArchiveSettings } from '../config.ts';
import { connectionOf } from './database.ts';
import { postgres } from './packages.ts';

const CONNECT_TIMEOUT_MS = 2_000;
const KEEP_ALIVE_AFTER_MS = 10_000;
const CONNECT_AGAIN_MS = 5_000;

export class OutboxWakes {
  readonly #settings: Pick<ArchiveSettings, 'url' | 'tlsVerify'>;
  #client: pg.Client | undefined;
  #triedAt = Number.NEGATIVE_INFINITY;
  #isClosed = false;
  #isWoken = false;
  #wake = () => {};

  constructor(settings: Pick<ArchiveSettings, 'url' | 'tlsVerify'>) {
    this.#settings = settings;
  }

  /** Resolves when there may be new rows since the last wait, or after that time. */
  async wait(ms: number, signal: AbortSignal): Promise<void> {
    this.#connect();
    if (!this.#isWoken && !signal.aborted) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#wake = resolve;
      const timer = setTimeout(resolve, ms);
      signal.addEventListener('abort', () => resolve(), { once: true });
      await promise;
      clearTimeout(timer);
    }
    this.#isWoken = false;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#client?.end().catch(() => {});
  }

  /** Connects in the background: rows are found without it. */
  #connect(): void {
    if (this.#client || this.#isClosed || performance.now() - this.#triedAt < CONNECT_AGAIN_MS) return;
    this.#triedAt = performance.now();
    const { url, tlsVerify } = this.#settings;
    const client = new (postgres().Client)({
      ...connectionOf(url, tlsVerify),
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEP_ALIVE_AFTER_MS,
      application_name: 'tidegate outbox',
    });
    this.#client = client;
    const gone = () => {
      if (this.#client === client) this.#client = undefined;
    };
    client.on('error', gone);
    client.on('end', gone);
    client.on('notification', () => this.#notify());
    client.connect().then(
      // Also finds rows that came before it listened.
      () => client.query('LISTEN tidegate_outbox').then(() => this.#notify(), gone),
      gone,
    );
  }

  #notify(): void {
    this.#isWoken = true;
    this.#wake();
  }
}
