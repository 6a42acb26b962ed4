/** INGEST_DURABILITY=fsync acknowledges an event when it is on Redis's disk; redis when Redis has it; auto as fsync does where the server syncs
 *  every write, elsewhere as redis does.
 *
 *  Whether a server can do that is checked at every connection (durable-server.ts), since a failover may have brought another server. */
import { type Config, ConfigError } from '../../config.ts';
import type { Logger } from '../../log.ts';
import { connect, type Redis, unavailable } from './connection.ts';
import { DiskBarrier } from './disk-barrier.ts';
import { type DurableServer, durableServer } from './durable-server.ts';
import type { Keyspace } from './keyspace.ts';

const CHECK_AGAIN_MS = 1_000;
/** Resolves when the write is as durable as promised. @throws ServiceError unavailable */
export type OnDisk = () => Promise<void>;
const NOTHING: OnDisk = async () => {};

const ON_DISK = "an event is acknowledged when it is on Redis's disk";
const IN_REDIS =
  'an event is acknowledged when Redis has it: what Redis has not synced to its disk is lost when it is killed';

export class Durability {
  readonly #redis: Redis;
  readonly #barrier: DiskBarrier;
  readonly #log: Logger;
  readonly #required: boolean;
  /** Whether acknowledged events are on the disk, with the server that was checked last. */
  #onDisk = false;
  /** The last promise that was logged. */
  #logged: string | undefined;
  /** Result of the check of this connection's server; undefined: not connected. */
  #server: Promise<DurableServer> | undefined;
  /** Counts connections. */
  #connection = 0;
  #rejectedBecause: string | undefined;

  /** @param redis the connection that events are written on
   *  @param required reject events where the server cannot promise it; false: acknowledge them when Redis has them */
  constructor(redis: Redis, barrier: DiskBarrier, log: Logger, required: boolean) {
    this.#redis = redis;
    this.#barrier = barrier;
    this.#log = log;
    this.#required = required;
    redis.on('ready', () => this.#check());
    redis.on('close', () => {
      this.#connection++;
      this.#server = undefined;
    });
    if (redis.status === 'ready') this.#check();
  }

  /** Called before events are written.
   *  @throws ServiceError unavailable when nothing can be promised */
  async begin(_partition?: number): Promise<OnDisk> {
    // Only after the check. Without a connection the write itself fails or waits.
    if (!this.#required && !this.#onDisk && (this.#logged !== undefined || !this.#server)) return NOTHING;
    const connection = this.#connection;
    if (!this.#server) throw unavailable('Redis is not connected');
    const server = await this.#server.catch((error: unknown) => {
      if (!(error instanceof ConfigError)) throw error;
      if (this.#required) throw unavailable('Redis is not set to keep what it is given', error);
    });
    if (!server || !this.#syncs(server)) return NOTHING;
    const { runId, hasWaitAof } = server;
    return async () => {
      if (hasWaitAof) await this.#barrier.wait(runId);
      if (this.#connection !== connection)
        throw unavailable('the connection to Redis broke before all was on its disk');
    };
  }

  close(): void {
    this.#barrier.close();
  }

  #check(): void {
    const connection = this.#connection;
    const server = durableServer(this.#redis);
    this.#server = server;
    server.then(
      (found) => {
        this.#onDisk = this.#syncs(found);
        this.#logRejection(undefined);
        this.#logPromise();
      },
      (error: Error) => {
        if (!this.#required && error instanceof ConfigError) {
          this.#onDisk = false;
          this.#logPromise(error.message);
          return;
        }
        if (this.#required) this.#logRejection(error.message);
        // Until it is repaired.
        setTimeout(() => this.#connection === connection && this.#check(), CHECK_AGAIN_MS).unref();
      },
    );
  }

  #syncs({ syncsAtOnce }: DurableServer): boolean {
    return this.#required || syncsAtOnce;
  }

  /** Logs the promise when it changes. */
  #logPromise(why = 'appendfsync is not always, or cannot be read'): void {
    const promise = this.#onDisk ? ON_DISK : IN_REDIS;
    if (promise === this.#logged) return;
    this.#logged = promise;
    this.#log.info(this.#onDisk ? {} : { why }, promise);
  }

  #logRejection(refusal: string | undefined): void {
    if (refusal === this.#rejectedBecause) return;
    this.#rejectedBecause = refusal;
    if (refusal === undefined) this.#log.info('events are taken in: Redis is set to keep them');
    else this.#log.error({ err: refusal }, 'events are refused');
  }
}

/** @returns undefined: Redis's reply is enough (INGEST_DURABILITY=redis).
 *  @param redis the connection that events are written on
 *  @throws ConfigError when Redis is connected and not configured for the promise */
export async function durabilityOf(
  config: Config,
  { redis, keys }: { redis: Redis; keys: Keyspace },
  log: Logger,
): Promise<Durability | undefined> {
  if (config.ingestDurability === 'redis') {
    if (!config.dev) log.info(IN_REDIS);
    return undefined;
  }
  if (redis.status === 'ready') await checkDurability(config, redis);
  const barrier = new DiskBarrier(() => connect(config, 'answer-late', log), keys.partition(0).diskBarrier);
  return new Durability(redis, barrier, log, config.ingestDurability === 'fsync');
}

/** @returns a warning when less is promised than could be
 *  @throws ConfigError when this Redis is not configured for what INGEST_DURABILITY promises */
export async function checkDurability({ ingestDurability }: Config, redis: Redis): Promise<string | undefined> {
  if (ingestDurability === 'redis') return undefined;
  try {
    const { syncsAtOnce } = await durableServer(redis);
    return ingestDurability === 'fsync' || syncsAtOnce ? undefined : WARNING;
  } catch (error) {
    if (ingestDurability === 'auto') return WARNING;
    if (error instanceof ConfigError) throw error;
    // The connection broke in the meantime; the server is checked again when it is back.
    return undefined;
  }
}

const WARNING =
  'INGEST_DURABILITY is auto, and this Redis does not sync every write (or does not allow reading its settings): the last seconds of ' +
  'acknowledged events are lost when Redis or its machine fails. Set appendonly yes and appendfsync always, or INGEST_DURABILITY=redis to accept this.';
