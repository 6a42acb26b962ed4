/** Time and randomness of the runner, which tests replace. */
import { setTimeout } from 'node:timers/promises';

export interface Time {
  /** Monotonic milliseconds. */
  now(): number;
  /** Resolves early when the signal is aborted. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
  /** A random number from 0 to below 1. */
  random(): number;
}

export const REAL_TIME: Time = {
  now: () => performance.now(),
  sleep: (ms, signal) => setTimeout(ms, undefined, { signal }).catch(() => undefined),
  random: Math.random,
};
