/** What the rows are measured on: the service in production mode on a Redis of its own, a bare host of functions, and whatever else
 *  a row begins. Each has its own, so no row is measured on what another has left. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { findRedis } from '../scripts/lib/redis-program.ts';
import { startRedis } from '../scripts/lib/redis-server.ts';
import type { HostOrder, HostReport } from './host.ts';
import { type Part, start } from './processes.ts';
import type { PartKind } from './results.ts';
import type { Running } from './running.ts';
import type { Progress, SendOrder, Sent } from './sender.ts';
import { SECRETS, Service } from './service.ts';
import { childrenOf } from './usage.ts';
import { type Loaded, wrk } from './wrk.ts';

export interface StageOptions {
  /** INGEST_DURABILITY of the service: fsync acknowledges what is on disk. */
  durability?: 'redis' | 'fsync';
}

export class Stage {
  readonly bench: Running;
  readonly redis: Redis;
  readonly redisUrl: string;
  readonly #dir: string;
  readonly #durability: 'redis' | 'fsync';
  readonly #endRedis: () => Promise<void>;
  readonly #parts = new Set<Part>();
  #redisPid = 0;
  #web: Part | undefined;
  #host: Part | undefined;
  #worker: Part | undefined;
  #service: Service | undefined;
  #closing: Promise<void> | undefined;
  #bodies = 0;

  constructor(
    bench: Running,
    redisUrl: string,
    dir: string,
    durability: 'redis' | 'fsync',
    endRedis: () => Promise<void>,
  ) {
    this.bench = bench;
    this.redisUrl = redisUrl;
    this.redis = new Redis(redisUrl);
    this.#dir = dir;
    this.#durability = durability;
    this.#endRedis = endRedis;
  }

  async open(): Promise<void> {
    const server = await this.redis.info('server');
    this.#redisPid = Number(/process_id:(\d+)/.exec(server)?.[1]);
    this.bench.redisVersion = /redis_version:(\S+)/.exec(server)?.[1] ?? '';
    if (this.#durability === 'fsync' && !tellsWhatIsOnDisk(this.bench.redisVersion)) {
      await this.redis.config('SET', 'appendfsync', 'always');
    }
    this.#host = await this.begin('bench/host.ts');
    await this.startWeb();
  }

  /** Anew, if there is one: at another address, and with code that has not run yet. */
  async startWeb(): Promise<void> {
    if (this.#web) await this.end(this.#web);
    this.#web = await this.begin('web', this.#env());
    this.#service = new Service(this.#web.url, this.hostUrl, this.redis);
  }

  get service(): Service {
    return this.#service as Service;
  }

  async begin(script: string, env: Record<string, string> = {}, execArgv: string[] = []): Promise<Part> {
    const part = await start(script, { env, execArgv, onLost: (error) => this.#closing ?? this.bench.abort(error) });
    this.#parts.add(part);
    return part;
  }

  async end(part: Part): Promise<void> {
    await part.stop();
    this.#parts.delete(part);
  }

  /** One at a time. */
  async startWorker(env: Record<string, string> = {}): Promise<void> {
    this.#worker = await this.begin('worker', { ...this.#env(), ...env });
  }

  async stopWorker(): Promise<void> {
    if (this.#worker) await this.end(this.#worker);
    this.#worker = undefined;
  }

  /** Has all that waits to be ingested ingested, and leaves the runs of it waiting. */
  async ingestOnly(): Promise<void> {
    await this.host('hold');
    await this.startWorker({ RUN_CONCURRENCY: '1' });
    await this.service.ingested();
    const stopped = this.stopWorker();
    // The one call that it makes is answered, so that it need not wait for it.
    await this.host('release');
    await stopped;
  }

  /** What the host has seen since the last report. */
  host(order: HostOrder = 'report'): Promise<HostReport> {
    return (this.#host as Part).ask<HostReport>(order);
  }

  get hostUrl(): string {
    return (this.#host as Part).url;
  }

  /** The processes that the service consists of at this moment. */
  pids(): { kind: PartKind; pid: number }[] {
    const web = this.#web?.pid ?? 0;
    return [
      { kind: 'web', pid: web },
      ...childrenOf(web).map((pid) => ({ kind: 'transforms' as const, pid })),
      ...(this.#worker ? [{ kind: 'worker' as const, pid: this.#worker.pid }] : []),
      { kind: 'redis', pid: this.#redisPid },
    ];
  }

  /** Makes a load for `load` of a body that is JSON. */
  body(content: object): string {
    const file = join(this.#dir, `body-${++this.#bodies}.json`);
    writeFileSync(file, JSON.stringify(content));
    return file;
  }

  load(url: string, body: string, connections: number, seconds = this.bench.options.seconds): Promise<Loaded> {
    return wrk({ url, body, connections }, seconds, this.bench.signal);
  }

  /** Sends at a pace, from a process of its own. @param onProgress called every tenth of a second */
  async paced(order: SendOrder, onProgress: (progress: Progress) => void = () => {}): Promise<Sent> {
    const sender = await this.begin('bench/sender.ts');
    const done = new Promise<Sent>((resolve) => {
      sender.child.on('message', (message: Progress | Sent) => (message.done ? resolve(message) : onProgress(message)));
    });
    sender.child.send(order);
    const sent = await done;
    await this.end(sender);
    return sent;
  }

  /** Doing it twice is doing it once. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    for (const { child } of this.#parts) child.kill('SIGKILL');
    this.redis.disconnect();
    await this.#endRedis();
    rmSync(this.#dir, { recursive: true, force: true });
  }

  #env(): Record<string, string> {
    const durability = this.#durability === 'fsync' ? { INGEST_DURABILITY: 'fsync' } : {};
    const settings = { HOST: '127.0.0.1', PORT: '0', REDIS_URL: this.redisUrl, LOG_LEVEL: 'error', MODE: 'production' };
    return { ...settings, ...SECRETS, ...durability };
  }
}

/** An older Redis has to write to its disk before it answers; this one can be asked (WAITAOF). */
function tellsWhatIsOnDisk(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major > 7 || (major === 7 && minor >= 2);
}

/** With its Redis alone; `open` starts the rest. */
export async function openStage(bench: Running, { durability = 'redis' }: StageOptions): Promise<Stage> {
  const dir = mkdtempSync(join(tmpdir(), 'tidegate-bench-'));
  const redis = await startRedis(findRedis(), dir);
  redis.lost.then((words) => bench.abort(new Error(`Redis ended:\n${words}`)));
  return new Stage(bench, redis.url, dir, durability, () => redis.stop());
}
