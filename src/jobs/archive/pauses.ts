/** Pauses between the portions of the archiver. Other work comes first: the busier the process is with it, the longer they are, so that it keeps about nine
 *  tenths of what it has without the archiver. An archiver that is late pauses less, since Redis must not fill. */
import { performance } from 'node:perf_hooks';
import { setTimeout } from 'node:timers/promises';

const MIN_MS = 2;
const MAX_MS = 5_000;
/** Below this share of other work, the process counts as idle. */
const IDLE_UTILIZATION = 0.2;
/** Multiple of a portion's duration, at full utilization. */
const FACTOR = 8;
const LATE_FACTOR = 2;
/** Weight of what was known before the last pause, which may have been too short to tell. */
const REMEMBERED = 0.7;

export class Pauses {
  /** How busy other work keeps the process, between 0 and 1. */
  #utilization = 0;

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
