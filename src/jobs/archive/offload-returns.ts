/** Brings offloaded runs back to Redis before they are due. */
import { setTimeout } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { duty } from '../../duties/duty.ts';
import { isArchiveUnavailable } from '../../errors.ts';
import { chunksOf } from '../../model/values/chunks.ts';
import type { DueRun } from '../../store/runs/offloaded-run-alarms.ts';
import { leadOf, type OffloadingDeps, RUNS_AT_ONCE, UNAVAILABLE_RETRY_MS } from './offloading.ts';

/** A scan of a million alarms takes Redis a second and a half. */
const SCAN_EVERY_MS = 120_000;
/** Between two portions of a scan: other commands come first. */
const SCAN_PAUSE_MS = 5;
/** Next attempt for a run whose row cannot be used. */
const UNUSABLE_MS = 60_000;
const UNUSABLE_MAX = 10_000;
const WARN_EVERY_MS = 60_000;

export const returning = duty<OffloadingDeps & { hotMs: number }>({
  name: 'offload-return',
  about: 'Brings offloaded runs back to Redis minutes before they are due',
  scope: 'partition',
  everyMs: {
    of: ({ hotMs }) => Math.min(SCAN_EVERY_MS, leadOf(hotMs) / 2.5),
    inWords: '2 min, a tenth of `HOT_HOURS` at most',
  },
  rounds(deps) {
    let warnedAt = Number.NEGATIVE_INFINITY;
    const unusable = new LRUCache<string, Unusable>({ max: UNUSABLE_MAX });
    /** Keyed by partition. */
    const waiting = new Map<number, readonly DueRun[]>();
    return async ({ partition, signal }) => {
      try {
        const nowMs = deps.devClock?.horizonMs ?? Date.now();
        // Tells whether Postgres responds, before another scan.
        await bringBack(waiting.get(partition) ?? [], deps, nowMs, unusable);
        waiting.delete(partition);
        await returnRuns(partition, deps, nowMs, unusable, signal);
        return undefined;
      } catch (error) {
        if (!(error instanceof StillInPostgres) && !isArchiveUnavailable(error)) throw error;
        if (error instanceof StillInPostgres) waiting.set(partition, error.some);
        if (performance.now() - warnedAt >= WARN_EVERY_MS) {
          warnedAt = performance.now();
          const err = (error as Error).message;
          deps.log.error({ partition, err }, 'offloaded runs are due, and wait in Postgres until it responds');
        }
        return UNAVAILABLE_RETRY_MS;
      }
    };
  },
});

/** A run whose row could not be used. */
interface Unusable {
  /** Next attempt. */
  againAt: number;
  /** Whether the row had another version than the alarm: if that persists, a backup of Redis was restored, and the row is right. */
  isChanged: boolean;
}

/** Keyed by run ID. */
interface UnusableRuns {
  get(runId: string): Unusable | undefined;
  set(runId: string, unusable: Unusable): unknown;
}

/** Runs are due, and Postgres is down. */
class StillInPostgres extends Error {
  override name = 'StillInPostgres';
  readonly some: readonly DueRun[];

  constructor(message: string, some: readonly DueRun[]) {
    super(message);
    this.some = some;
  }
}

/** Scans all alarms of a partition, brings runs back that are due, and records how many there are, and since when one is overdue.
 *  @throws StillInPostgres */
export async function returnRuns(
  partition: number,
  deps: Pick<OffloadingDeps, 'offloadedRunAlarms' | 'runReturns' | 'environments' | 'log'>,
  nowMs: number,
  unusable: UnusableRuns = new Map(),
  signal?: AbortSignal,
): Promise<void> {
  const { offloadedRunAlarms: alarms } = deps;
  let away: StillInPostgres | undefined;
  let count = 0;
  let overdueSince: number | undefined;
  const envs = (await deps.environments.all()).map(({ name }) => name);
  for (const env of await alarms.environmentsIn(partition, envs)) {
    let cursor = '0';
    do {
      const found = await alarms.scan(partition, env, cursor, nowMs);
      cursor = found.cursor;
      count += found.count;
      let left: readonly DueRun[] = found.due;
      // While Postgres is down, the scan continues, to tell since when runs are late.
      if (!away) {
        try {
          left = await bringBack(found.due, deps, nowMs, unusable);
        } catch (error) {
          if (!isArchiveUnavailable(error)) throw error;
          away = new StillInPostgres((error as Error).message, found.due.slice(0, RUNS_AT_ONCE));
        }
      }
      for (const { at } of left) overdueSince = Math.min(overdueSince ?? at, at);
      if (signal?.aborted) return;
      if (cursor !== '0') await setTimeout(SCAN_PAUSE_MS);
    } while (cursor !== '0');
  }
  await alarms.setSeen(partition, { count, overdueSince });
  if (away) throw away;
}

/** Longest due first.
 *  @returns runs that could not return
 *  @throws ServiceError archive_unavailable */
async function bringBack(
  due: readonly DueRun[],
  { runReturns, log }: Pick<OffloadingDeps, 'runReturns' | 'log'>,
  nowMs: number,
  unusable: UnusableRuns,
): Promise<DueRun[]> {
  const left: DueRun[] = due.filter(({ runId }) => (unusable.get(runId)?.againAt ?? 0) > nowMs);
  const skipped = new Set(left);
  const wanted = due.filter((run) => !skipped.has(run)).sort((a, b) => a.at - b.at);
  for (const some of chunksOf(wanted, RUNS_AT_ONCE)) {
    for (const [env, ofEnv] of Map.groupBy(some, (run) => run.env)) {
      const byId = new Map(ofEnv.map((run) => [run.runId, run]));
      const anyVersion = new Set([...byId.keys()].filter((id) => unusable.get(id)?.isChanged));
      for (const { id, outcome, error } of await runReturns.bringBack(env, [...byId.keys()], nowMs, anyVersion)) {
        if (outcome === 'returned' || outcome === 'deleted') continue;
        unusable.set(id, { againAt: nowMs + UNUSABLE_MS, isChanged: outcome === 'changed' });
        left.push(byId.get(id) as DueRun);
        log.error(
          { run_id: id, env, outcome, ...(error && { err: error.message }) },
          'an offloaded run could not return',
        );
      }
    }
  }
  return left;
}
