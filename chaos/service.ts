/** The service under test: two web and two worker processes, with an API client, health checks, and a load balancer for apps that connect. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { type Ends, ServiceProcess } from './service-process.ts';

/** From SIGTERM until a web process stops listening. */
export const DRAIN_MS = 1_000;

export const SECRETS = {
  EVENT_KEYS: 'chaos-event-key-0123456789abcdef',
  SECRET_KEY: 'chaos-secret-key-0123456789abcdef',
  API_KEY: 'chaos-api-key-0123456789abcdef',
  SIGNING_KEY: 'signkey-chaos-0123456789abcdef0123456789abcdef',
  API_RATE_LIMIT: '1000000',
};
export type ServiceMode = 'production' | 'dev';
/** After this time, another worker takes over the jobs of a dead worker. */
export const STALLED_AFTER_SECONDS = 5;
/** Also the lease of a call over a connection. */
export const CALL_TIMEOUT_SECONDS = 10;

const WEBS = 2;
const WORKERS = 2;
const PROBE_MS = 100;
const PROBE_TIMEOUT_MS = 1_000;
const REQUEST_TIMEOUT_MS = 5_000;
/** The first webhook starts the process of transforms. */
export const FIRST_WEBHOOK_MS = 60_000;

const AUTHORIZED = { authorization: `Bearer ${SECRETS.API_KEY}` };

interface ServiceResponse<T> {
  data: T;
  metadata?: { cursor?: string; stopped_early?: string };
}

export class Service {
  readonly ends: Ends = { kills: 0, terminations: [], unexpected: [] };
  readonly webs: ServiceProcess[];
  readonly workers: ServiceProcess[];
  #ready: string[] = [];
  #closed = false;
  #turn = 0;
  /** Passes each connection on to a web process that is ready. */
  readonly #balancer = createServer((socket) => {
    const url = this.#ready[this.#turn++ % this.#ready.length];
    if (!url) return socket.destroy();
    const web = connect(Number(new URL(url).port), '127.0.0.1');
    for (const [from, to] of [
      [socket, web],
      [web, socket],
    ] as const)
      from
        .on('error', () => to.destroy())
        .on('close', () => to.destroy())
        .pipe(to);
  });

  /** @param settings that name Redis, and Postgres if there is one */
  constructor(settings: Record<string, string>, logs: string | undefined) {
    const env = {
      HOST: '127.0.0.1',
      PORT: '0',
      // The apps register themselves.
      DISCOVERY: 'false',
      ...settings,
      INGEST_DURABILITY: 'fsync',
      STALLED_AFTER_SECONDS: String(STALLED_AFTER_SECONDS),
      CALL_TIMEOUT_SECONDS: String(CALL_TIMEOUT_SECONDS),
      CONNECT_LEASE_SECONDS: String(CALL_TIMEOUT_SECONDS),
      RETRY_SCALE: '0.02',
      SHUTDOWN_DRAIN_SECONDS: String(DRAIN_MS / 1_000),
      LOG_LEVEL: 'warn',
      ...SECRETS,
    };
    const processes = (role: 'web' | 'worker', count: number) =>
      Array.from({ length: count }, (_, index) => new ServiceProcess(role, index, env, this.ends, logs));
    this.webs = processes('web', WEBS);
    this.workers = processes('worker', WORKERS);
  }

  get all(): ServiceProcess[] {
    return [...this.webs, ...this.workers];
  }

  /** URLs of the web processes that a load balancer would use now. */
  get ready(): readonly string[] {
    return this.#ready;
  }

  /** The same while web processes come and go. */
  get balancedUrl(): string {
    return `http://127.0.0.1:${(this.#balancer.address() as AddressInfo).port}`;
  }

  async start(): Promise<void> {
    await once(this.#balancer.listen(0, '127.0.0.1'), 'listening');
    await Promise.all(this.all.map((target) => target.start()));
    void this.#balance();
    while (this.#ready.length < WEBS) await setTimeout(PROBE_MS);
  }

  async stop(): Promise<void> {
    this.#closed = true;
    this.#balancer.close();
    await Promise.all(this.all.map((target) => target.terminate()));
  }

  /** Retries a GET on all web processes until one responds. @returns undefined for 404 */
  async get<T>(path: string): Promise<T | undefined> {
    return (await this.#answer<T>(path))?.data;
  }

  /** All items of a list, page by page. */
  async list<T>(path: string): Promise<T[]> {
    const items: T[] = [];
    for (let cursor = ''; ; ) {
      const page = await this.#answer<T[]>(path + cursor);
      items.push(...(page?.data ?? []));
      const { cursor: next, stopped_early } = page?.metadata ?? {};
      if (stopped_early) await setTimeout(PROBE_MS);
      if (next === undefined) return items;
      cursor = `&cursor=${encodeURIComponent(next)}`;
    }
  }

  async #answer<T>(path: string): Promise<ServiceResponse<T> | undefined> {
    for (let turn = 0; ; turn++) {
      const response = await this.#ask(path, { headers: AUTHORIZED }, turn);
      if (response?.status === 404) return undefined;
      // The time may be over, or the process be killed, in the midst of the body.
      const answer = response?.ok && ((await response.json().catch(() => undefined)) as ServiceResponse<T> | undefined);
      if (answer) return answer;
      if (response && !response.ok && response.status < 500)
        throw new Error(`GET ${path}: ${response.status} ${await response.text()}`);
      await setTimeout(PROBE_MS);
    }
  }

  async post<T>(path: string, body: object, timeoutMs = REQUEST_TIMEOUT_MS): Promise<T> {
    const headers = { ...AUTHORIZED, 'content-type': 'application/json' };
    return this.#change<T>(path, { method: 'POST', headers, body: JSON.stringify(body) }, timeoutMs);
  }

  async delete<T>(path: string): Promise<T> {
    return this.#change<T>(path, { method: 'DELETE', headers: AUTHORIZED }, REQUEST_TIMEOUT_MS);
  }

  /** One attempt, and more while the service says that it did nothing because it is overloaded: on a busy machine, its
   *  process for transforms takes long to start. */
  async #change<T>(path: string, init: RequestInit, timeoutMs: number): Promise<T> {
    const until = Date.now() + timeoutMs;
    for (;;) {
      const response = await this.#ask(path, init, 0, timeoutMs);
      if (response?.ok) return ((await response.json()) as { data: T }).data;
      const text = await response?.text();
      const isOverloaded = response?.status === 503 && text?.includes('"code":"overloaded"');
      if (!isOverloaded || Date.now() > until) throw new Error(`${init.method} ${path}: ${response?.status} ${text}`);
      await setTimeout(PROBE_MS);
    }
  }

  async #ask(
    path: string,
    init: RequestInit,
    turn: number,
    timeoutMs = REQUEST_TIMEOUT_MS,
  ): Promise<Response | undefined> {
    const urls = this.webs.flatMap(({ url }) => url ?? []);
    if (urls.length === 0) return undefined;
    const signal = AbortSignal.timeout(timeoutMs);
    return fetch(urls[turn % urls.length] + path, { ...init, signal }).catch(() => undefined);
  }

  /** Resolves when every web process accepts events. Each reads the memory of Redis once a second: until then, requests of a rolling deploy
   *  would fail because Redis was full before it. */
  async untilIntakeIsOpen(): Promise<void> {
    const isOpen = async ({ url }: ServiceProcess) => {
      const signal = AbortSignal.timeout(PROBE_TIMEOUT_MS);
      const response = url ? await fetch(`${url}/health`, { signal }).catch(() => undefined) : undefined;
      const health = (await response?.json().catch(() => undefined)) as { intake?: string } | undefined;
      return health?.intake === 'open';
    };
    while (!this.#closed && (await Promise.all(this.webs.map(isOpen))).includes(false)) await setTimeout(PROBE_MS);
  }

  /** Health checks, like those of a load balancer. */
  async #balance(): Promise<void> {
    while (!this.#closed) {
      const asked = this.webs.map(async ({ url }) => {
        const signal = AbortSignal.timeout(PROBE_TIMEOUT_MS);
        const isReady =
          url &&
          (await fetch(`${url}/readyz`, { signal }).then(
            ({ ok }) => ok,
            () => false,
          ));
        return isReady ? [url] : [];
      });
      this.#ready = (await Promise.all(asked)).flat();
      await setTimeout(PROBE_MS);
    }
  }
}
