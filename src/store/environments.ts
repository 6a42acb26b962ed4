/** Environments. Production is always there; others are made through the API, branches also by an app that registers. */
import { type Environment, PRODUCTION } from '../model/environment.ts';
import type { Changes } from './changes.ts';
import type { Keyspace } from './keyspace.ts';
import { Mirror } from './mirror.ts';
import type { Redis } from './redis.ts';

const PRODUCTION_ENVIRONMENT: Environment = { name: PRODUCTION, kind: 'production', createdAt: 0 };

export class Environments {
  readonly #redis: Redis;
  readonly #key: string;
  readonly #changes: Changes;
  readonly #mirror = new Mirror(() => this.#readAll());

  constructor(redis: Redis, keys: Keyspace, changes: Changes) {
    this.#redis = redis;
    this.#key = keys.environments;
    this.#changes = changes;
  }

  follow(subscriber: Redis): Promise<void> {
    return this.#mirror.follow(this.#changes, subscriber);
  }

  /** From memory. */
  find(name: string): Environment | undefined {
    return this.#mirror.value.get(name);
  }

  /** Asks the store for one that is not in memory: another process may have made it a moment ago. */
  async seek(name: string): Promise<Environment | undefined> {
    return this.find(name) ?? (await this.#mirror.refresh()).get(name);
  }

  /** From the store, also in a process that does not follow the changes. */
  async read(name: string): Promise<Environment | undefined> {
    if (name === PRODUCTION) return PRODUCTION_ENVIRONMENT;
    const text = await this.#redis.hget(this.#key, name);
    return text === null ? undefined : (JSON.parse(text) as Environment);
  }

  /** Production first, then by name. */
  async all(): Promise<Environment[]> {
    const others = [...(await this.#readAll()).values()].filter(({ kind }) => kind !== 'production');
    return [PRODUCTION_ENVIRONMENT, ...others.sort((a, b) => a.name.localeCompare(b.name))];
  }

  /** Answers whether it is new; one that is there stays as it is. */
  async create(environment: Environment): Promise<boolean> {
    if (environment.name === PRODUCTION) return false;
    const created = await this.#redis.hsetnx(this.#key, environment.name, JSON.stringify(environment));
    await this.#changed();
    return created === 1;
  }

  /** Changes one that is there. */
  async save(environment: Environment): Promise<void> {
    await this.#redis.hset(this.#key, environment.name, JSON.stringify(environment));
    await this.#changed();
  }

  async #changed(): Promise<void> {
    await this.#mirror.refresh();
    await this.#changes.announce();
  }

  async #readAll(): Promise<Map<string, Environment>> {
    const texts = await this.#redis.hvals(this.#key);
    const all = [PRODUCTION_ENVIRONMENT, ...texts.map((text) => JSON.parse(text) as Environment)];
    return new Map(all.map((environment) => [environment.name, environment]));
  }
}
