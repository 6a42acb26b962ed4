/** How many calls all live workers can make at the same time. */
import type { Processes } from '../../store/telemetry/processes.ts';

const READ_EVERY_MS = 5_000;

export class WorkerCapacity {
  readonly #processes: Pick<Processes, 'alive'>;
  #calls: number;
  #readAt = Number.NEGATIVE_INFINITY;

  /** @param calls that one worker makes by its settings, until those of all are known */
  constructor(processes: Pick<Processes, 'alive'>, calls: number) {
    this.#processes = processes;
    this.#calls = calls;
  }

  /** As it was a few seconds ago. */
  get calls(): number {
    const nowMs = performance.now();
    if (nowMs - this.#readAt > READ_EVERY_MS) {
      this.#readAt = nowMs;
      this.#read().catch(() => undefined);
    }
    return this.#calls;
  }

  async #read(): Promise<void> {
    const alive = await this.#processes.alive();
    const calls = alive.reduce((sum, { runConcurrency = 0 }) => sum + runConcurrency, 0);
    // Without a worker, calls are admitted for the one that comes.
    if (calls > 0) this.#calls = calls;
  }
}
