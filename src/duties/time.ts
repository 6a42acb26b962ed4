/** What the runner takes from time and chance, so that a test can give it others. */
import { setTimeout } from 'node:timers/promises';

export interface Time {
  /** Milliseconds that only grow. */
  now(): number;
  /** Resolves early when the signal is aborted. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
  /** At least 0, less than 1. */
  random(): number;
}

export const REAL_TIME: Time = {
  now: () => performance.now(),
  sleep: (ms, signal) => setTimeout(ms, undefined, { signal }).catch(() => undefined),
  random: Math.random,
};
