/** The rows of offloaded runs that have returned to Redis: corrected where Redis has lost the return, and removed later. */
import { duty } from '../../duties/duty.ts';
import { isArchiveUnavailable } from '../../errors.ts';
import { DAY_MS } from '../../model/values/time.ts';
import type { OffloadingDeps } from './offloading.ts';

/** How long a row is kept. Within this time, a failover or a restored backup of Redis may lose the return of its run. */
const KEPT_MS = 7 * DAY_MS;
const ROWS_AT_ONCE = 500;
const ROUND_MS = 600_000;

export const removingRows = duty<OffloadingDeps>({
  name: 'offload-rows',
  about: 'Removes the rows of offloaded runs that have returned',
  scope: 'installation',
  everyMs: ROUND_MS,
  leaseMs: 60_000,
  rounds(deps) {
    // The first round reads all rows, because processes are restarted when a backup of Redis has been restored.
    let sinceMs = 0;
    return async () => {
      const nowMs = Date.now();
      try {
        await keepOffloaded(deps, sinceMs);
        sinceMs = nowMs - ROUND_MS;
        await removeRows(deps, nowMs);
      } catch (error) {
        if (!isArchiveUnavailable(error)) throw error;
      }
    };
  },
});

/** Corrects rows of runs whose return Redis has lost, in a failover or because a backup was restored.
 *  @param sinceMs earliest time of the returns
 *  @throws ServiceError archive_unavailable */
export async function keepOffloaded(
  { archive, offloadedRuns }: Pick<OffloadingDeps, 'archive' | 'offloadedRuns'>,
  sinceMs: number,
): Promise<void> {
  for (let from = sinceMs; ; ) {
    const rows = await archive.offloadedRuns.returnedSince(from, ROWS_AT_ONCE);
    for (const [env, ofEnv] of Map.groupBy(rows, (row) => row.env)) {
      const offloaded = await offloadedRuns.which(
        env,
        ofEnv.map(({ id }) => id),
      );
      await archive.offloadedRuns.markOffloaded(
        env,
        ofEnv.filter(({ id }) => offloaded.has(id)),
      );
    }
    const last = rows.at(-1)?.returnedAt ?? 0;
    if (rows.length < ROWS_AT_ONCE) return;
    from = last > from ? last : from + 1;
  }
}

/** @returns number of removed rows
 *  @throws ServiceError archive_unavailable */
export async function removeRows(
  { archive, offloadedRuns }: Pick<OffloadingDeps, 'archive' | 'offloadedRuns'>,
  nowMs: number,
): Promise<number> {
  let removed = 0;
  for (;;) {
    const old = await archive.offloadedRuns.old(nowMs - KEPT_MS, nowMs - KEPT_MS, ROWS_AT_ONCE);
    let removedNow = 0;
    for (const [env, rows] of Map.groupBy(old, (row) => row.env)) {
      const offloaded = await offloadedRuns.which(
        env,
        rows.map(({ id }) => id),
      );
      const unused = rows.filter(({ id }) => !offloaded.has(id));
      await archive.offloadedRuns.remove(env, unused);
      removedNow += unused.length;
    }
    removed += removedNow;
    if (old.length < ROWS_AT_ONCE || removedNow === 0) return removed;
  }
}
