/** Archives the partitions that this worker works on, while it holds their leases. */
import { setTimeout } from 'node:timers/promises';
import { isUnavailable } from '../archive/database.ts';
import type { ArchiveState } from '../jobs/archive/archive-state.ts';
import type { Archiver } from '../jobs/archive/archiver.ts';
import type { Logger } from '../log.ts';
import type { Locks } from '../store/redis/locks.ts';
import { type PeriodicTask, repeatUntilStopped } from './periodic-task.ts';
import { takeOverOf } from './take-over.ts';

const LEASE_MS = 30_000;
const ROUND_MS = 5_000;
const AGAIN_MS = 10;
/** Until Postgres is asked again. */
const AWAY_MS = 2_000;
const LAST_ROUND_MS = 2_000;
/** Shutdown does not depend on Redis. */
const LAST_REPORT_MS = 500;

export interface ArchivingDeps {
  archiver: Archiver;
  state: ArchiveState;
  locks: Locks;
  log: Logger;
  /** Age at which something is archived. */
  hotMs: number;
  stalledAfterMs: number;
}

/** @param partitions that this worker works on */
export function startArchiving(
  { archiver, state, locks, log, hotMs, stalledAfterMs }: ArchivingDeps,
  partitions: () => readonly number[],
): PeriodicTask {
  // Soon where little time makes something old, as dev mode permits.
  const roundMs = Math.min(ROUND_MS, hotMs / 4);
  // By then the jobs of dead workers are taken over, and have had time to end: what they work on must not be archived.
  const firstAfterMs = Math.min(2 * takeOverOf(stalledAfterMs).longestMs, hotMs);
  let isFirst = true;
  const { stop, stopped } = repeatUntilStopped(async (signal) => {
    if (isFirst) {
      isFirst = false;
      return firstAfterMs;
    }
    const delays = await Promise.all(
      partitions().map(async (partition) => {
        let delayMs = roundMs;
        try {
          await locks.withLock(`archive:${partition}`, LEASE_MS, async () => {
            const { events, runs, more, oldest } = await archiver.round(partition, signal);
            if (events + runs > 0) log.debug({ partition, events, runs }, 'archived');
            state.setOldestUnarchived(partition, oldest);
            if (more) delayMs = AGAIN_MS;
          });
        } catch (error) {
          delayMs = isUnavailable(error) ? AWAY_MS : roundMs;
          state.recordFailure(error as Error);
          await archiver.oldest(partition).then(
            (oldest) => state.setOldestUnarchived(partition, oldest),
            (failed: Error) => log.debug({ partition, err: failed.message }, 'what waits for the archive is unknown'),
          );
        }
        return delayMs;
      }),
    );
    return Math.min(roundMs, ...delays);
  });
  return {
    async close() {
      stop();
      await Promise.race([stopped, setTimeout(LAST_ROUND_MS, undefined, { ref: false })]);
      await Promise.race([state.close(), setTimeout(LAST_REPORT_MS, undefined, { ref: false })]);
    },
  };
}
