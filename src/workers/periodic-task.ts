/** Work that a process repeats at intervals until it stops. */
import { setTimeout } from 'node:timers/promises';

export interface PeriodicTask {
  close(): Promise<void>;
}

/** @param round must not throw; returns the time until the next round in milliseconds */
export function repeatUntilStopped(round: (signal: AbortSignal) => Promise<number>): {
  stop: () => void;
  stopped: Promise<void>;
} {
  const controller = new AbortController();
  const { signal } = controller;
  const loop = async () => {
    while (!signal.aborted) {
      const delayMs = await round(signal);
      // Rejects when it is stopped early, which is no error.
      await setTimeout(delayMs * (0.75 + Math.random() / 2), undefined, { signal }).catch(() => undefined);
    }
  };
  return { stop: () => controller.abort(), stopped: loop() };
}
