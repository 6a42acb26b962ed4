/** Limits concurrent work in a process by name: per token, per environment, or in total. */

export interface ConcurrencyLimit {
  /** Object that the limit applies to, such as a token or an environment. */
  name: string;
  max: number;
}

export class ConcurrencyLimits {
  readonly #counts = new Map<string, number>();

  /** Counts against all limits, or against none.
   *  @returns the first limit that is reached; otherwise a function to call once at the end */
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
