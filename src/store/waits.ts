/** Waits for events, by the name of the event. */
import type { Wait } from '../model/wait.ts';
import type { Keyspace } from './keyspace.ts';
import { type Redis, replies } from './redis.ts';

export interface StoredWait {
  key: string;
  wait: Wait;
}

export class Waits {
  readonly #redis: Redis;
  readonly #keys: Keyspace;

  constructor(redis: Redis, keys: Keyspace) {
    this.#redis = redis;
    this.#keys = keys;
  }

  async add(env: string, eventName: string, key: string, wait: Wait): Promise<void> {
    await this.#redis.hset(this.#keys.waits(env, eventName), key, JSON.stringify(wait));
  }

  async remove(env: string, eventName: string, key: string): Promise<void> {
    await this.#redis.hdel(this.#keys.waits(env, eventName), key);
  }

  /** For each name, in order, what waits for it. */
  async of(env: string, eventNames: readonly string[]): Promise<StoredWait[][]> {
    const pipeline = this.#redis.pipeline();
    for (const name of eventNames) pipeline.hgetall(this.#keys.waits(env, name));
    const found = replies<Record<string, string>>(await pipeline.exec());
    return found.map((texts) => Object.entries(texts).map(([key, text]) => ({ key, wait: JSON.parse(text) as Wait })));
  }
}
