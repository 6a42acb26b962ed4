/** Number of calls that all live workers together can have in flight. */
import type { Processes } from '../../store/telemetry/processes.ts';

const READ_EVERY_MS = 5_000;

export class WorkerCapacity {
  readonly #processes: Pick<Processes, 'alive'>;
  #calls: number;
  #readAt = Number.NEGATIVE_INFINITY;

  /** @param calls maximum of one worker according to this process's settings, used until all workers are known */
  constructor(processes: Pick<Processes, 'alive'>, calls: number) {
    this.#processes = processes;
    this.#calls = calls;
  }

  /** The number, at most a few seconds old. */
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
    // Without workers, calls are admitted for the next worker that starts.
    if (calls > 0) this.#calls = calls;
  }
}
