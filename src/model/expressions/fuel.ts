/** Fuel: what judging an expression may cost. It is counted before it is spent, so an evaluation ends by itself, on any event, and at
 *  the same place every time: neither a clock nor another process has to stop it.
 *
 *  A unit is the evaluation of one node. What a node does to data costs more: text, lists and objects are paid for by their size. */

/** Units of a key of an object, which is looked up. */
const UNITS_PER_KEY = 4;
/** Characters that native code compares, copies or searches in the time of one unit. */
const CHARACTERS_PER_UNIT = 8;
/** No text that an expression makes is longer: twice the largest event. */
const MAX_TEXT = 1_048_576;

/** One for all: an error that is made anew for each element of a list would cost more than the element. */
export const EXHAUSTED = new Error('the expression costs more than it may');

/** The same for what else keeps an expression from being evaluated. */
export const NOT_EVALUABLE = new Error('the expression cannot be evaluated');

export class Fuel {
  #left = 0;
  #filled = 0;
  /** How many keys an object has: to count them costs as much as to read them. */
  readonly #keyCounts = new WeakMap<object, number>();

  fill(units: number): void {
    this.#left = units;
    this.#filled = units;
  }

  /** Also when the expression went on after it (`… || true`). */
  get exhausted(): boolean {
    return this.#left < 0;
  }

  get spent(): number {
    return this.#filled - Math.max(0, this.#left);
  }

  spend(units: number): void {
    this.#left -= units;
    // Also when a price is no number.
    if (!(this.#left >= 0)) this.exhaust();
  }

  exhaust(): never {
    this.#left = -Infinity;
    throw EXHAUSTED;
  }

  /** A text of this length is about to be read, or made. */
  spendOnText(characters: number): void {
    if (characters > MAX_TEXT) this.exhaust();
    this.spend(characters / CHARACTERS_PER_UNIT);
  }

  /** Each element of a list, or each key of an object, is about to be looked at. */
  spendOnElements(value: unknown): void {
    if (Array.isArray(value)) this.spend(value.length);
    else if (typeof value === 'object' && value !== null) this.spend(UNITS_PER_KEY * this.#keysOf(value));
  }

  /** A value is about to be read once: the whole of a text, the elements of a list, the keys of an object. */
  spendOnValue(value: unknown): void {
    if (typeof value === 'string' || value instanceof Uint8Array) this.spendOnText(value.length);
    else this.spendOnElements(value);
  }

  /** All of a value is about to be read, however deep it nests.
   *  @returns what that cost */
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
