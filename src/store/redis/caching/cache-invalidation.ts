/** Notifies processes that data cached in memory has changed. */
import { newId } from '../../../model/ids.ts';
import { HOUR_MS } from '../../../model/values/time.ts';
import { type Redis, unavailable } from '../connection/connection.ts';
import { publishCommand, type Subscriber } from '../connection/pub-sub.ts';
import type { Keyspace } from '../keyspace/keyspace.ts';
import { CoalescedRead } from './coalesced-read.ts';

/** Longer than any message is delayed. */
const VERSION_TTL_MS = HOUR_MS;
/** In a cluster, a node that publishes may not know for a while that it was replaced. */
const CHECK_MS = 2_000;

export class CacheInvalidation {
  readonly #redis: Redis;
  readonly #channel: string;
  readonly #versionKey: string;
  readonly #version: CoalescedRead<string | null>;
  #checking: NodeJS.Timeout | undefined;
  /** Listeners in this process. */
  readonly #listeners = new Set<() => Promise<void>>();

  constructor(redis: Redis, keys: Keyspace) {
    this.#redis = redis;
    this.#channel = keys.cacheInvalidation;
    this.#versionKey = keys.cacheVersion;
    this.#version = new CoalescedRead(() => this.versionNow());
  }

  /** Resolves when the caches of this process are up to date, so that the author of a change reads it. */
  async announce(): Promise<void> {
    // A Redis that is out of memory rejects the version but permits deletions: then only the message is sent.
    const announcing = this.#redis.pipeline([[publishCommand(this.#redis).toLowerCase(), this.#channel, '']]);
    const [published] = (await announcing.set(this.#versionKey, newId(), 'PX', VERSION_TTL_MS).exec()) ?? [];
    if (published?.[0]) throw published[0];
    await Promise.all([...this.#listeners].map((listener) => listener()));
  }

  /** Like `version`, without coalescing: not for reads that unauthenticated requests cause. */
  versionNow(): Promise<string | null> {
    return this.#redis.get(this.#versionKey);
  }

  /** Changes with each change of the data. Safe for reads that unauthenticated requests cause. */
  version(): Promise<string | null> {
    return this.#version.get();
  }

  /** Calls `onChange` for every change, and whenever changes may have been missed: initially, after a reconnection, and in a cluster when
   *  the version has changed.
   *  @param subscriber a connection used only for subscriptions
   *  @param onChange must not reject */
  subscribe(subscriber: Subscriber, onChange: () => Promise<void>): void {
    this.#listeners.add(onChange);
    const listen = () => subscriber.subscribe(this.#channel).then(onChange, () => undefined);
    subscriber.on('message', (channel) => {
      if (channel === this.#channel) void onChange();
    });
    subscriber.on('ready', listen);
    if (subscriber.status === 'ready') listen();
    if (subscriber.isCluster) this.#check(subscriber);
  }

  /** Compares the version every few seconds. */
  #check(subscriber: Subscriber): void {
    if (this.#checking) return;
    let last: string | null | undefined;
    this.#checking = setInterval(async () => {
      if (subscriber.status === 'end') return clearInterval(this.#checking);
      const version = await this.versionNow().catch(() => last);
      const isChanged = last !== undefined && version !== last;
      last = version;
      if (isChanged) for (const onChange of this.#listeners) void onChange();
    }, CHECK_MS).unref();
  }
}

const RETRY_MS = 200;

/** A value of the store, cached in memory for hot paths and reloaded at every change. */
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
