/** Environments. Production always exists; the API creates others, and apps create branches when they register. */
import { quotaExceeded } from '../../model/apps/quotas.ts';
import { type Environment, PRODUCTION } from '../../model/environment.ts';
import { type CacheInvalidation, ReplicatedCache } from '../redis/caching/cache-invalidation.ts';
import { CoalescedRead } from '../redis/caching/coalesced-read.ts';
import type { Subscriber } from '../redis/connection/pub-sub.ts';
import type { ScriptedRedis } from '../redis/connection/scripts.ts';
import { Repository } from '../redis/repository.ts';

const PRODUCTION_ENVIRONMENT: Environment = { name: PRODUCTION, kind: 'production', createdAt: 0 };

export class Environments extends Repository<ScriptedRedis, { cacheInvalidation: CacheInvalidation }> {
  readonly #cache = new ReplicatedCache(this.deps.cacheInvalidation, () => this.#readAll());
  readonly #coalescedRead = new CoalescedRead(() => this.#cache.refresh());

  follow(subscriber: Subscriber): Promise<void> {
    return this.#cache.follow(subscriber);
  }

  /** Reads memory. */
  find(name: string): Environment | undefined {
    return this.#cache.value.get(name);
  }

  /** Names of the environments with their own keys, other than production; from memory. */
  named(): string[] {
    return [...this.#cache.value.values()].filter(({ kind }) => kind === 'named').map(({ name }) => name);
  }

  /** Looks in memory, then in Redis: another process may have just created the environment. */
  async findOrFetch(name: string): Promise<Environment | undefined> {
    return this.find(name) ?? (await this.#coalescedRead.get()).get(name);
  }

  /** Reads Redis; works without a cache. */
  async read(name: string): Promise<Environment | undefined> {
    const text = await this.redis.hget(this.keys.environments, name);
    if (text !== null) return JSON.parse(text) as Environment;
    return name === PRODUCTION ? PRODUCTION_ENVIRONMENT : undefined;
  }

  /** Production first, then sorted by name. */
  async all(): Promise<Environment[]> {
    const [production, ...others] = (await this.#readAll()).values();
    return [production ?? PRODUCTION_ENVIRONMENT, ...others.sort((a, b) => a.name.localeCompare(b.name))];
  }

  /** Creates an environment; an existing one is unchanged.
   *  @param branchesMax maximum number of branches
   *  @returns whether it was created
   *  @throws ServiceError quota_exceeded */
  async create(environment: Environment, branchesMax: number): Promise<boolean> {
    const { name, kind } = environment;
    if (name === PRODUCTION) return false;
    const bound = kind === 'branch' ? branchesMax : '';
    const made = await this.redis.createEnvironment(this.keys.environments, name, JSON.stringify(environment), bound);
    const [outcome, count = 0] = made as [outcome: number, count?: number];
    if (outcome === -1) {
      const what = `There are ${count} branch environments`;
      throw quotaExceeded('branches', branchesMax, count, what, 'Delete some that are no longer used');
    }
    await this.#cache.changed();
    return outcome === 1;
  }

  /** Changes an environment atomically.
   *  @returns the changed environment; undefined if no environment has the name */
  async change(name: string, change: (environment: Environment) => Environment): Promise<Environment | undefined> {
    // Production is stored with its first change.
    if (name === PRODUCTION)
      await this.redis.hsetnx(this.keys.environments, name, JSON.stringify(PRODUCTION_ENVIRONMENT));
    for (;;) {
      const text = await this.redis.hget(this.keys.environments, name);
      if (text === null) return undefined;
      const changed = change(JSON.parse(text) as Environment);
      if ((await this.redis.replaceField(this.keys.environments, name, text, JSON.stringify(changed))) !== 1) continue;
      await this.#cache.changed();
      return changed;
    }
  }

  async remove(name: string): Promise<void> {
    await this.redis.hdel(this.keys.environments, name);
    await this.#cache.changed();
  }

  async #readAll(): Promise<Map<string, Environment>> {
    const texts = await this.redis.hvals(this.keys.environments);
    const all = [PRODUCTION_ENVIRONMENT, ...texts.map((text) => JSON.parse(text) as Environment)];
    return new Map(all.map((environment) => [environment.name, environment]));
  }
}
