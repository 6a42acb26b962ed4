/** Failures of a duty's rounds: each is logged once while it stays the same, and retries are increasingly delayed. */
import type { Logger } from '../log.ts';
import { Composed } from '../model/values/composed.ts';

const FIRST_RETRY_MS = 1_000;
/** Maximum delay for a duty that runs more often. */
const RETRY_MS = 5_000;
/** Maximum delay for a duty that runs less often. */
const LONGEST_RETRY_MS = 300_000;
const DOUBLINGS_MAX = 10;

export class Failures extends Composed<{ duty: string; log: Logger }> {
  /** Keyed by partition. */
  readonly #last = new Map<number, { message: string; count: number }>();

  /** Whether the last round failed in any partition. */
  get any(): boolean {
    return this.#last.size > 0;
  }

  /** @returns milliseconds until the next try */
  failed(partition: number, { message, stack }: Error, everyMs: number): number {
    const last = this.#last.get(partition);
    const count = (last?.count ?? 0) + 1;
    this.#last.set(partition, { message, count });
    const level = last?.message === message ? 'debug' : 'warn';
    this.deps.log[level](
      { duty: this.deps.duty, partition, failures: count, err: message, stack },
      'a duty failed; tried again',
    );
    const longestMs = Math.min(Math.max(everyMs, RETRY_MS), LONGEST_RETRY_MS);
    return Math.min(FIRST_RETRY_MS * 2 ** Math.min(count - 1, DOUBLINGS_MAX), longestMs);
  }

  succeeded(partition: number): void {
    const last = this.#last.get(partition);
    if (!last) return;
    this.#last.delete(partition);
    this.deps.log.info({ duty: this.deps.duty, partition, failures: last.count }, 'a duty works again');
  }

  /** Forgets partitions that others work on now. */
  keep(partitions: readonly number[]): void {
    for (const partition of this.#last.keys()) if (!partitions.includes(partition)) this.#last.delete(partition);
  }
}
