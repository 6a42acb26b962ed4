/** Limits a rate: so many units a second on average, and a second's worth at once. */
export class TokenBucket {
  readonly #perSecond: number;
  #units: number;
  #filledAt: number;

  constructor(perSecond: number, nowMs: number) {
    this.#perSecond = perSecond;
    this.#units = perSecond;
    this.#filledAt = nowMs;
  }

  /** Takes units if there are any left; more than are left makes the next ones wait for longer.
   *  @returns after how many milliseconds to try again; 0: taken */
  take(units: number, nowMs: number): number {
    const elapsedMs = Math.max(0, nowMs - this.#filledAt);
    this.#units = Math.min(this.#perSecond, this.#units + (elapsedMs / 1_000) * this.#perSecond);
    this.#filledAt = nowMs;
    if (this.#units <= 0) return Math.ceil((1_000 * (1 - this.#units)) / this.#perSecond);
    this.#units -= units;
    return 0;
  }

  /** Whether it is full, as a new one is. */
  isFull(nowMs: number): boolean {
    return this.#units + ((nowMs - this.#filledAt) / 1_000) * this.#perSecond >= this.#perSecond;
  }
}
