/** Delays that differ between the instances of a gateway that has died. */
const FIRST_MS = 500;
const MAX_MS = 30_000;

/** Exponential, with full jitter. */
export function backoffMs(tries: number, random = Math.random): number {
  return random() * Math.min(MAX_MS, FIRST_MS * 2 ** tries);
}

/** Delay before the first try. */
export function jitterMs(random = Math.random): number {
  return random() * FIRST_MS;
}
