/** Pauses between portions of the archiver. Other work comes first: the busier the process is, the longer the pauses, so that other work
 *  keeps about nine tenths of the time that it has without the archiver. A late archiver pauses less, because Redis must not fill up. */
import { performance } from 'node:perf_hooks';
import { setTimeout } from 'node:timers/promises';

const MIN_MS = 2;
const MAX_MS = 5_000;
/** Below this utilization by other work, the process counts as idle. */
const IDLE_UTILIZATION = 0.2;
/** Pause at full utilization, as a multiple of the portion's duration. */
const FACTOR = 8;
const LATE_FACTOR = 2;
/** Weight of earlier measurements, because the last pause may have been too short to measure. */
const REMEMBERED = 0.7;

export class Pauses {
  /** Utilization by other work, from 0 to 1. */
  #utilization = 0;

  /** Whether the process had hardly any other work during the last pause. */
  get isIdle(): boolean {
    return this.#utilization < IDLE_UTILIZATION;
  }

  async after(durationMs: number, isLate: boolean): Promise<void> {
    const start = performance.eventLoopUtilization();
    await setTimeout(MIN_MS);
    const { utilization } = performance.eventLoopUtilization(start);
    const estimate = Math.max(utilization, REMEMBERED * this.#utilization);
    if (estimate >= IDLE_UTILIZATION) {
      await setTimeout(Math.min(MAX_MS, (isLate ? LATE_FACTOR : FACTOR) * estimate * durationMs));
    }
    this.#utilization = performance.eventLoopUtilization(start).utilization;
  }
}
