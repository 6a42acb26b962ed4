/** Registered functions, those of every app of an environment together. */
import { ServiceError } from '../errors.ts';
import type { AppFunction } from '../model/app.ts';
import type { Keyspace } from './keyspace.ts';
import { type Redis, replies } from './redis.ts';

export class Functions {
  readonly #redis: Redis;
  readonly #keys: Keyspace;

  constructor(redis: Redis, keys: Keyspace) {
    this.#redis = redis;
    this.#keys = keys;
  }

  /** Grows with every change: what was read at a version holds as long as the version stands. */
  async version(env: string): Promise<number> {
    return Number((await this.#redis.get(this.#keys.functionsVersion(env))) ?? 0);
  }

  /** The functions and the version they were read at, archived ones included. */
  async all(env: string): Promise<{ version: number; functions: AppFunction[] }> {
    const reading = this.#redis.multi().get(this.#keys.functionsVersion(env)).hvals(this.#keys.functions(env));
    const [version, functions] = replies<unknown>(await reading.exec()) as [string | null, string[]];
    return { version: Number(version ?? 0), functions: functions.map((text) => JSON.parse(text) as AppFunction) };
  }

  /** Makes `functions` the app's only live ones; others it had are archived. Answers whether that changed anything.
   *  @throws ServiceError registration_invalid when another app has a function of the same ID */
  async replace(env: string, app: string, functions: readonly AppFunction[]): Promise<boolean> {
    const known = new Map((await this.all(env)).functions.map((fn) => [fn.id, fn]));
    for (const { id } of functions) refuseTaken(known.get(id), app);
    const kept = new Set(functions.map(({ id }) => id));
    const gone = [...known.values()].filter((fn) => fn.app === app && !fn.archived && !kept.has(fn.id));
    const wanted = [...functions, ...gone.map((fn) => ({ ...fn, archived: true }))];
    const changed = wanted.filter((fn) => JSON.stringify(known.get(fn.id)) !== JSON.stringify(fn));
    if (changed.length === 0) return false;
    const writing = this.#redis.multi();
    writing.hset(this.#keys.functions(env), ...changed.flatMap((fn) => [fn.id, JSON.stringify(fn)]));
    writing.incr(this.#keys.functionsVersion(env));
    replies(await writing.exec());
    return true;
  }
}

function refuseTaken(holder: AppFunction | undefined, app: string): void {
  if (!holder || holder.archived || holder.app === app) return;
  throw new ServiceError('registration_invalid', {
    detail: `the function ID "${holder.id}" belongs to the app "${holder.app}"; rename the function, or one of the apps`,
  });
}
