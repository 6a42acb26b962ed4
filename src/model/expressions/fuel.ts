/** Fuel: the cost budget of an evaluation. Each operation spends its fuel before it runs, so every evaluation ends deterministically, without a
 *  clock or another process.
 *
 *  One unit is the evaluation of one node. Operations on text, lists and objects cost more, by size. */

/** Units per object key. */
const UNITS_PER_KEY = 4;
/** Characters that native code compares, copies or searches in one unit. */
const CHARACTERS_PER_UNIT = 8;
/** Longest text that an expression may create: twice the largest event. */
const MAX_TEXT = 1_048_576;

/** Shared instances: creating an error per list element would cost more than the element. */
export const EXHAUSTED = new Error('the expression exceeds its fuel');

export const NOT_EVALUABLE = new Error('the expression cannot be evaluated');

export class Fuel {
  #left = 0;
  #initial = 0;
  /** Cached key counts: counting keys costs as much as reading them. */
  readonly #keyCounts = new WeakMap<object, number>();

  refill(units: number): void {
    this.#left = units;
    this.#initial = units;
  }

  /** True even if the expression continued after it (`… || true`). */
  get exhausted(): boolean {
    return this.#left < 0;
  }

  get spent(): number {
    return this.#initial - Math.max(0, this.#left);
  }

  spend(units: number): void {
    this.#left -= units;
    // Also true for NaN.
    if (!(this.#left >= 0)) this.exhaust();
  }

  exhaust(): never {
    this.#left = -Infinity;
    throw EXHAUSTED;
  }

  /** Call before reading or creating a text of this length. */
  spendOnText(characters: number): void {
    if (characters > MAX_TEXT) this.exhaust();
    this.spend(characters / CHARACTERS_PER_UNIT);
  }

  /** Call before visiting each element of a list or each key of an object. */
  spendOnElements(value: unknown): void {
    if (Array.isArray(value)) this.spend(value.length);
    else if (typeof value === 'object' && value !== null) this.spend(UNITS_PER_KEY * this.#keysOf(value));
  }

  /** Call before reading a value once: all of a text, the elements of a list, the keys of an object. */
  spendOnValue(value: unknown): void {
    if (typeof value === 'string' || value instanceof Uint8Array) this.spendOnText(value.length);
    else this.spendOnElements(value);
  }

  /** Call before reading all of a value recursively.
   *  @returns the units spent */
  spendOnAll(root: unknown): number {
    const before = this.#left;
    const open = [root];
    while (open.length > 0) {
      const value = open.pop();
      this.spendOnValue(value);
      if (typeof value !== 'object' || value === null || value instanceof Uint8Array) continue;
      for (const inner of Array.isArray(value) ? value : Object.values(value)) open.push(inner);
    }
    return before - this.#left;
  }

  #keysOf(value: object): number {
    const known = this.#keyCounts.get(value);
    if (known !== undefined) return known;
    const count = Object.keys(value).length;
    this.#keyCounts.set(value, count);
    return count;
  }
}
