/** INGEST_DURABILITY=fsync: an event is acknowledged when it is on Redis's disk. With auto, where the server syncs at once anyway; elsewhere
 *  when Redis has it, as with redis.
 *
 *  What keeps that depends on the server (durable-server.ts), which is looked at whenever the connection is made: a failover may have
 *  brought another one. */
import { type Config, ConfigError } from '../../config.ts';
import type { Logger } from '../../log.ts';
import { connect, type Redis, unavailable } from './connection.ts';
import { DiskBarrier } from './disk-barrier.ts';
import { type DurableServer, durableServer } from './durable-server.ts';
import { keyspace } from './keyspace.ts';

const ASK_AGAIN_MS = 1_000;
/** What an acknowledgement has to wait for when the write is done. @throws ServiceError unavailable */
export type OnDisk = () => Promise<void>;
const NOTHING: OnDisk = async () => {};

const ON_DISK = "an event is acknowledged when it is on Redis's disk";
const IN_REDIS =
  'an event is acknowledged when Redis has it: what Redis has not synced to its disk is lost when it is killed';

export class Durability {
  readonly #redis: Redis;
  readonly #barrier: DiskBarrier;
  readonly #log: Logger;
  readonly #demanded: boolean;
  /** Where it is not demanded: whether the server that was looked at last keeps it. */
  #kept = false;
  #told: string | undefined;
  /** What was found out about the server of this connection; undefined: there is no connection. */
  #server: Promise<DurableServer> | undefined;
  /** Counts connections. */
  #connection = 0;
  #refusedBecause: string | undefined;

  /** @param redis the connection that events are written on
   *  @param demanded events are refused where the server cannot keep it; false: they are acknowledged as Redis does */
  constructor(redis: Redis, barrier: DiskBarrier, log: Logger, demanded: boolean) {
    this.#redis = redis;
    this.#barrier = barrier;
    this.#log = log;
    this.#demanded = demanded;
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
    // Once it has been looked at. Without a connection the write itself fails, or waits.
    if (!this.#demanded && !this.#kept && (this.#told !== undefined || !this.#server)) return NOTHING;
    const connection = this.#connection;
    if (!this.#server) throw unavailable('Redis is not connected');
    const server = await this.#server.catch((error: unknown) => {
      if (!(error instanceof ConfigError)) throw error;
      if (this.#demanded) throw unavailable('Redis is not set to keep what it is given', error);
    });
    if (!server || !this.#keeps(server)) return NOTHING;
    const { runId, asked } = server;
    return async () => {
      if (asked) await this.#barrier.wait(runId);
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
      (found) => {
        this.#kept = this.#keeps(found);
        this.#tell(undefined);
        this.#promise();
      },
      (error: Error) => {
        if (!this.#demanded && error instanceof ConfigError) {
          this.#kept = false;
          this.#promise(error.message);
          return;
        }
        if (this.#demanded) this.#tell(error.message);
        // Until somebody has mended it.
        setTimeout(() => this.#connection === connection && this.#findOut(), ASK_AGAIN_MS).unref();
      },
    );
  }

  #keeps({ syncsAtOnce }: DurableServer): boolean {
    return this.#demanded || syncsAtOnce;
  }

  /** Once, and when it becomes another. */
  #promise(why = 'appendfsync is not always, or cannot be read'): void {
    const promise = this.#kept ? ON_DISK : IN_REDIS;
    if (promise === this.#told) return;
    this.#told = promise;
    this.#log.info(this.#kept ? {} : { why }, promise);
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
  if (config.ingestDurability === 'redis') {
    if (!config.dev) log.info(IN_REDIS);
    return undefined;
  }
  if (redis.status === 'ready') await checkDurability(config, redis);
  const barrier = new DiskBarrier(() => connect(config, 'answer-late', log), keyspace(config.keyPrefix).diskBarrier);
  return new Durability(redis, barrier, log, config.ingestDurability === 'fsync');
}

/** @returns what is promised less than could be, in words; undefined: nothing
 *  @throws ConfigError when this Redis is not set to keep what INGEST_DURABILITY promises */
export async function checkDurability({ ingestDurability }: Config, redis: Redis): Promise<string | undefined> {
  if (ingestDurability === 'redis') return undefined;
  try {
    const { syncsAtOnce } = await durableServer(redis);
    return ingestDurability === 'fsync' || syncsAtOnce ? undefined : LESS;
  } catch (error) {
    if (ingestDurability === 'auto') return LESS;
    if (error instanceof ConfigError) throw error;
    // It has gone away meanwhile: that is found out anew when it is back.
    return undefined;
  }
}

const LESS =
  'INGEST_DURABILITY is auto, and this Redis does not sync every write (or does not allow reading its settings): the last seconds of ' +
  'acknowledged events are lost when Redis or its machine fails. Set appendonly yes and appendfsync always, or INGEST_DURABILITY=redis to accept this.';
