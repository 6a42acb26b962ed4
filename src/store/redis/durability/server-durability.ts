/** Durability guarantee of one server: the only one, the master named by Sentinels, or a primary of a cluster. It is checked after every
 *  connection (durable-server.ts), because a failover may have brought another server, and, if a replica may take over, also after each
 *  failure. */
import { ConfigError } from '../../../config.ts';
import type { Logger } from '../../../log.ts';
import { type Redis, unavailable } from '../connection/connection.ts';
import type { DiskBarrier } from './disk-barrier.ts';
import type { DurableServer } from './durable-server.ts';
import { NOTHING, type OnDisk } from './durable-write.ts';

const CHECK_AGAIN_MS = 1_000;
/** How long to wait for a new connection. */
const FIRST_CHECK_MS = 1_500;

export interface ServerDurabilityOptions {
  /** The connection that writes events; for a cluster node, a separate one. */
  redis: Redis;
  barrier: DiskBarrier;
  check: (redis: Redis) => Promise<DurableServer>;
  /** If a replica may take over, the barrier verifies that the server is still the same. */
  isReplicated: boolean;
  log: Logger;
  /** True: reject events if the server cannot guarantee durability; false: acknowledge them once Redis has them. */
  required: boolean;
}

const ON_DISK = "an event is acknowledged when it is on Redis's disk";
export const IN_REDIS =
  'an event is acknowledged when Redis has it: what Redis has not synced to its disk is lost when it is killed';

export class ServerDurability {
  readonly #options: ServerDurabilityOptions;
  readonly #log: Logger;
  readonly #required: boolean;
  /** Resolves when the first connection attempt has finished. */
  readonly #attempted: Promise<void>;
  /** Whether acknowledged events are on disk, according to the last check. */
  #onDisk = false;
  /** The guarantee that was last logged. */
  #logged: string | undefined;
  /** Result of the check of the connected server; undefined while disconnected. */
  #server: Promise<DurableServer> | undefined;
  /** Number of connections so far. */
  #connection = 0;
  #rejectedBecause: string | undefined;

  constructor(options: ServerDurabilityOptions) {
    const { redis, log, required } = options;
    this.#options = options;
    this.#log = log;
    this.#required = required;
    const attempted = Promise.withResolvers<void>();
    this.#attempted = attempted.promise;
    redis.on('ready', () => {
      this.#check();
      attempted.resolve();
    });
    redis.on('close', () => {
      this.#connection++;
      this.#server = undefined;
      attempted.resolve();
    });
    if (redis.status === 'ready') this.#check();
    setTimeout(attempted.resolve, FIRST_CHECK_MS).unref();
  }

  /** Resolves when the first check has begun or was impossible. */
  attempted(): Promise<void> {
    return this.#attempted;
  }

  /** Call before writing events.
   *  @param markers one key in each hash slot that is written to
   *  @throws ServiceError unavailable if durability cannot be guaranteed */
  async begin(markers: readonly string[]): Promise<OnDisk> {
    const promise = this.now();
    if (!promise) throw unavailable('Redis is not connected');
    return promise(markers);
  }

  /** @returns a function that begins with the connected server; undefined while disconnected */
  now(): ((markers: readonly string[]) => Promise<OnDisk>) | undefined {
    // Only after the check. Without a connection the write itself fails or waits.
    if (!this.#required && !this.#onDisk && (this.#logged !== undefined || !this.#server)) return async () => NOTHING;
    const connection = this.#connection;
    const checked = this.#server;
    return checked && ((markers) => this.#begin(checked, connection, markers));
  }

  async #begin(checked: Promise<DurableServer>, connection: number, markers: readonly string[]): Promise<OnDisk> {
    const server = await checked.catch((error: unknown) => {
      if (!(error instanceof ConfigError)) throw error;
      if (this.#required) throw unavailable('Redis is not set to keep what it is given', error);
    });
    if (!server || !this.#syncs(server)) return NOTHING;
    const { barrier, isReplicated } = this.#options;
    return async () => {
      if (server.hasWaitAof || isReplicated) {
        await barrier.wait(server, markers).catch((error: unknown) => {
          if (isReplicated && this.#server === checked) this.#check();
          throw error;
        });
      }
      if (this.#connection !== connection)
        throw unavailable('the connection to Redis broke before all was on its disk');
    };
  }

  close(): void {
    this.#connection++;
    this.#options.barrier.close();
  }

  #check(): void {
    const { redis, check } = this.#options;
    const connection = this.#connection;
    const server = check(redis);
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
        // Checks again until the server is fixed.
        setTimeout(() => {
          if (this.#connection === connection && this.#server === server) this.#check();
        }, CHECK_AGAIN_MS).unref();
      },
    );
  }

  #syncs({ syncsAtOnce }: DurableServer): boolean {
    return this.#required || syncsAtOnce;
  }

  /** Logs the guarantee when it changes. */
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
