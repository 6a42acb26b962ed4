/** Periodic work of every worker: reconciles idle runs and schedules, and expires and deletes branch environments. Intervals vary a
 *  little, so that several workers do not run it at the same moment. */
import { setTimeout } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { type BranchLifecycleDeps, deleteEnvironments, expireBranches } from '../jobs/environments/branch-lifecycle.ts';
import { type AdmissionChecksDeps, checkAdmissions } from '../jobs/flow-control/admission-checks.ts';
import { type ReconcileDeps, reconcile } from '../jobs/runs/reconcile.ts';
import { finishEnds, type UnfinishedEndDeps } from '../jobs/runs/unfinished-ends.ts';
import type { Schedules } from '../jobs/timers/schedules.ts';
import type { Logger } from '../log.ts';
import type { Locks } from '../store/redis/locks.ts';
import type { Partitions } from '../store/redis/partitions.ts';
import type { LiveWorkers } from '../store/telemetry/live-workers.ts';
import { assignedPartitions } from './partition-assignment.ts';
import { type PeriodicTask, repeatUntilStopped } from './periodic-task.ts';
import type { Workers } from './workers.ts';

/** At shutdown, a longer round of reconciling is abandoned: any worker may die at any time. */
const LAST_RECONCILE_MS = 1_000;
const FAILURES_MAX = 10_000;

/** The time until workers see that others have come or gone. */
const SHARING_ROUND_MS = 1_000;
const LEAVE_MS = 500;
/** Only a process that dies leaves anything to do. */
const END_ROUND_MS = 5_000;
/** Until a deploy acts on what waits; and while there is more to check. */
const CHECK_ROUND_MS = 1_000;
const CHECK_AGAIN_MS = 50;
const BRANCH_ROUND_MS = 5_000;
/** While an environment is being deleted, which takes two rounds at least. */
const DELETION_ROUND_MS = 1_000;
const SCHEDULE_ROUND_MS = 30_000;
const SCHEDULE_LOCK_MS = 30_000;
/** Checking which branches are used costs a few reads for each. */
const EXPIRY_CHECK_MS = 600_000;

/** Starts with a round at once. One partition that does not answer holds up no other.
 *  @param partitions that this worker works on */
export function startReconciler(deps: ReconcileDeps, partitions: () => readonly number[]): PeriodicTask {
  const { log, reconcileAfterMs } = deps;
  const failures = new LRUCache<string, number>({ max: FAILURES_MAX });
  const { stop, stopped } = repeatUntilStopped(async () => {
    let count = 0;
    await Promise.all(
      partitions().map(async (partition) => {
        try {
          count += await reconcile(partition, deps, Date.now(), failures);
        } catch (error) {
          log.warn({ partition, err: (error as Error).message }, 'runs could not be reconciled');
        }
      }),
    );
    if (count > 0) log.info({ runs: count }, 'reconciled idle runs');
    return reconcileAfterMs;
  });
  return {
    async close() {
      stop();
      await Promise.race([stopped, setTimeout(LAST_RECONCILE_MS, undefined, { ref: false })]);
    },
  };
}

/** Starts with a round at once.
 *  @param partitions that this worker works on */
export function startEndFinisher(deps: UnfinishedEndDeps, partitions: () => readonly number[]): PeriodicTask {
  const { stop, stopped } = repeatUntilStopped(async () => {
    await Promise.all(
      partitions().map((partition) =>
        finishEnds(partition, deps, Date.now()).catch((error: Error) => {
          deps.log.warn({ partition, err: error.message }, 'ends of runs could not be finished');
        }),
      ),
    );
    return END_ROUND_MS;
  });
  return {
    async close() {
      stop();
      await Promise.race([stopped, setTimeout(LAST_RECONCILE_MS, undefined, { ref: false })]);
    },
  };
}

/** @param partitions that this worker works on */
export function startAdmissionChecks(
  deps: AdmissionChecksDeps,
  partitions: () => readonly number[],
  log: Logger,
): PeriodicTask {
  const { stop, stopped } = repeatUntilStopped(async () => {
    const checked = await Promise.all(
      partitions().map((partition) =>
        checkAdmissions(partition, deps).catch((error: Error) => {
          log.warn({ partition, err: error.message }, 'admissions could not be checked');
          return 0;
        }),
      ),
    );
    return checked.some((count) => count > 0) ? CHECK_AGAIN_MS : CHECK_ROUND_MS;
  });
  return {
    async close() {
      stop();
      await Promise.race([stopped, setTimeout(LAST_RECONCILE_MS, undefined, { ref: false })]);
    },
  };
}

/** @param expiryMs undefined: branches do not expire */
export function startBranchMaintenance(deps: BranchLifecycleDeps, expiryMs: number | undefined): PeriodicTask {
  let checkedAt = 0;
  const { stop, stopped } = repeatUntilStopped(async (signal) => {
    let isDeleting = false;
    try {
      const now = Date.now();
      if (expiryMs !== undefined && now - checkedAt >= Math.min(EXPIRY_CHECK_MS, expiryMs)) {
        checkedAt = now;
        await expireBranches(deps, expiryMs, now);
      }
      isDeleting = await deleteEnvironments(deps, signal, Date.now());
    } catch (error) {
      deps.log.warn({ err: (error as Error).message }, 'branch environments could not be maintained');
    }
    return isDeleting ? DELETION_ROUND_MS : BRANCH_ROUND_MS;
  });
  return {
    async close() {
      stop();
      await stopped;
    },
  };
}

/** Shares the partitions with the other workers. A worker that ends leaves its partitions to them before it finishes its jobs.
 *  @param self ID of this process */
export function startPartitionSharing(
  { liveWorkers, partitions, workers }: { liveWorkers: LiveWorkers; partitions: Partitions; workers: Workers },
  self: string,
  log: Logger,
): PeriodicTask {
  const { stop, stopped } = repeatUntilStopped(async () => {
    try {
      const { count } = partitions.layout;
      const workerIds = count === 1 ? [self] : await liveWorkers.renew(self);
      const assigned = assignedPartitions(self, workerIds, count);
      const before = workers.partitions;
      if (assigned.some((n) => !before.includes(n)) || before.some((n) => !assigned.includes(n))) {
        workers.assign(assigned);
        log.info({ partitions: assigned, workers: workerIds.length }, 'partitions assigned');
      }
    } catch (error) {
      log.warn({ err: (error as Error).message }, 'partitions could not be shared anew');
    }
    return SHARING_ROUND_MS;
  });
  return {
    async close() {
      stop();
      await stopped;
      // Shutdown does not depend on Redis.
      const left = partitions.layout.count === 1 ? undefined : liveWorkers.leave(self).catch(() => undefined);
      await Promise.race([left, setTimeout(LEAVE_MS, undefined, { ref: false })]);
    },
  };
}

/** Starts with a round at once: an earlier version may have registered functions without their schedules. One worker at a time. */
export function startScheduleReconciler(schedules: Schedules, locks: Locks, log: Logger): PeriodicTask {
  const { stop, stopped } = repeatUntilStopped(async () => {
    try {
      await locks.withLock('schedules', SCHEDULE_LOCK_MS, async () => {
        const { added, removed } = await schedules.reconcile();
        if (added + removed > 0) log.info({ added, removed }, 'reconciled schedules');
      });
    } catch (error) {
      log.warn({ err: (error as Error).message }, 'schedules could not be reconciled');
    }
    return SCHEDULE_ROUND_MS;
  });
  return {
    async close() {
      stop();
      await Promise.race([stopped, setTimeout(LAST_RECONCILE_MS, undefined, { ref: false })]);
    },
  };
}
