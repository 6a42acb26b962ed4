/** Registered functions, those of every app of an environment together. Which are paused is kept apart: registering does not change it. */
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
    const { functionsVersion, functions, pausedFunctions } = this.#keys;
    const reading = this.#redis.multi().get(functionsVersion(env)).hvals(functions(env)).hgetall(pausedFunctions(env));
    const found = replies<unknown>(await reading.exec()) as [string | null, string[], Record<string, string>];
    const [version, texts, paused] = found;
    return { version: Number(version ?? 0), functions: texts.map((text) => toFunction(text, (id) => paused[id])) };
  }

  async read(env: string, id: string): Promise<AppFunction | undefined> {
    const { functions, pausedFunctions } = this.#keys;
    const reading = this.#redis.multi().hget(functions(env), id).hget(pausedFunctions(env), id);
    const [text, paused] = replies<string | null>(await reading.exec());
    return text ? toFunction(text, () => paused ?? undefined) : undefined;
  }

  /** Makes `functions` the app's only live ones; others it had are archived. Answers whether that changed anything.
   *  @throws ServiceError registration_invalid when another app has a function of the same ID */
  async replace(env: string, app: string, functions: readonly AppFunction[]): Promise<boolean> {
    const registered = await this.#redis.hvals(this.#keys.functions(env));
    const known = new Map(registered.map((text) => toFunction(text)).map((fn) => [fn.id, fn]));
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

  /** From now on no event triggers it. Pausing twice changes nothing. */
  async pause(env: string, id: string, nowMs: number): Promise<void> {
    const writing = this.#redis.multi().hsetnx(this.#keys.pausedFunctions(env), id, nowMs);
    replies(await writing.incr(this.#keys.functionsVersion(env)).exec());
  }

  async resume(env: string, id: string): Promise<void> {
    const writing = this.#redis.multi().hdel(this.#keys.pausedFunctions(env), id);
    replies(await writing.incr(this.#keys.functionsVersion(env)).exec());
  }
}

function toFunction(text: string, pausedAt?: (id: string) => string | undefined): AppFunction {
  const fn = JSON.parse(text) as AppFunction;
  const since = pausedAt?.(fn.id);
  return since === undefined ? fn : { ...fn, pausedAt: Number(since) };
}

function refuseTaken(holder: AppFunction | undefined, app: string): void {
  if (!holder || holder.archived || holder.app === app) return;
  throw new ServiceError('registration_invalid', {
    detail: `the function ID "${holder.id}" belongs to the app "${holder.app}"; rename the function, or one of the apps`,
  });
}
