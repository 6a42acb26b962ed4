/** Locks for work that one process does at a time. A lock expires when its process dies; work that must never run twice at once needs more. */
import { randomUUID } from 'node:crypto';
import type { Keyspace } from './keyspace.ts';
import type { ScriptedRedis } from './scripts.ts';

export class Locks {
  readonly #redis: ScriptedRedis;
  readonly #keys: Keyspace;

  constructor(redis: ScriptedRedis, keys: Keyspace) {
    this.#redis = redis;
    this.#keys = keys;
  }

  /** Does nothing while another process holds the lock. */
  async withLock(name: string, ttlMs: number, work: () => Promise<void>): Promise<void> {
    const key = this.#keys.lock(name);
    const token = randomUUID();
    if ((await this.#redis.set(key, token, 'PX', ttlMs, 'NX')) !== 'OK') return;
    const renewal = setInterval(() => void this.#redis.renewLock(key, token, ttlMs).catch(() => {}), ttlMs / 3);
    try {
      await work();
    } finally {
      clearInterval(renewal);
      await this.#redis.renewLock(key, token, 0);
    }
  }
}
