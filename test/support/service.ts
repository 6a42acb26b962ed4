/** The whole service, for a test: real processes on the real Redis, with keys of its own. */
import { createHash } from 'node:crypto';
import { type Answer, type RequestBody, request } from './http.ts';
import { connectRedis, deleteKeys, freshPrefix, type Redis, redisUrl } from './redis.ts';
import { type Role, type ServiceProcess, startProcess } from './service-process.ts';
import { until } from './until.ts';

export interface ServiceOptions {
  /** Settings of the service (see src/config.ts), over those that the harness chooses. */
  env?: Record<string, string>;
  workers?: number;
  webs?: number;
  /** false: production, with the secrets below */
  dev?: boolean;
  /** Flags for Node, as scripts/start has them. */
  execArgv?: Partial<Record<Role, string[]>>;
}

/** What production needs; a test may set others through `env`. */
export const SECRETS = {
  EVENT_KEYS: 'test-event-key-0123456789',
  SECRET_KEY: 'test-secret-key-0123456789abcdef-0123456789abcdef',
  API_KEY: 'test-api-key-0123456789',
  SIGNING_KEY: 'signkey-test-0123456789abcdef0123456789abcdef',
} as const;

/** Services that run now, so that a failed test can show what they wrote (hooks.ts). */
export const running = new Set<Service>();

export async function startService({
  env = {},
  workers = 1,
  webs = 1,
  dev = true,
  execArgv = {},
}: ServiceOptions = {}): Promise<Service> {
  const service = new Service(dev, env, execArgv);
  running.add(service);
  const starts = await Promise.allSettled([
    ...Array.from({ length: webs }, () => service.startWeb()),
    ...Array.from({ length: workers }, () => service.startWorker()),
  ]);
  const failed = starts.find((start) => start.status === 'rejected');
  if (!failed) return service;
  await service.stop().catch(() => {});
  throw failed.reason;
}

export class Service {
  /** First part of all its keys in Redis. */
  readonly prefix: string = freshPrefix();
  /** For looking at its keys. */
  readonly redis: Redis;
  readonly webs: ServiceProcess[] = [];
  /** Every worker that was ever started; one that was killed keeps its place. */
  readonly workers: ServiceProcess[] = [];
  readonly dev: boolean;
  readonly env: Record<string, string>;

  readonly #execArgv: Partial<Record<Role, string[]>>;

  constructor(dev: boolean, env: Record<string, string>, execArgv: Partial<Record<Role, string[]>> = {}) {
    this.dev = dev;
    this.#execArgv = execArgv;
    this.env = {
      MODE: dev ? 'dev' : 'production',
      HOST: '127.0.0.1',
      PORT: '0',
      REDIS_URL: redisUrl(),
      KEY_PREFIX: this.prefix,
      LOG_LEVEL: 'warn',
      // No balancer is there to turn elsewhere.
      SHUTDOWN_DRAIN_SECONDS: '0',
      ...(dev ? {} : SECRETS),
      ...env,
    };
    this.redis = connectRedis(this.env.REDIS_URL);
  }

  /** Address of the first web process. */
  get url(): string {
    return this.urls[0] ?? '';
  }

  get urls(): string[] {
    return this.webs.map(({ port }) => `http://127.0.0.1:${port}`);
  }

  /** `authorization` for /v1; nothing in dev mode, where nobody asks. */
  get apiHeaders(): Record<string, string> {
    return this.env.API_KEY ? { authorization: `Bearer ${this.env.API_KEY}` } : {};
  }

  /** `authorization` of an app that registers: the signing key, its secret part hashed (docs/protocol.md#authentication-of-apps). */
  get appHeaders(): Record<string, string> {
    const [, prefix, hex = ''] = /^(signkey-\w+-)(.+)$/.exec(this.env.SIGNING_KEY ?? '') ?? [];
    if (!prefix) return {};
    const hashed = createHash('sha256').update(Buffer.from(hex, 'hex')).digest('hex');
    return { authorization: `Bearer ${prefix}${hashed}` };
  }

  /** Where to send events. */
  get eventPath(): string {
    return `/e/${this.env.EVENT_KEYS?.split(',')[0] ?? 'any-key'}`;
  }

  request(method: string, path: string, body?: RequestBody, headers?: Record<string, string>): Promise<Answer> {
    return request(method, this.url + path, { body, headers });
  }

  post(path: string, body?: RequestBody, headers?: Record<string, string>): Promise<Answer> {
    return this.request('POST', path, body, headers);
  }

  get(path: string, headers: Record<string, string> = this.apiHeaders): Promise<Answer> {
    return this.request('GET', path, undefined, headers);
  }

  /** Asks for the path until the answer is as wished, and returns it. */
  async waitFor(path: string, wished: (answer: Answer) => boolean, timeoutMs?: number): Promise<Answer> {
    let last: Answer | undefined;
    const check = async () => {
      last = await this.get(path);
      return wished(last) && last;
    };
    const describe = () => `GET ${path} answers as wished; last it was ${last?.status} ${JSON.stringify(last?.body)}`;
    return until(check, { describe, ...(timeoutMs === undefined ? {} : { timeoutMs }) });
  }

  startWeb(): Promise<ServiceProcess> {
    return this.#start('web', this.webs);
  }

  startWorker(): Promise<ServiceProcess> {
    return this.#start('worker', this.workers);
  }

  async killWorker(index = 0): Promise<void> {
    await this.workers[index]?.kill();
  }

  async killWeb(index = 0): Promise<void> {
    await this.webs[index]?.kill();
  }

  /** What all processes have written, for a message. */
  output(): string {
    return [...this.webs, ...this.workers]
      .map((process) => `${process.role} ${process.pid}${process.running() ? '' : ' (ended)'}:\n${process.output()}`)
      .join('\n');
  }

  /** Ends all processes, those that take in first, and deletes all keys.
   *  @throws when a process did not end as it should, or had ended before */
  async stop(): Promise<void> {
    running.delete(this);
    const ends = [];
    for (const processes of [this.webs, this.workers]) {
      ends.push(...(await Promise.allSettled(processes.map((process) => process.stop()))));
    }
    // A Redis that the test brought is the test's to clear away, and may be gone by now.
    if (this.env.REDIS_URL === redisUrl()) await deleteKeys(this.redis, this.prefix);
    this.redis.disconnect();
    const failed = ends.find((end) => end.status === 'rejected');
    if (failed) throw failed.reason;
  }

  async #start(role: Role, processes: ServiceProcess[]): Promise<ServiceProcess> {
    // Nothing of the developer's own settings reaches it.
    const { PATH, TMPDIR, NODE_V8_COVERAGE, SERVICE_TEST_RUN } = process.env;
    const env = { PATH, TMPDIR, NODE_V8_COVERAGE, SERVICE_TEST_RUN, ...this.env };
    const started = await startProcess(role, env, this.#execArgv[role]);
    processes.push(started);
    return started;
  }
}
