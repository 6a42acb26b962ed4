/** Runs that sleep or wait for longer than HOT_HOURS move to Postgres whole, and leave their alarm in Redis, and their waits. They return some
 *  minutes before they are due, or when something changes them.
 *
 *  Redis decides where a run is, in one script per move. To Postgres: its row is committed first, and the run leaves Redis only if it has not
 *  changed since it was read. Back: the run is stored in the version that its alarm names, and its row is removed a week later. A process that
 *  dies in between leaves a row that nothing reads. */
import { setTimeout } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { Archive } from '../../archive/archive.ts';
import type { RunToOffload } from '../../archive/offloaded-run-rows.ts';
import { duty } from '../../duties/duty.ts';
import { isArchiveUnavailable } from '../../errors.ts';
import type { RunReturns } from '../../history/run-returns.ts';
import type { Logger } from '../../log.ts';
import { writeEvent } from '../../model/events/event-encoding.ts';
import { chunksOf } from '../../model/values/chunks.ts';
import { DAY_MS } from '../../model/values/time.ts';
import type { ActiveRun } from '../../store/runs/active-runs.ts';
import type { DueRun, OffloadedRuns, SleepingRun } from '../../store/runs/offloaded-runs.ts';
import type { Store } from '../../store/store.ts';

/** A run has up to 256 KB, and as much again in events. */
const RUNS_AT_ONCE = 50;
const PORTIONS_OF_ROUND = 40;
/** A run keeps the texts of its events only up to this; the archive has the others. */
const EVENT_BYTES_MAX = 1_048_576;
const ROUND_MS = 10_000;
/** A scan of a million alarms takes Redis a second and a half. */
const SCAN_EVERY_MS = 120_000;
/** Between two portions of a scan: other commands come first. */
const SCAN_PAUSE_MS = 5;
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
const REMOVAL_ROUND_MS = 600_000;
const UNUSABLE_MAX = 10_000;

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
        if (isArchiveUnavailable(error)) return AWAY_MS;
        throw error;
      }
    };
  },
});

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
    /** By partition. */
    const waiting = new Map<number, readonly DueRun[]>();
    return async ({ partition, signal }) => {
      try {
        // Tells whether Postgres responds, before another scan.
        await bringBack(waiting.get(partition) ?? [], deps, Date.now(), unusable);
        waiting.delete(partition);
        await returnRuns(partition, deps, Date.now(), unusable, signal);
        return undefined;
      } catch (error) {
        if (!(error instanceof StillInPostgres) && !isArchiveUnavailable(error)) throw error;
        if (error instanceof StillInPostgres) waiting.set(partition, error.some);
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
  everyMs: REMOVAL_ROUND_MS,
  leaseMs: 60_000,
  rounds(deps) {
    // All of them at first: processes start again when a backup of Redis has been restored.
    let sinceMs = 0;
    return async () => {
      const nowMs = Date.now();
      try {
        await keepOffloaded(deps, sinceMs);
        sinceMs = nowMs - REMOVAL_ROUND_MS;
        await removeRows(deps, nowMs);
      } catch (error) {
        if (!isArchiveUnavailable(error)) throw error;
      }
    };
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
  const sleeping = await offloadedRuns.read(runs, untilMs, leadOf(archive.hotMs));
  let moved = 0;
  for (const [env, ofEnv] of Map.groupBy(sleeping, (run) => run.env)) {
    const stored = await archive.offloadedRuns.store(env, await withEvents(env, ofEnv, events));
    const removed = await offloadedRuns.remove(ofEnv.filter(({ id }) => stored.has(id)));
    moved += removed.size;
    // Their rows would be in lists.
    await archive.offloadedRuns.remove(
      env,
      ofEnv.filter(({ id }) => stored.has(id) && !removed.has(id)),
    );
  }
  return moved;
}

function leadOf(hotMs: number): number {
  return Math.min(LEAD_MS, hotMs / 4);
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

/** A run whose row could not be used. */
interface Unusable {
  /** Next attempt. */
  againAt: number;
  /** Its row had another version than its alarm: if that stays so, a backup of Redis was restored, and the row is right. */
  isChanged: boolean;
}

/** By run ID. */
interface UnusableRuns {
  get(runId: string): Unusable | undefined;
  set(runId: string, unusable: Unusable): unknown;
}

/** Runs are due, and Postgres is away. */
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
  deps: Pick<OffloadingDeps, 'offloadedRuns' | 'runReturns' | 'environments' | 'log'>,
  nowMs: number,
  unusable: UnusableRuns = new Map(),
  signal?: AbortSignal,
): Promise<void> {
  const { offloadedRuns } = deps;
  let away: StillInPostgres | undefined;
  let count = 0;
  let overdueSince: number | undefined;
  const envs = (await deps.environments.all()).map(({ name }) => name);
  for (const env of await offloadedRuns.environmentsIn(partition, envs)) {
    let cursor = '0';
    do {
      const found = await offloadedRuns.scan(partition, env, cursor, nowMs);
      cursor = found.cursor;
      count += found.count;
      let left: readonly DueRun[] = found.due;
      // While Postgres is away, the scan goes on to tell since when runs are late.
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
  await offloadedRuns.setSeen(partition, { count, overdueSince });
  if (away) throw away;
}

/** Longest due first.
 *  @returns those that could not return
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
