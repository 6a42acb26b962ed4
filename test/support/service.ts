/** The complete service for a test, on the real Redis with its own key prefix: in the process of the tests, or in processes of its own. */
import { createHash } from 'node:crypto';
import { migrate } from '../../src/archive/migrate.ts';
import { SETTINGS } from '../../src/settings/settings.ts';
import { type HttpResponse, type RequestBody, request } from './http.ts';
import { archiveSettings, dropSchema } from './postgres.ts';
import {
  connectRedis,
  deleteKeys,
  freshPrefix,
  type Keyspace,
  keyspaceOf,
  type Redis,
  redisSettings,
} from './redis.ts';
import { startInProcess } from './service-in-process.ts';
import { type Role, type ServiceProcess, startProcess } from './service-process.ts';
import { until } from './until.ts';

export interface ServiceOptions {
  /** Settings of the service (src/config.ts); override the defaults of the tests. */
  env?: Record<string, string>;
  workers?: number;
  webs?: number;
  /** false: production mode with the secrets below. */
  dev?: boolean;
  /** With an archive in the Postgres of the tests. */
  archive?: boolean;
  /** Which are in processes of their own, that tests can kill and signal. Default: none, unless settings need them. */
  processes?: boolean | Role;
  /** Node flags, as in scripts/start. */
  execArgv?: Partial<Record<Role, string[]>>;
}

/** Secrets of production mode; a test can set others through `env`. */
export const SECRETS = {
  EVENT_KEYS: 'test-event-key-0123456789',
  SECRET_KEY: 'test-secret-key-0123456789abcdef-0123456789abcdef',
  API_KEY: 'test-api-key-0123456789',
  SIGNING_KEY: 'signkey-test-0123456789abcdef0123456789abcdef',
} as const;

/** Settings of a process, not of one service in it. */
const OF_PROCESSES = ['WEB_CONCURRENCY', 'WORKER_CONCURRENCY'];

/** Running services, whose output a failed test shows (hooks.ts). */
export const running = new Set<Service>();

export async function startService({
  env = {},
  workers = 1,
  webs = 1,
  dev = true,
  archive = false,
  processes = false,
  execArgv,
}: ServiceOptions = {}): Promise<Service> {
  const service = new Service(dev, env, execArgv !== undefined || needsProcesses(env) || processes, execArgv);
  running.add(service);
  if (archive) await service.addArchive();
  const starts = await Promise.allSettled([
    ...Array.from({ length: webs }, () => service.startWeb()),
    ...Array.from({ length: workers }, () => service.startWorker()),
  ]);
  const failed = starts.find((start) => start.status === 'rejected');
  if (!failed) return service;
  await service.stop().catch(() => {});
  throw failed.reason;
}

/** What Node and libraries read from the environment is the same for a whole process. */
function needsProcesses(env: Record<string, string>): boolean {
  return Object.keys(env).some((name) => !(name in SETTINGS) || OF_PROCESSES.includes(name));
}

export class Service {
  /** Prefix of all its Redis keys. */
  readonly prefix: string = freshPrefix();
  /** For reading its keys. */
  readonly redis: Redis;
  readonly webs: ServiceProcess[] = [];
  /** All workers ever started, including killed ones. */
  readonly workers: ServiceProcess[] = [];
  readonly dev: boolean;
  readonly env: Record<string, string>;

  readonly #processes: boolean | Role;
  readonly #execArgv: Partial<Record<Role, string[]>>;
  readonly #isOnSharedRedis: boolean;
  /** The schema of its archive. */
  #schema: string | undefined;

  constructor(
    dev: boolean,
    env: Record<string, string>,
    processes: boolean | Role,
    execArgv: Partial<Record<Role, string[]>> = {},
  ) {
    this.dev = dev;
    this.#processes = processes;
    this.#execArgv = execArgv;
    this.env = {
      MODE: dev ? 'dev' : 'production',
      HOST: '127.0.0.1',
      PORT: '0',
      // A test may have a Redis of its own.
      ...(env.REDIS_URL ? {} : redisSettings()),
      KEY_PREFIX: this.prefix,
      LOG_LEVEL: 'warn',
      // It would find apps of other tests.
      DISCOVERY: 'false',
      // No load balancer has to notice the shutdown.
      SHUTDOWN_DRAIN_SECONDS: '0',
      ...(dev ? {} : SECRETS),
      // The process for transforms starts with two thirds of the CPU time that it takes with two; test/transforms has more.
      TRANSFORM_THREADS: '1',
      // Tests ask again and again until something is so.
      API_RATE_LIMIT: '1000000',
      ...env,
    };
    this.#isOnSharedRedis = env.REDIS_URL === undefined;
    this.redis = connectRedis(env.REDIS_URL);
  }

  /** Its keys: on a cluster, what belongs to an event or a run is in the partition that the ID names (`keys.of(id)`). */
  get keys(): Keyspace {
    return keyspaceOf(this.prefix, !this.#isOnSharedRedis);
  }

  /** URL of the first web process. */
  get url(): string {
    return this.urls[0] ?? '';
  }

  get urls(): string[] {
    return this.webs.map(({ port }) => `http://127.0.0.1:${port}`);
  }

  /** `authorization` for /v1; empty in dev mode, which has no authentication. */
  get apiHeaders(): Record<string, string> {
    return this.env.API_KEY ? { authorization: `Bearer ${this.env.API_KEY}` } : {};
  }

  /** `authorization` of a registering app: the hashed signing key (docs/protocol.md#authentication-of-apps). */
  get appHeaders(): Record<string, string> {
    const [, prefix, hex = ''] = /^(signkey-\w+-)(.+)$/.exec(this.env.SIGNING_KEY ?? '') ?? [];
    if (!prefix) return {};
    const hashed = createHash('sha256').update(Buffer.from(hex, 'hex')).digest('hex');
    return { authorization: `Bearer ${prefix}${hashed}` };
  }

  /** Gives it an archive, with all tables. */
  async addArchive(): Promise<void> {
    const settings = archiveSettings(this.prefix);
    Object.assign(this.env, { ...settings, ...this.env });
    const { DATABASE_URL: url, DATABASE_SCHEMA: schema } = settings as {
      DATABASE_URL: string;
      DATABASE_SCHEMA: string;
    };
    this.#schema = schema;
    await migrate({ url, tlsVerify: true, schema });
  }

  /** Path for sending events. */
  get eventPath(): string {
    return `/e/${this.env.EVENT_KEYS?.split(',')[0] ?? 'any-key'}`;
  }

  request(method: string, path: string, body?: RequestBody, headers?: Record<string, string>): Promise<HttpResponse> {
    return request(method, this.url + path, { body, headers });
  }

  post(path: string, body?: RequestBody, headers?: Record<string, string>): Promise<HttpResponse> {
    return this.request('POST', path, body, headers);
  }

  get(path: string, headers: Record<string, string> = this.apiHeaders): Promise<HttpResponse> {
    return this.request('GET', path, undefined, headers);
  }

  /** Polls the path until the response meets the condition, and returns it. */
  async waitFor(
    path: string,
    condition: (response: HttpResponse) => boolean,
    timeoutMs?: number,
  ): Promise<HttpResponse> {
    let last: HttpResponse | undefined;
    const check = async () => {
      last = await this.get(path);
      return condition(last) && last;
    };
    const describe = () =>
      `GET ${path} responds as condition; last it was ${last?.status} ${JSON.stringify(last?.body)}`;
    return until(check, { describe, ...(timeoutMs === undefined ? {} : { timeoutMs }) });
  }

  /** Waits until a worker has stored the event: by its ID alone it is found from its acknowledgment on.
   *  @returns the response of GET /v1/events/:id */
  async stored(id: string | undefined, headers?: Record<string, string>): Promise<HttpResponse> {
    const isListed = async () => (await this.get(`/v1/events?id=${id}`, headers)).body.data?.length === 1;
    await until(isListed, { describe: `the event ${id} is stored` });
    return this.get(`/v1/events/${id}`, headers);
  }

  /** Waits until the output of its processes has all the texts: a line of a log may arrive after the response to the request it is about. */
  async logs(...texts: string[]): Promise<void> {
    await until(() => texts.every((text) => this.output().includes(text)), {
      describe: () => `the output has ${texts.join(' and ')}`,
    });
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

  /** Output of all processes, for messages. */
  output(): string {
    return [...this.webs, ...this.workers]
      .map((process) => `${process.role}${process.running() ? '' : ' (ended)'}:\n${process.output()}`)
      .join('\n');
  }

  /** Stops all processes, web first, and deletes all keys.
   *  @throws if a process did not exit cleanly, or had exited before */
  async stop(): Promise<void> {
    running.delete(this);
    const ends = [];
    for (const processes of [this.webs, this.workers]) {
      ends.push(...(await Promise.allSettled(processes.map((process) => process.stop()))));
    }
    // The test cleans up its own Redis, which may be stopped by now.
    if (this.#isOnSharedRedis) await deleteKeys(this.redis, this.prefix);
    this.redis.disconnect();
    if (this.#schema) await dropSchema(this.#schema);
    const failed = ends.find((end) => end.status === 'rejected');
    if (failed) throw failed.reason;
  }

  async #start(role: Role, processes: ServiceProcess[]): Promise<ServiceProcess> {
    const hasProcess = this.#processes === true || this.#processes === role;
    const started = await (hasProcess ? this.#startProcess(role) : startInProcess(role, this.env));
    processes.push(started);
    return started;
  }

  #startProcess(role: Role): Promise<ServiceProcess> {
    // Excludes the developer's own settings.
    const { PATH, TMPDIR, NODE_COMPILE_CACHE, NODE_V8_COVERAGE, SERVICE_TEST_RUN } = process.env;
    const env = { PATH, TMPDIR, NODE_COMPILE_CACHE, NODE_V8_COVERAGE, SERVICE_TEST_RUN, ...this.env };
    return startProcess(role, env, this.#execArgv[role]);
  }
}
