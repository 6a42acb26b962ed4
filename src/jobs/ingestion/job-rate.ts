/** Detects high job rates, at which jobs wait a little for each other, which saves more than it delays. */

/** Below this rate, jobs do not wait. */
const FAST_PER_SECOND = 150;
/** Time over which the rate is measured. */
const WINDOW_MS = 200;
const FAST_COUNT = (FAST_PER_SECOND * WINDOW_MS) / 1_000;

export class JobRate {
  #from = 0;
  #count = 0;
  /** Count of the previous window. */
  #before = 0;

  /** Counts a started job. */
  add(nowMs: number): void {
    this.#roll(nowMs);
    this.#count++;
  }

  isFast(nowMs: number): boolean {
    this.#roll(nowMs);
    return Math.max(this.#before, this.#count) >= FAST_COUNT;
  }

  #roll(nowMs: number): void {
    const elapsedMs = nowMs - this.#from;
    if (elapsedMs < WINDOW_MS) return;
    this.#before = elapsedMs < 2 * WINDOW_MS ? this.#count : 0;
    this.#count = 0;
    this.#from = nowMs;
  }
}
