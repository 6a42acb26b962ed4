/** Word between processes that something they keep in memory has changed. */
import type { Keyspace } from './keyspace.ts';
import type { Redis } from './redis.ts';

export class Changes {
  readonly #redis: Redis;
  readonly #channel: string;

  constructor(redis: Redis, keys: Keyspace) {
    this.#redis = redis;
    this.#channel = keys.changes;
  }

  async announce(): Promise<void> {
    await this.#redis.publish(this.#channel, '');
  }

  /** Calls `onChange` at every announcement, and whenever announcements may have been missed: at first and after a reconnection.
   *  @param subscriber a connection used for nothing else than listening */
  subscribe(subscriber: Redis, onChange: () => void): void {
    const listen = () => subscriber.subscribe(this.#channel).then(onChange, () => undefined);
    subscriber.on('message', (channel) => {
      if (channel === this.#channel) onChange();
    });
    subscriber.on('ready', listen);
    if (subscriber.status === 'ready') listen();
  }
}
