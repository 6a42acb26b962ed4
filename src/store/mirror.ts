/** Something of the store's that is held in memory, so that a hot path need not ask for it. It is read anew at every announced change. */
import type { Changes } from './changes.ts';
import { type Redis, unavailable } from './redis.ts';

const READ_AGAIN_MS = 200;

export class Mirror<T> {
  readonly #read: () => Promise<T>;
  #held: { value: T } | undefined;

  constructor(read: () => Promise<T>) {
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
    const value = await this.#read();
    this.#held = { value };
    return value;
  }

  /** Reads now and at every change. Resolves when it has been read for the first time; a reading that fails is repeated until
   *  one succeeds.
   *  @param subscriber a connection used for nothing else than listening to changes */
  follow(changes: Changes, subscriber: Redis): Promise<void> {
    const firstRead = Promise.withResolvers<void>();
    const read = () =>
      this.refresh().then(
        () => firstRead.resolve(),
        () => void setTimeout(read, READ_AGAIN_MS).unref(),
      );
    changes.subscribe(subscriber, read);
    return firstRead.promise;
  }
}
