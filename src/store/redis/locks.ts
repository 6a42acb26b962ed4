/** Work that one process does at a time. The lock runs out with a process that dies; work that must not be done twice at once needs more than this. */
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

  /** Does nothing while another does it. */
  async withLock(name: string, forMs: number, work: () => Promise<void>): Promise<void> {
    const key = this.#keys.lock(name);
    const token = randomUUID();
    if ((await this.#redis.set(key, token, 'PX', forMs, 'NX')) !== 'OK') return;
    const renewal = setInterval(() => void this.#redis.renewLock(key, token, forMs).catch(() => {}), forMs / 3);
    try {
      await work();
    } finally {
      clearInterval(renewal);
      await this.#redis.renewLock(key, token, 0);
    }
  }
}
