/** Bounds what a process does at the same time, by every name that something counts for: a token, an environment, the process. */

export interface ConcurrencyLimit {
  /** Whose or what the limit is. */
  name: string;
  max: number;
}

export class ConcurrencyLimits {
  readonly #counts = new Map<string, number>();

  /** Counts for all limits, or for none.
   *  @returns the first limit that is reached, or what to call, once, at the end */
  begin<Limit extends ConcurrencyLimit>(limits: readonly Limit[]): { reached: Limit } | { end: () => void } {
    const reached = limits.find(({ name, max }) => this.#countOf(name) >= max);
    if (reached) return { reached };
    for (const { name } of limits) this.#counts.set(name, this.#countOf(name) + 1);
    return { end: () => this.#end(limits) };
  }

  #end(limits: readonly ConcurrencyLimit[]): void {
    for (const { name } of limits) {
      const left = this.#countOf(name) - 1;
      if (left > 0) this.#counts.set(name, left);
      else this.#counts.delete(name);
    }
  }

  #countOf(name: string): number {
    return this.#counts.get(name) ?? 0;
  }
}
