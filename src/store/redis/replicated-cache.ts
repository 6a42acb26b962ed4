/** Something of the store's that is held in memory, so that a hot path need not ask for it. It is read anew at every announced change. */
import type { CacheInvalidation } from './cache-invalidation.ts';
import { type Redis, unavailable } from './connection.ts';

const READ_AGAIN_MS = 200;

export class ReplicatedCache<T> {
  readonly #read: () => Promise<T>;
  readonly #cacheInvalidation: CacheInvalidation;
  #held: { value: T; version: string | null } | undefined;
  #refreshing: Promise<T> | undefined;

  constructor(cacheInvalidation: CacheInvalidation, read: () => Promise<T>) {
    this.#cacheInvalidation = cacheInvalidation;
    this.#read = read;
  }

  /** As it stood at the last change that was heard of.
   *  @throws ServiceError unavailable until it has been read for the first time */
  get value(): T {
    if (!this.#held) throw unavailable('the service is starting');
    return this.#held.value;
  }

  /** Reads now, once. */
  async refresh(): Promise<T> {
    // One connection, so the version is no younger than what is read.
    const [version, value] = await Promise.all([this.#cacheInvalidation.versionNow(), this.#read()]);
    this.#held = { value, version };
    return value;
  }

  /** As it stands now: read anew if there was a change that has not been heard of. To ask costs Redis nothing worth counting, however
   *  many do. */
  async current(): Promise<T> {
    const version = await this.#cacheInvalidation.version();
    if (this.#held?.version !== version) await this.#refreshing;
    if (this.#held?.version === version) return this.#held.value;
    this.#refreshing ??= this.refresh().finally(() => {
      this.#refreshing = undefined;
    });
    return this.#refreshing;
  }

  /** Reads now and at every change. Resolves when it has been read for the first time; a reading that fails is repeated until
   *  one succeeds.
   *  @param subscriber a connection used for nothing else than listening to changes */
  follow(subscriber: Redis): Promise<void> {
    const firstRead = Promise.withResolvers<void>();
    const read = () =>
      this.refresh().then(
        () => firstRead.resolve(),
        () => void setTimeout(read, READ_AGAIN_MS).unref(),
      );
    this.#cacheInvalidation.subscribe(subscriber, read);
    return firstRead.promise;
  }
}
