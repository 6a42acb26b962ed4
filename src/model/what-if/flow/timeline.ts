/** The timeline of a simulation: runs its moments in order, until none is left or the budget is used up. */
import { Heap } from '../../values/heap.ts';

interface Moment {
  at: number;
  /** Moments with the same time happen in the order in which they were set. */
  order: number;
  happen(): void;
}

export class Timeline {
  #nowMs = Number.NEGATIVE_INFINITY;
  #order = 0;
  #left: number;
  readonly #moments = new Heap<Moment>((a, b) => a.at < b.at || (a.at === b.at && a.order < b.order));

  /** @param budget moments and comparisons */
  constructor(budget: number) {
    this.#left = budget;
  }

  get nowMs(): number {
    return this.#nowMs;
  }

  get isUsedUp(): boolean {
    return this.#left < 0;
  }

  spend(): void {
    this.#left--;
  }

  set(at: number, happen: () => void): void {
    this.#moments.push({ at: Math.max(at, this.#nowMs), order: this.#order++, happen });
  }

  /** Runs the moments that are due at this time or earlier. */
  advanceTo(at: number): void {
    for (let next = this.#moments.least; next && next.at <= at; next = this.#moments.least) {
      this.#left--;
      if (this.isUsedUp) return;
      this.#moments.pop();
      this.#nowMs = next.at;
      next.happen();
    }
    this.#nowMs = Math.max(this.#nowMs, at);
  }
}
