/** Time that passes when a test says so (src/duties/time.ts). */
import { setImmediate } from 'node:timers/promises';
import type { Time } from '../../src/duties/time.ts';

export class FakeTime implements Time {
  #now = 0;
  readonly #sleepers = new Set<{ until: number; wake: () => void }>();

  now(): number {
    return this.#now;
  }

  random(): number {
    return 0.5;
  }

  sleep(ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const sleeper = { until: this.#now + ms, wake: resolve };
      this.#sleepers.add(sleeper);
      signal.addEventListener('abort', () => {
        this.#sleepers.delete(sleeper);
        resolve();
      });
    });
  }

  /** Resolves when what was due meanwhile has happened, in the order of its time. */
  async pass(ms: number): Promise<void> {
    const until = this.#now + ms;
    await settle();
    for (let next = this.#next(until); next; next = this.#next(until)) {
      this.#now = next.until;
      this.#sleepers.delete(next);
      next.wake();
      await settle();
    }
    this.#now = until;
  }

  #next(until: number): { until: number; wake: () => void } | undefined {
    const due = [...this.#sleepers].filter((sleeper) => sleeper.until <= until);
    return due.toSorted((a, b) => a.until - b.until)[0];
  }
}

/** Lets everything go on that waits for no time. */
async function settle(): Promise<void> {
  for (let i = 0; i < 3; i++) await setImmediate();
}
