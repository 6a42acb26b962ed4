/** A value of the store, cached in memory for hot paths and reloaded at every change (cache-invalidation.ts). */

import { unavailable } from '../connection/connection.ts';
import type { Subscriber } from '../connection/pub-sub.ts';
import type { CacheInvalidation } from './cache-invalidation.ts';

const RETRY_MS = 200;

export class ReplicatedCache<T> {
  readonly #read: () => Promise<T>;
  readonly #cacheInvalidation: CacheInvalidation;
  #cached: { value: T; version: string | null } | undefined;
  #refreshing: Promise<T> | undefined;

  constructor(cacheInvalidation: CacheInvalidation, read: () => Promise<T>) {
    this.#cacheInvalidation = cacheInvalidation;
    this.#read = read;
  }

  /** The value as of the last change that this process received.
   *  @throws ServiceError unavailable until it has been read for the first time */
  get value(): T {
    if (!this.#cached) throw unavailable('the service is starting');
    return this.#cached.value;
  }

  /** Reads the value now. */
  async refresh(): Promise<T> {
    // On one connection, so that the version is not newer than the value.
    const [version, value] = await Promise.all([this.#cacheInvalidation.versionNow(), this.#read()]);
    this.#cached = { value, version };
    return value;
  }

  /** After a change by this process: reads the value, and makes the other processes read it. */
  async changed(): Promise<void> {
    await this.refresh();
    await this.#cacheInvalidation.announce();
  }

  /** The value as of now: reloads it if this process has missed a change. Many concurrent calls cost Redis almost nothing. */
  async current(): Promise<T> {
    const version = await this.#cacheInvalidation.version();
    if (this.#cached?.version !== version) await this.#refreshing;
    if (this.#cached?.version === version) return this.#cached.value;
    this.#refreshing ??= this.refresh().finally(() => {
      this.#refreshing = undefined;
    });
    return this.#refreshing;
  }

  /** Reads the value now and at every change, and retries until a read succeeds. Resolves after the first successful read.
   *  @param subscriber a connection used only for subscriptions */
  follow(subscriber: Subscriber): Promise<void> {
    const firstRead = Promise.withResolvers<void>();
    const read = () =>
      this.refresh().then(
        () => firstRead.resolve(),
        () => void setTimeout(read, RETRY_MS).unref(),
      );
    this.#cacheInvalidation.subscribe(subscriber, read);
    return firstRead.promise;
  }
}
