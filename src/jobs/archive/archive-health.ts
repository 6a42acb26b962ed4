/** Whether Postgres responds to this process, and what that means for the installation: everything stays in Redis while it does not, until
 *  backpressure rejects events. */
import { setTimeout as wait } from 'node:timers/promises';
import type { Archive } from '../../archive/archive.ts';
import type { Logger } from '../../log.ts';
import type { ArchiveStatus } from '../../store/telemetry/archive-status.ts';

const PROBE_MS = 5_000;
/** The pool may have to connect, or its connections may all be busy. */
const PROBE_TIMEOUT_MS = 4_000;
/** One failure may be that of a busy machine. */
const FAILURES = 2;
const PROBE_AGAIN_MS = 1_000;
const WARN_EVERY_MS = 60_000;
/** Events are shipped in rounds; this much later is late. */
const BEHIND_MS = 300_000;

export const ARCHIVE_STATES = ['off', 'ok', 'behind', 'unavailable'] as const;

export interface ArchiveHealthState {
  state: (typeof ARCHIVE_STATES)[number];
  /** How long events have waited that are old enough for the archive. */
  behindMs: number | undefined;
  /** How long Redis can go on at its present growth; undefined: it does not grow, or has no limit. */
  roomMs: number | undefined;
  /** Why it is unavailable. */
  reason: string | undefined;
}

export interface ArchiveHealthDeps {
  /** undefined: there is none. */
  archive: Pick<Archive, 'database' | 'hotMs'> | undefined;
  archiveStatus: Pick<ArchiveStatus, 'behindMs'>;
  /** Of web, which knows the memory of Redis. */
  roomMs: (() => number | undefined) | undefined;
  log: Logger;
}

export class ArchiveHealth {
  readonly #deps: ArchiveHealthDeps;
  #up: boolean | undefined;
  #reason: string | undefined;
  #warnedAt = Number.NEGATIVE_INFINITY;
  #probing = false;
  /** Since the last success. */
  #failures = 0;
  #timer: NodeJS.Timeout | undefined;
  #again: NodeJS.Timeout | undefined;

  constructor(deps: ArchiveHealthDeps) {
    this.#deps = deps;
  }

  /** undefined: there is no archive, or nothing is known yet. */
  get up(): boolean | undefined {
    return this.#up;
  }

  start(): void {
    if (!this.#deps.archive) return;
    this.#timer = setInterval(() => void this.probe(), PROBE_MS);
    void this.probe();
  }

  close(): void {
    clearInterval(this.#timer);
    clearTimeout(this.#again);
  }

  async state(nowMs: number): Promise<ArchiveHealthState> {
    const { archive, archiveStatus, roomMs } = this.#deps;
    if (!archive) return { state: 'off', behindMs: undefined, roomMs: undefined, reason: undefined };
    const behindMs = await archiveStatus.behindMs(archive.hotMs, nowMs);
    const state = this.#up === false ? 'unavailable' : behindMs > BEHIND_MS ? 'behind' : 'ok';
    return { state, behindMs, roomMs: roomMs?.(), reason: this.#reason };
  }

  async probe(): Promise<void> {
    const { archive, log } = this.#deps;
    if (!archive || this.#probing) return;
    this.#probing = true;
    try {
      await withTimeout(archive.database.query('SELECT 1'), PROBE_TIMEOUT_MS);
      if (this.#up === false) log.info('archive: Postgres responds again');
      this.#up = true;
      this.#failures = 0;
      this.#reason = undefined;
      this.#warnedAt = Number.NEGATIVE_INFINITY;
    } catch (error) {
      if (++this.#failures < FAILURES) {
        this.#again = setTimeout(() => void this.probe(), PROBE_AGAIN_MS).unref();
        return;
      }
      this.#up = false;
      this.#reason = (error as Error).message;
      this.#warn();
    } finally {
      this.#probing = false;
    }
  }

  /** Once a minute. */
  #warn(): void {
    const { roomMs, log } = this.#deps;
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

async function withTimeout(work: Promise<unknown>, ms: number): Promise<void> {
  const controller = new AbortController();
  const late = wait(ms, undefined, { signal: controller.signal, ref: false }).then(() => {
    throw new Error(`Postgres did not respond within ${ms / 1_000} s`);
  });
  late.catch(() => {});
  try {
    await Promise.race([work, late]);
  } finally {
    controller.abort();
  }
}
