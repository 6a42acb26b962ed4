/** Decides whether bulk operations may start runs. They pause before events are rejected, so that new events have
 *  priority. */
import type { Thresholds } from '../../config.ts';
import { exceededThresholds, type Load } from '../../model/capacity/thresholds.ts';
import type { WaitingReason } from '../../model/replays/replay.ts';

/** Share of the thresholds that bulk operations may use. */
const BACKLOG_SHARE = 0.5;
const MEMORY_SHARE = 0.95;
const READ_EVERY_MS = 1_000;

export class BulkLoad {
  readonly #thresholds: Thresholds;
  readonly #read: () => Promise<Load>;
  #last: { at: number; reason: Promise<WaitingReason | undefined> } | undefined;

  constructor(thresholds: Thresholds, read: () => Promise<Load>) {
    const { ingestJobs, runJobs, memoryPercent } = thresholds;
    this.#thresholds = {
      ...thresholds,
      memoryPercent: MEMORY_SHARE * memoryPercent,
      ingestJobs: BACKLOG_SHARE * ingestJobs,
      runJobs: BACKLOG_SHARE * runJobs,
    };
    this.#read = read;
  }

  /** Why no run may start now; undefined: there is room. */
  reasonToWait(nowMs: number): Promise<WaitingReason | undefined> {
    if (!this.#last || nowMs - this.#last.at >= READ_EVERY_MS) this.#last = { at: nowMs, reason: this.#check() };
    return this.#last.reason;
  }

  async #check(): Promise<WaitingReason | undefined> {
    const [exceeded] = exceededThresholds(await this.#read(), this.#thresholds, []);
    return exceeded && (exceeded.resource === 'memory' ? 'memory' : 'backlog');
  }
}
