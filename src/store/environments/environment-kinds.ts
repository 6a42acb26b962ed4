/** Of which kind an environment is, for the work: it does not change, so it is asked once and kept for a while. */
import { LRUCache } from 'lru-cache';
import { type EnvironmentKind, PRODUCTION } from '../../model/environment.ts';
import type { Environments } from './environments.ts';

const KEPT = 10_000;
/** One that was deleted may come back as another kind. */
const KEPT_MS = 60_000;

export class EnvironmentKinds {
  readonly #environments: Pick<Environments, 'read'>;
  readonly #known = new LRUCache<string, EnvironmentKind>({ max: KEPT, ttl: KEPT_MS });

  constructor(environments: Pick<Environments, 'read'>) {
    this.#environments = environments;
  }

  /** From memory, if it is there. One that is gone counts as a branch, which may the least. */
  of(env: string): EnvironmentKind | Promise<EnvironmentKind> {
    return env === PRODUCTION ? 'production' : (this.#known.get(env) ?? this.#read(env));
  }

  async #read(env: string): Promise<EnvironmentKind> {
    const kind = (await this.#environments.read(env))?.kind ?? 'branch';
    this.#known.set(env, kind);
    return kind;
  }
}
