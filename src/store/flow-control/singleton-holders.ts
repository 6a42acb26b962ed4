/** The holder of each value of a singleton's key: its active run. The holder may be stored in another partition than its run. */

import { inPipelines } from '../redis/connection/connection.ts';
import { Repository } from '../redis/repository.ts';

export interface SingletonClaim {
  env: string;
  /** Digest of the key's value. */
  digest: string;
  runId: string;
  /** The holder to take over from; undefined: claim only if there is no holder. */
  from?: string | undefined;
}

/** `held`: by this run, now or before; `replaced`: earlier holders that may not be cancelled yet. */
export type SingletonResult = { held: true; replaced: string[] } | { held: false; holder: string; heldForMs: number };

export class SingletonHolders extends Repository {
  /** Claims for the same key are executed one after another, in order. */
  async claim(claims: readonly SingletonClaim[]): Promise<SingletonResult[]> {
    const commands = claims.map(({ env, digest, runId, from }) => {
      return ['claimSingleton', this.#keyOf(env, digest), runId, from ?? ''];
    });
    const results = await inPipelines<[held: number, ...rest: (string | number)[]]>(this.redis, commands);
    return results.map(([held, ...rest]) => {
      if (held === 1) return { held: true, replaced: rest.map(String) };
      return { held: false, holder: String(rest[0]), heldForMs: Number(rest[1]) };
    });
  }

  /** Records that the runs that these claims replaced are cancelled. */
  async forgetReplaced(claims: readonly SingletonClaim[]): Promise<void> {
    await this.#settle(claims, 0);
  }

  /** Frees the singleton of an ended run. Does nothing if another run holds it. */
  async release(claim: SingletonClaim): Promise<void> {
    await this.#settle([claim], 1);
  }

  async #settle(claims: readonly SingletonClaim[], hasEnded: 0 | 1): Promise<void> {
    await inPipelines(
      this.redis,
      claims.map(({ env, digest, runId }) => ['settleSingleton', this.#keyOf(env, digest), runId, hasEnded]),
    );
  }

  #keyOf(env: string, digest: string): string {
    return this.keys.homeOf(digest).singleton(env, digest);
  }
}
