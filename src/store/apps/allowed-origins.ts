/** Origins that persons have allowed for each app (origin-patterns.ts), also before the app has registered. */
import { ORIGINS_MAX } from '../../origin-patterns.ts';
import type { Redis } from '../redis/connection.ts';
import type { Keyspace } from '../redis/keyspace.ts';

export class AllowedOrigins {
  readonly #redis: Redis;
  readonly #keys: Keyspace;

  constructor(redis: Redis, keys: Keyspace) {
    this.#redis = redis;
    this.#keys = keys;
  }

  /** Patterns by app; apps without any are missing. */
  async all(env: string): Promise<Map<string, string[]>> {
    const texts = await this.#redis.hgetall(this.#keys.allowedOrigins(env));
    return new Map(Object.entries(texts).map(([app, text]) => [app, JSON.parse(text) as string[]]));
  }

  async of(env: string, app: string): Promise<string[]> {
    const text = await this.#redis.hget(this.#keys.allowedOrigins(env), app);
    return text === null ? [] : (JSON.parse(text) as string[]);
  }

  async set(env: string, app: string, patterns: readonly string[]): Promise<void> {
    const key = this.#keys.allowedOrigins(env);
    if (patterns.length === 0) await this.#redis.hdel(key, app);
    else await this.#redis.hset(key, app, JSON.stringify(patterns));
  }

  /** The oldest make room. */
  async add(env: string, app: string, patterns: readonly string[]): Promise<void> {
    const known = await this.of(env, app);
    const added = patterns.filter((pattern) => !known.includes(pattern));
    if (added.length > 0) await this.set(env, app, [...known, ...added].slice(-ORIGINS_MAX));
  }
}
