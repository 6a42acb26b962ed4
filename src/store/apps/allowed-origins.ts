/** Origins that people have allowed for each app (origin-patterns.ts). An app may have some before it first registers. */
import { isAllowedOrigin, ORIGINS_MAX } from '../../origin-patterns.ts';
import { changeField } from '../redis/changed-field.ts';
import { replies } from '../redis/connection/connection.ts';
import { Repository } from '../redis/repository.ts';

/** How long a requested registration may take: an app answers sooner or not at all. */
const REQUESTED_MS = 30_000;

export class AllowedOrigins extends Repository {
  /** Patterns by app; apps without patterns are absent. */
  async all(env: string): Promise<Map<string, string[]>> {
    const texts = await this.redis.hgetall(this.keys.allowedOrigins(env));
    return new Map(Object.entries(texts).map(([app, text]) => [app, JSON.parse(text) as string[]]));
  }

  async of(env: string, app: string): Promise<string[]> {
    const text = await this.redis.hget(this.keys.allowedOrigins(env), app);
    return text === null ? [] : (JSON.parse(text) as string[]);
  }

  async set(env: string, app: string, patterns: readonly string[]): Promise<void> {
    const key = this.keys.allowedOrigins(env);
    if (patterns.length === 0) await this.redis.hdel(key, app);
    else await this.redis.hset(key, app, JSON.stringify(patterns));
  }

  /** Beyond the maximum, the oldest patterns are dropped. */
  async add(env: string, app: string, patterns: readonly string[]): Promise<void> {
    await changeField(this.redis, { key: this.keys.allowedOrigins(env), field: app }, (text) => {
      const known = text === undefined ? [] : (JSON.parse(text) as string[]);
      const added = patterns.filter((pattern) => !known.includes(pattern));
      return added.length === 0 ? text : JSON.stringify([...known, ...added].slice(-ORIGINS_MAX));
    });
  }

  /** Allows the origin of a URL that a person entered, unless it is allowed already. */
  async addGiven(env: string, app: string, url: string): Promise<void> {
    const { origin } = new URL(url);
    if (!isAllowedOrigin(origin, await this.of(env, app))) await this.add(env, app, [origin]);
  }

  /** Lets the app register at the origins of these URLs while a registration that a person asked for is in progress.
   *  @param requested `app` undefined: any app, because a URL alone does not identify one
   *  @returns a function that ends the permission */
  async startRequest(
    env: string,
    { urls, app }: { urls: readonly string[]; app?: string | undefined },
    nowMs: number,
  ): Promise<() => Promise<void>> {
    const key = this.keys.requestedOrigins(env);
    const entries = urls.map((url) => requestedEntry(new URL(url).origin, app));
    const writing = this.redis.multi().zremrangebyscore(key, '-inf', nowMs);
    for (const entry of entries) writing.zadd(key, nowMs + REQUESTED_MS, entry);
    replies(await writing.pexpire(key, REQUESTED_MS).exec());
    return async () => void (await this.redis.zrem(key, ...entries));
  }

  /** Origins where the app may register because of requests in progress. */
  async requested(env: string, app: string, nowMs: number): Promise<string[]> {
    const entries = await this.redis.zrangebyscore(this.keys.requestedOrigins(env), nowMs, '+inf');
    return entries.flatMap((entry) => {
      const [origin, only] = JSON.parse(entry) as [string, string?];
      return only === undefined || only === app ? [origin] : [];
    });
  }
}

function requestedEntry(origin: string, app: string | undefined): string {
  return JSON.stringify(app === undefined ? [origin] : [origin, app]);
}
