/** Word between processes that something they keep in memory has changed. */
import { newId } from '../../model/ids.ts';
import { CoalescedRead } from './coalesced-read.ts';
import type { Redis } from './connection.ts';
import type { Keyspace } from './keyspace.ts';

/** Longer than any announcement is under way. */
const VERSION_KEPT_MS = 3_600_000;

export class CacheInvalidation {
  readonly #redis: Redis;
  readonly #channel: string;
  readonly #versionKey: string;
  readonly #version: CoalescedRead<string | null>;
  /** Of this process. */
  readonly #listeners = new Set<() => Promise<void>>();

  constructor(redis: Redis, keys: Keyspace) {
    this.#redis = redis;
    this.#channel = keys.cacheInvalidation;
    this.#versionKey = keys.cacheVersion;
    this.#version = new CoalescedRead(() => this.versionNow());
  }

  /** Resolves when this process has heard of it, too: whoever made the change finds it made. */
  async announce(): Promise<void> {
    // A Redis that is full takes no version, but lets things be deleted: then the word alone goes round.
    const announcing = this.#redis.pipeline().publish(this.#channel, '');
    const [published] = (await announcing.set(this.#versionKey, newId(), 'PX', VERSION_KEPT_MS).exec()) ?? [];
    if (published?.[0]) throw published[0];
    await Promise.all([...this.#listeners].map((listener) => listener()));
  }

  /** As `version`, asked at once: not for what strangers cause. */
  versionNow(): Promise<string | null> {
    return this.#redis.get(this.#versionKey);
  }

  /** Another one after each change. Strangers may have it asked for. */
  version(): Promise<string | null> {
    return this.#version.get();
  }

  /** Calls `onChange` at every announcement, and whenever announcements may have been missed: at first and after a reconnection.
   *  @param subscriber a connection used for nothing else than listening
   *  @param onChange must not reject */
  subscribe(subscriber: Redis, onChange: () => Promise<void>): void {
    this.#listeners.add(onChange);
    const listen = () => subscriber.subscribe(this.#channel).then(onChange, () => undefined);
    subscriber.on('message', (channel) => {
      if (channel === this.#channel) void onChange();
    });
    subscriber.on('ready', listen);
    if (subscriber.status === 'ready') listen();
  }
}
