/** Whether Postgres responds to this process. While it does not, everything stays in Redis, until backpressure rejects events. */
import type { Archive } from '../../archive/archive.ts';
import { duty } from '../../duties/duty.ts';
import type { Logger } from '../../log.ts';
import { Composed } from '../../model/values/composed.ts';
import { inTime } from '../../model/values/in-time.ts';
import type { ArchiveStatus } from '../../store/telemetry/archive-status.ts';

/** The pool may have to connect, or all its connections may be busy. */
const PROBE_TIMEOUT_MS = 4_000;
/** Number of failures before Postgres counts as down, because one may be due to a busy machine. */
const FAILURES = 2;
const PROBE_AGAIN_MS = 1_000;
const WARN_EVERY_MS = 60_000;
/** Shipping is late when the oldest due event is this much overdue. */
const BEHIND_MS = 300_000;

export const ARCHIVE_STATES = ['off', 'ok', 'behind', 'unavailable'] as const;

export interface ArchiveHealthState {
  state: (typeof ARCHIVE_STATES)[number];
  /** How long the oldest event that is due for the archive has waited. */
  behindMs: number | undefined;
  /** How long Redis has room at its current rate of growth; undefined if it does not grow or has no limit. */
  roomMs: number | undefined;
  /** Why Postgres is unavailable. */
  reason: string | undefined;
}

export const archiveProbe = duty<{ archiveHealth: ArchiveHealth }>({
  name: 'archive-health',
  about: 'Asks whether Postgres responds',
  scope: 'process',
  everyMs: 5_000,
  isWanted: ({ archiveHealth }) => archiveHealth.hasArchive,
  rounds:
    ({ archiveHealth }) =>
    () =>
      archiveHealth.probe(),
});

export class ArchiveHealth extends Composed<{
  /** undefined without an archive. */
  archive: Pick<Archive, 'database' | 'hotMs'> | undefined;
  archiveStatus: Pick<ArchiveStatus, 'behindMs'>;
  /** Only set in web, which tracks the memory of Redis. */
  roomMs: (() => number | undefined) | undefined;
  log: Logger;
}> {
  #up: boolean | undefined;
  #reason: string | undefined;
  #warnedAt = Number.NEGATIVE_INFINITY;
  /** Number of failures since the last success. */
  #failures = 0;

  get hasArchive(): boolean {
    return this.deps.archive !== undefined;
  }

  /** undefined without an archive, or before the first probe. */
  get up(): boolean | undefined {
    return this.#up;
  }

  async state(nowMs: number): Promise<ArchiveHealthState> {
    const { archive, archiveStatus, roomMs } = this.deps;
    if (!archive) return { state: 'off', behindMs: undefined, roomMs: undefined, reason: undefined };
    const behindMs = await archiveStatus.behindMs(archive.hotMs, nowMs);
    const state = this.#up === false ? 'unavailable' : behindMs > BEHIND_MS ? 'behind' : 'ok';
    return { state, behindMs, roomMs: roomMs?.(), reason: this.#reason };
  }

  /** @returns milliseconds until the next probe; undefined: the usual interval */
  async probe(): Promise<number | undefined> {
    const { archive, log } = this.deps;
    if (!archive) return undefined;
    try {
      await inTime(archive.database.query('SELECT 1'), PROBE_TIMEOUT_MS, noResponse);
      if (this.#up === false) log.info('archive: Postgres responds again');
      this.#up = true;
      this.#failures = 0;
      this.#reason = undefined;
      this.#warnedAt = Number.NEGATIVE_INFINITY;
    } catch (error) {
      if (++this.#failures < FAILURES) return PROBE_AGAIN_MS;
      this.#up = false;
      this.#reason = (error as Error).message;
      this.#warn();
    }
    return undefined;
  }

  /** Logs at most once a minute. */
  #warn(): void {
    const { roomMs, log } = this.deps;
    if (performance.now() - this.#warnedAt < WARN_EVERY_MS) return;
    this.#warnedAt = performance.now();
    const room = roomMs?.();
    const roomSeconds = room === undefined ? undefined : Math.round(room / 1_000);
    const meaning = 'archive: unavailable; Redis keeps everything until it is back';
    log.warn(
      { err: this.#reason, ...(roomSeconds !== undefined && { roomSeconds }) },
      roomSeconds === undefined ? meaning : `${meaning}, and rejects events in ${roomSeconds} s at its present growth`,
    );
  }
}

function noResponse(): Error {
  return new Error(`Postgres did not respond within ${PROBE_TIMEOUT_MS / 1_000} s`);
}
