/** Kinds of environments, for the worker. A kind never changes, so it is read once and cached. */
import { LRUCache } from 'lru-cache';
import { type EnvironmentKind, PRODUCTION } from '../../model/environment.ts';
import { atMost } from '../../model/values/cache-size.ts';
import { Composed } from '../../model/values/composed.ts';
import type { Environments } from './environments.ts';

const CACHE_SIZE = 10_000;
/** A deleted environment may be created again as another kind. */
const CACHE_MS = 60_000;

export class EnvironmentKinds extends Composed<{ environments: Pick<Environments, 'read'> }> {
  readonly #known = new LRUCache<string, EnvironmentKind>({ ...atMost(CACHE_SIZE), ttl: CACHE_MS });

  /** Reads memory, otherwise Redis. A deleted environment counts as a branch: branches have the fewest permissions. */
  of(env: string): EnvironmentKind | Promise<EnvironmentKind> {
    return env === PRODUCTION ? 'production' : (this.#known.get(env) ?? this.#read(env));
  }

  async #read(env: string): Promise<EnvironmentKind> {
    const kind = (await this.deps.environments.read(env))?.kind ?? 'branch';
    this.#known.set(env, kind);
    return kind;
  }
}
