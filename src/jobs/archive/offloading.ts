/** Runs that sleep or wait for longer than HOT_HOURS move to Postgres whole, and leave their alarm in Redis, the entries of lists, and their waits.
 *  They return some minutes before they are due, or when something needs them.
 *
 *  Redis decides where a run is, in one script per move. To Postgres: its row is committed first, and the run leaves Redis only if it has not
 *  changed since it was read. Back: the run is stored in the version that its alarm names, and its row is removed a week later. A process that
 *  dies in between leaves a row that nothing reads. */
import { LRUCache } from 'lru-cache';
import type { Archive } from '../../archive/archive.ts';
import { isUnavailable } from '../../archive/database.ts';
import type { OldRow, RunToOffload } from '../../archive/offloaded-runs.ts';
import { duty } from '../../duties/duty.ts';
import type { RunReturns } from '../../history/offloaded-runs.ts';
import type { Logger } from '../../log.ts';
import { writeEvent } from '../../model/events/event-encoding.ts';
import { DAY_MS } from '../../model/values/time.ts';
import type { ActiveRun } from '../../store/runs/active-runs.ts';
import type { OffloadedRuns, SleepingRun } from '../../store/runs/offloaded-runs.ts';
import type { Store } from '../../store/store.ts';

/** A run has up to 256 KB, and as much again in events. */
const RUNS_AT_ONCE = 50;
const PORTIONS_OF_ROUND = 40;
/** A run keeps the texts of its events only up to this; the archive has the others. */
const EVENT_BYTES_MAX = 1_048_576;
const ROUND_MS = 10_000;
const RETURN_ROUND_MS = 1_000;
const AGAIN_MS = 10;
/** Interval of attempts while Postgres is down. */
const AWAY_MS = 2_000;
/** How long before its next reconciliation a run returns; that is a minute or more before its wake-up. */
const LEAD_MS = 300_000;
/** Next attempt for a run whose row cannot be used. */
const UNUSABLE_MS = 60_000;
const WARN_EVERY_MS = 60_000;
/** A row is kept for as long as a failover, or a backup of Redis that is restored, may lose the return of its run. */
const KEPT_MS = 7 * DAY_MS;
const ROWS_AT_ONCE = 500;
const CHANGED_MAX = 10_000;

export interface OffloadingDeps {
  archive: Pick<Archive, 'offloadedRuns' | 'hotMs'>;
  offloadedRuns: OffloadedRuns;
  runReturns: Pick<RunReturns, 'bringBack'>;
  events: Pick<Store['events'], 'envelopes'>;
  environments: Pick<Store['environments'], 'all'>;
  reconcileAfterMs: number;
  log: Logger;
}

export const offloading = duty<OffloadingDeps & { hotMs: number }>({
  name: 'offload',
  about: 'Moves runs that sleep or wait for longer than `HOT_HOURS` to Postgres',
  scope: 'partition',
  everyMs: { of: ({ hotMs }) => Math.min(ROUND_MS, hotMs / 4), inWords: '10 s, a quarter of `HOT_HOURS` at most' },
  leaseMs: 30_000,
  rounds(deps) {
    const offsets = new Map<number, number>();
    return async ({ partition, signal }) => {
      try {
        const moved = await offloadRuns(partition, deps, Date.now(), offsets, signal);
        if (moved > 0) deps.log.debug({ partition, runs: moved }, 'offloaded runs that sleep');
        return moved > 0 && offsets.has(partition) ? AGAIN_MS : undefined;
      } catch (error) {
        // archive-health.ts reports it.
        if (isUnavailable(error)) return AWAY_MS;
        throw error;
      }
    };
  },
});

export const returning = duty<OffloadingDeps>({
  name: 'offload-return',
  about: 'Brings offloaded runs back to Redis minutes before they are due',
  scope: 'partition',
  everyMs: RETURN_ROUND_MS,
  rounds(deps) {
    let warnedAt = Number.NEGATIVE_INFINITY;
    const changed = new LRUCache<string, true>({ max: CHANGED_MAX });
    return async ({ partition }) => {
      try {
        return (await returnRuns(partition, deps, Date.now(), changed)) ? AGAIN_MS : undefined;
      } catch (error) {
        if (!isUnavailable(error)) throw error;
        if (performance.now() - warnedAt >= WARN_EVERY_MS) {
          warnedAt = performance.now();
          const err = (error as Error).message;
          deps.log.error({ partition, err }, 'offloaded runs are due, and wait in Postgres until it responds');
        }
        return AWAY_MS;
      }
    };
  },
});

export const removingRows = duty<OffloadingDeps>({
  name: 'offload-rows',
  about: 'Removes the rows of offloaded runs that have returned',
  scope: 'installation',
  everyMs: 600_000,
  leaseMs: 60_000,
  rounds: (deps) => async () => {
    try {
      await removeRows(deps, Date.now());
    } catch (error) {
      if (!isUnavailable(error)) throw error;
    }
    return undefined;
  },
});

/** Continues after the last round. Skips runs that cannot be offloaded.
 *  @param offsets number of skipped candidates, by partition; absent: the next round begins with the first candidate
 *  @returns number of runs offloaded
 *  @throws ServiceError archive_unavailable */
export async function offloadRuns(
  partition: number,
  deps: Omit<OffloadingDeps, 'runReturns'>,
  nowMs: number,
  offsets = new Map<number, number>(),
  signal?: AbortSignal,
): Promise<number> {
  const { archive, offloadedRuns, environments, reconcileAfterMs } = deps;
  const lasting = new Set((await environments.all()).flatMap(({ name, deletingAt }) => (deletingAt ? [] : [name])));
  // A run that was brought back for something is reconciled before it leaves again.
  const untilMs = nowMs + Math.max(archive.hotMs, 2 * reconcileAfterMs);
  let moved = 0;
  for (let portion = 0; portion < PORTIONS_OF_ROUND && !signal?.aborted; portion++) {
    const offset = offsets.get(partition) ?? 0;
    const found = await offloadedRuns.candidates(partition, untilMs, offset, RUNS_AT_ONCE);
    const movedNow = await offload(
      found.filter(({ env }) => lasting.has(env)),
      deps,
      untilMs,
    );
    moved += movedNow;
    if (found.length < RUNS_AT_ONCE) {
      offsets.delete(partition);
      break;
    }
    offsets.set(partition, offset + found.length - movedNow);
  }
  return moved;
}

/** @param runs runs of one partition */
async function offload(
  runs: readonly ActiveRun[],
  { archive, offloadedRuns, events }: Pick<OffloadingDeps, 'archive' | 'offloadedRuns' | 'events'>,
  untilMs: number,
): Promise<number> {
  const sleeping = await offloadedRuns.read(runs, untilMs, Math.min(LEAD_MS, archive.hotMs / 4));
  let moved = 0;
  for (const [env, ofEnv] of Map.groupBy(sleeping, (run) => run.env)) {
    const stored = await archive.offloadedRuns.store(env, await withEvents(env, ofEnv, events));
    moved += await offloadedRuns.remove(ofEnv.filter(({ id }) => stored.has(id)));
  }
  return moved;
}

async function withEvents(
  env: string,
  runs: readonly SleepingRun[],
  events: OffloadingDeps['events'],
): Promise<RunToOffload[]> {
  const envelopes = await events.envelopes(env, [...new Set(runs.flatMap(({ eventIds }) => eventIds))]);
  return runs.map((run) => {
    let bytes = 0;
    const texts: Record<string, string> = {};
    for (const id of run.eventIds) {
      const event = envelopes.get(id);
      const text = event && writeEvent(event, event.source);
      bytes += text?.length ?? 0;
      if (text !== undefined && bytes <= EVENT_BYTES_MAX) texts[id] = text;
    }
    return { ...run, events: texts };
  });
}

/** By run ID. */
interface ChangedRuns {
  has(runId: string): boolean;
  set(runId: string, isChanged: true): unknown;
}

/** @param changed runs whose row had another version than their alarm: if that stays so, a backup of Redis was restored, and the row is right
 *  @returns whether more are due
 *  @throws ServiceError archive_unavailable */
export async function returnRuns(
  partition: number,
  { offloadedRuns, runReturns, log }: Pick<OffloadingDeps, 'offloadedRuns' | 'runReturns' | 'log'>,
  nowMs: number,
  changed: ChangedRuns = new Map(),
): Promise<boolean> {
  const due = await offloadedRuns.due(partition, nowMs, RUNS_AT_ONCE);
  for (const [env, ofEnv] of Map.groupBy(due, (run) => run.env)) {
    const ids = ofEnv.map(({ runId }) => runId);
    const anyVersion = new Set(ids.filter((id) => changed.has(id)));
    for (const { id: runId, outcome, error } of await runReturns.bringBack(env, ids, nowMs, anyVersion)) {
      if (outcome === 'returned' || outcome === 'deleted') continue;
      if (outcome === 'changed') changed.set(runId, true);
      log.error(
        { run_id: runId, env, outcome, ...(error && { err: error.message }) },
        'an offloaded run could not return',
      );
      // The other runs come first.
      await offloadedRuns.postpone({ env, runId }, UNUSABLE_MS);
    }
  }
  return due.length === RUNS_AT_ONCE;
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
      const unused = rows.filter(({ id }: OldRow) => !offloaded.has(id));
      await archive.offloadedRuns.remove(env, unused);
      removedNow += unused.length;
    }
    removed += removedNow;
    if (old.length < ROWS_AT_ONCE || removedNow === 0) return removed;
  }
}
