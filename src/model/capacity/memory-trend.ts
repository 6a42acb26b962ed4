/** Predicts when memory reaches a limit at its current rate of growth. */
import { sum } from '../values/sum.ts';

interface Sample {
  atMs: number;
  bytes: number;
}

const EVERY_MS = 5_000;
/** Five minutes. */
const SAMPLES_MAX = 60;
/** Fewer samples do not show a trend. */
const SAMPLES_MIN = 4;
/** Minimum slope of a line through the samples. A smaller one is noise. */
const BYTES_PER_SECOND_MIN = 1;

export class MemoryTrend {
  readonly #samples: Sample[] = [];
  #now: number | undefined;

  /** @param bytes in use now */
  add(bytes: number, nowMs: number): void {
    this.#now = bytes;
    const last = this.#samples.at(-1);
    if (last && nowMs - last.atMs < EVERY_MS) return;
    this.#samples.push({ atMs: nowMs, bytes });
    if (this.#samples.length > SAMPLES_MAX) this.#samples.shift();
  }

  /** Time until this many bytes are in use; undefined if use does not grow, or with too few samples. */
  msUntil(bytes: number): number | undefined {
    if (this.#now === undefined) return undefined;
    if (this.#now >= bytes) return 0;
    const growth = this.#growth();
    return growth === undefined || growth < BYTES_PER_SECOND_MIN ? undefined : (1_000 * (bytes - this.#now)) / growth;
  }

  /** Bytes per second: the slope of the line through the samples (least squares). */
  #growth(): number | undefined {
    const count = this.#samples.length;
    if (count < SAMPLES_MIN) return undefined;
    const mean = (numbers: number[]) => sum(numbers) / count;
    const time = mean(this.#samples.map(({ atMs }) => atMs));
    const level = mean(this.#samples.map(({ bytes }) => bytes));
    const covariance = mean(this.#samples.map(({ atMs, bytes }) => (atMs - time) * (bytes - level)));
    return (1_000 * covariance) / mean(this.#samples.map(({ atMs }) => (atMs - time) ** 2));
  }
}
