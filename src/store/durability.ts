/** INGEST_DURABILITY=fsync: an event is acknowledged when it is on Redis's disk.
 *
 *  What keeps that depends on the server (durable-server.ts), which is looked at whenever the connection is made: a failover may have
 *  brought another one. */
import { type Config, ConfigError } from '../config.ts';
import type { Logger } from '../log.ts';
import { DiskBarrier } from './disk-barrier.ts';
import { type DurableServer, durableServer } from './durable-server.ts';
import { keyspace } from './keyspace.ts';
import { connect, type Redis, unavailable } from './redis.ts';

const ASK_AGAIN_MS = 1_000;
/** What an acknowledgement has to wait for when the write is done. @throws ServiceError unavailable */
export type OnDisk = () => Promise<void>;

export class Durability {
  readonly #redis: Redis;
  readonly #barrier: DiskBarrier;
  readonly #log: Logger;
  /** What was found out about the server of this connection; undefined: there is no connection. */
  #server: Promise<DurableServer> | undefined;
  /** Counts connections. */
  #connection = 0;
  #refusedBecause: string | undefined;

  /** @param redis the connection that events are written on */
  constructor(redis: Redis, barrier: DiskBarrier, log: Logger) {
    this.#redis = redis;
    this.#barrier = barrier;
    this.#log = log;
    redis.on('ready', () => this.#findOut());
    redis.on('close', () => {
      this.#connection++;
      this.#server = undefined;
    });
    if (redis.status === 'ready') this.#findOut();
  }

  /** Before events are written.
   *  @throws ServiceError unavailable when nothing could be promised of them */
  async begin(): Promise<OnDisk> {
    const connection = this.#connection;
    if (!this.#server) throw unavailable('Redis is not connected');
    const { runId, asked } = await this.#server.catch((error: unknown) => {
      throw error instanceof ConfigError ? unavailable('Redis is not set to keep what it is given', error) : error;
    });
    return async () => {
      if (asked) await this.#barrier.passed(runId);
      if (this.#connection !== connection)
        throw unavailable('the connection to Redis broke before all was on its disk');
    };
  }

  close(): void {
    this.#barrier.close();
  }

  #findOut(): void {
    const connection = this.#connection;
    const server = durableServer(this.#redis);
    this.#server = server;
    server.then(
      () => this.#tell(undefined),
      (error: Error) => {
        this.#tell(error.message);
        // Until somebody has mended it.
        setTimeout(() => this.#connection === connection && this.#findOut(), ASK_AGAIN_MS).unref();
      },
    );
  }

  #tell(refusal: string | undefined): void {
    if (refusal === this.#refusedBecause) return;
    this.#refusedBecause = refusal;
    if (refusal === undefined) this.#log.info('events are taken in: Redis is set to keep them');
    else this.#log.error({ err: refusal }, 'events are refused');
  }
}

/** undefined: Redis's own word is enough (INGEST_DURABILITY=redis).
 *  @param redis the connection that events are written on
 *  @throws ConfigError when a Redis is there that is not set to keep the promise */
export async function durabilityOf(config: Config, redis: Redis, log: Logger): Promise<Durability | undefined> {
  if (config.ingestDurability === 'redis') return undefined;
  if (redis.status === 'ready') await checkDurability(config, redis);
  const barrier = new DiskBarrier(() => connect(config, 'answer-late', log), keyspace(config.keyPrefix).diskBarrier);
  return new Durability(redis, barrier, log);
}

/** @throws ConfigError when this Redis is not set to keep what INGEST_DURABILITY promises */
export async function checkDurability({ ingestDurability }: Config, redis: Redis): Promise<void> {
  if (ingestDurability === 'redis') return;
  try {
    await durableServer(redis);
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    // It has gone away meanwhile: that is found out anew when it is back.
  }
}
