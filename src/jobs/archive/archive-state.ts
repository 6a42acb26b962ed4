/** State reported by this worker's archiver: counted in metrics, and stored for the web processes. */
import { isArchiveUnavailable } from '../../errors.ts';
import type { Logger } from '../../log.ts';
import type { MetricsRecorder } from '../../metrics/recorder.ts';
import { Composed } from '../../model/values/composed.ts';
import type { ArchiveStatus } from '../../store/telemetry/archive-status.ts';

const REPORT_MS = 1_000;

export class ArchiveState extends Composed<{
  archiveStatus: Pick<ArchiveStatus, 'report'>;
  recorder: Pick<MetricsRecorder, 'archiveShipped' | 'archiveShipmentFailed'>;
  log: Logger;
}> {
  #oldest = new Map<number, number | undefined>();
  #shippedAt: number | undefined;
  #failedAt: number | undefined;
  #timer: NodeJS.Timeout | undefined;

  recordShipped(events: number, runs: number, ms: number): void {
    this.deps.recorder.archiveShipped(events, runs, ms);
    this.#shippedAt = Date.now();
    this.#reportSoon();
  }

  recordFailure(error: Error): void {
    this.deps.recorder.archiveShipmentFailed();
    this.#failedAt = Date.now();
    // While Postgres is down, archive-health.ts logs that once a minute.
    if (!isArchiveUnavailable(error)) this.deps.log.warn({ err: error.message }, 'archive: a shipment failed');
    this.#reportSoon();
  }

  /** @param timeMs receipt of the partition's oldest event that is older than HOT_HOURS and not archived; undefined if there is none */
  setOldestUnarchived(partition: number, timeMs: number | undefined): void {
    this.#oldest.set(partition, timeMs);
    this.#reportSoon();
  }

  /** Sends the last report. */
  async close(): Promise<void> {
    clearTimeout(this.#timer);
    await this.#report();
  }

  /** Combines many calls into one report. */
  #reportSoon(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      void this.#report();
    }, REPORT_MS).unref();
  }

  async #report(): Promise<void> {
    const report = { oldest: this.#oldest, shippedAt: this.#shippedAt, failedAt: this.#failedAt };
    this.#oldest = new Map();
    this.#shippedAt = undefined;
    this.#failedAt = undefined;
    await this.deps.archiveStatus.report(report).catch((error: Error) => {
      this.deps.log.debug({ err: error.message }, 'the state of the archive could not be reported');
    });
  }
}
