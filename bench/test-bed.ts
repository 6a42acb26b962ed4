/** A test bed: the service in production mode with its own Redis, a minimal function host, and the other processes a row starts.
 *  Each group of rows gets a new one, so that no row sees the data of another. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import type { RedisCluster } from '../scripts/lib/cluster/cluster.ts';
import { BedArchive } from './bed-archive.ts';
import { type BedRedis, openCluster, openServer } from './bed-redis.ts';
import type { BenchmarkRun } from './benchmark-run.ts';
import type { HostCommand, HostReport } from './host.ts';
import { type BenchProcess, start } from './processes.ts';
import type { ProcessKind } from './results.ts';
import type { Progress, SendCommand, Sent } from './sender.ts';
import { SECRETS, Service } from './service.ts';
import { childrenOf } from './usage.ts';
import { type LoadResult, wrk } from './wrk.ts';

export interface TestBedOptions {
  /** Partitions on a Redis Cluster of three primaries; undefined: one Redis with one partition. */
  cluster?: { partitions: number; replicas: number };
  /** INGEST_DURABILITY of the service: `fsync` acknowledges events when they are on disk. */
  durability?: 'redis' | 'fsync';
  /** With a Postgres of its own. */
  archive?: boolean;
}

export class TestBed {
  readonly bench: BenchmarkRun;
  readonly redis: Redis;
  readonly redisUrl: string;
  readonly #archive: BedArchive | undefined;
  readonly #redisServers: BedRedis;
  readonly #dir: string;
  readonly #durability: 'redis' | 'fsync';
  readonly #parts = new Set<BenchProcess>();
  #redisPids: number[] = [];
  #web: BenchProcess | undefined;
  #host: BenchProcess | undefined;
  #worker: BenchProcess | undefined;
  #service: Service | undefined;
  #closing: Promise<void> | undefined;
  #bodies = 0;

  constructor(
    bench: BenchmarkRun,
    redis: BedRedis,
    dir: string,
    durability: 'redis' | 'fsync',
    archive: BedArchive | undefined,
  ) {
    this.bench = bench;
    this.#archive = archive;
    this.redisUrl = redis.url;
    this.#redisServers = redis;
    this.redis = redis.cluster ? (redis.cluster.connect() as unknown as Redis) : new Redis(redis.url);
    this.#dir = dir;
    this.#durability = durability;
  }

  /** undefined: one server. */
  get cluster(): RedisCluster | undefined {
    return this.#redisServers.cluster;
  }

  /** Only in a test bed with a Postgres. */
  get archive(): BedArchive {
    return this.#archive as BedArchive;
  }

  async open(): Promise<void> {
    const server = await this.redis.info('server');
    const nodes = this.cluster?.nodes.map(({ pid = 0 }) => pid);
    this.#redisPids = nodes ?? [Number(/process_id:(\d+)/.exec(server)?.[1])];
    this.bench.redisVersion = /redis_version:(\S+)/.exec(server)?.[1] ?? '';
    if (this.#durability === 'fsync' && !supportsWaitaof(this.bench.redisVersion)) {
      await this.redis.config('SET', 'appendfsync', 'always');
    }
    this.#host = await this.startProcess('bench/host.ts');
    await this.startWeb();
  }

  /** Restarts a running web process: the new one has another port and cold code. */
  async startWeb(): Promise<void> {
    if (this.#web) await this.stopProcess(this.#web);
    this.#web = await this.startProcess('web', this.#env());
    this.#service = new Service(this.#web.url, this.hostUrl, this.redis, this.#redisServers.partitions);
  }

  /** Starts a web process in dev mode beside the other, on the same Redis. @returns where events are sent */
  async startDevWeb(): Promise<string> {
    const { url } = await this.startProcess('web', { ...this.#env(), MODE: 'dev', DISCOVERY: 'false' });
    return new Service(url, this.hostUrl, this.redis).eventUrl;
  }

  get service(): Service {
    return this.#service as Service;
  }

  async startProcess(script: string, env: Record<string, string> = {}, execArgv: string[] = []): Promise<BenchProcess> {
    const part = await start(script, { env, execArgv, onLost: (error) => this.#closing ?? this.bench.abort(error) });
    this.#parts.add(part);
    return part;
  }

  async stopProcess(part: BenchProcess, signal?: NodeJS.Signals): Promise<void> {
    await part.stop(signal);
    this.#parts.delete(part);
  }

  /** Starts the only worker. */
  async startWorker(env: Record<string, string> = {}): Promise<void> {
    this.#worker = await this.startProcess('worker', { ...this.#env(), ...env });
  }

  async stopWorker(): Promise<void> {
    if (this.#worker) await this.stopProcess(this.#worker);
    this.#worker = undefined;
  }

  /** Ingests all queued events and leaves their runs in the queue. */
  async ingestBacklog(): Promise<void> {
    await this.host('hold');
    await this.startWorker({ RUN_CONCURRENCY: '1' });
    await this.service.untilIngested();
    const stopped = this.stopWorker();
    // Answer the worker's one call so that it can stop.
    await this.host('release');
    await stopped;
  }

  /** @returns what the host received since the last report */
  host(order: HostCommand = 'report'): Promise<HostReport> {
    return (this.#host as BenchProcess).ask<HostReport>(order);
  }

  get hostUrl(): string {
    return (this.#host as BenchProcess).url;
  }

  /** The current processes of the service, and Redis. */
  pids(): { kind: ProcessKind; pid: number }[] {
    const web = this.#web?.pid ?? 0;
    return [
      { kind: 'web', pid: web },
      ...childrenOf(web).map((pid) => ({ kind: 'transforms' as const, pid })),
      ...(this.#worker ? [{ kind: 'worker' as const, pid: this.#worker.pid }] : []),
      ...this.#redisPids.map((pid) => ({ kind: 'redis' as const, pid })),
    ];
  }

  /** Writes a JSON body to a file for `loadTest`. */
  bodyFile(content: object): string {
    const file = join(this.#dir, `body-${++this.#bodies}.json`);
    writeFileSync(file, JSON.stringify(content));
    return file;
  }

  /** @param more `signature` of the body, for the header x-signature */
  loadTest(
    url: string,
    body: string,
    connections: number,
    seconds = this.bench.options.seconds,
    more: { signature?: string } = {},
  ): Promise<LoadResult> {
    return wrk({ url, body, connections, ...more }, seconds, this.bench.signal);
  }

  /** Sends requests at a fixed rate from a separate process. @param onProgress called every 100 ms */
  async sendAtRate(order: SendCommand, onProgress: (progress: Progress) => void = () => {}): Promise<Sent> {
    const sender = await this.startProcess('bench/sender.ts');
    const done = new Promise<Sent>((resolve) => {
      sender.child.on('message', (message: Progress | Sent) => (message.done ? resolve(message) : onProgress(message)));
    });
    sender.child.send(order);
    const sent = await done;
    await this.stopProcess(sender);
    return sent;
  }

  /** Idempotent. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    for (const { child } of this.#parts) child.kill('SIGKILL');
    this.redis.disconnect();
    await this.#redisServers.stop();
    await this.#archive?.close();
    rmSync(this.#dir, { recursive: true, force: true });
  }

  #env(): Record<string, string> {
    const durability = this.#durability === 'fsync' ? { INGEST_DURABILITY: 'fsync' } : {};
    const settings = { HOST: '127.0.0.1', PORT: '0', LOG_LEVEL: 'error', MODE: 'production', FUNCTIONS_MAX: '20000' };
    return { ...settings, ...this.#redisServers.env, ...this.#archive?.env, ...SECRETS, ...durability };
  }
}

/** Since 7.2, WAITAOF waits until writes are on disk. Older versions need `appendfsync always`. */
function supportsWaitaof(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major > 7 || (major === 7 && minor >= 2);
}

/** Starts only Redis and Postgres; `open` starts the other processes. */
export async function openTestBed(
  bench: BenchmarkRun,
  { durability = 'redis', cluster, archive = false }: TestBedOptions,
): Promise<TestBed> {
  const dir = mkdtempSync(join(tmpdir(), 'tidegate-bench-'));
  const appendfsync = durability === 'fsync' ? 'always' : 'everysec';
  const redis = await (cluster ? openCluster(bench, cluster, appendfsync) : openServer(bench, dir));
  const postgres = archive ? await BedArchive.open() : undefined;
  return new TestBed(bench, redis, dir, durability, postgres);
}
