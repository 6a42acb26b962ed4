/** Token bucket: allows a number of units per second on average, with bursts of one second's worth. */
export class TokenBucket {
  readonly #perSecond: number;
  #units: number;
  #filledAt: number;

  constructor(perSecond: number, nowMs: number) {
    this.#perSecond = perSecond;
    this.#units = perSecond;
    this.#filledAt = nowMs;
  }

  /** Takes units if any are left. It may take more than are left; later requests then wait longer.
   *  @returns milliseconds until a retry can succeed; 0: taken */
  take(units: number, nowMs: number): number {
    const elapsedMs = Math.max(0, nowMs - this.#filledAt);
    this.#units = Math.min(this.#perSecond, this.#units + (elapsedMs / 1_000) * this.#perSecond);
    this.#filledAt = nowMs;
    if (this.#units <= 0) return Math.ceil((1_000 * (1 - this.#units)) / this.#perSecond);
    this.#units -= units;
    return 0;
  }

  /** Whether the bucket is full, like a new one. */
  isFull(nowMs: number): boolean {
    return this.#units + ((nowMs - this.#filledAt) / 1_000) * this.#perSecond >= this.#perSecond;
  }
}
