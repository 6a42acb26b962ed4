/** Moves runs that sleep or wait for longer than HOT_HOURS to Postgres. Redis keeps only their alarms and waits. A run returns a few
 *  minutes before it is due (offload-returns.ts), or when something changes it.
 *
 *  Redis decides where a run is, in one script per move. To Postgres: its row is committed first, and the run leaves Redis only if it has
 *  not changed since it was read. Back: the run is stored in the version that its alarm names, and its row is removed a week later
 *  (offload-rows.ts). A process that dies in between leaves a row that nothing reads. */
import type { Archive } from '../../archive/archive.ts';
import type { RunToOffload } from '../../archive/offloaded-run-rows.ts';
import { duty } from '../../duties/duty.ts';
import { isArchiveUnavailable } from '../../errors.ts';
import type { RunReturns } from '../../history/run-returns.ts';
import type { Logger } from '../../log.ts';
import { writeEvent } from '../../model/events/event-encoding.ts';
import type { ActiveRun } from '../../store/runs/active-runs.ts';
import type { SleepingRun } from '../../store/runs/offloaded-run.ts';
import type { Store } from '../../store/store.ts';

/** A run has up to 256 KB, and as much again in events. */
export const RUNS_AT_ONCE = 50;
const PORTIONS_OF_ROUND = 40;
/** A run keeps the texts of its events only up to this; the archive has the others. */
const EVENT_BYTES_MAX = 1_048_576;
const ROUND_MS = 10_000;
const AGAIN_MS = 10;
/** Interval of attempts while Postgres is down. */
export const UNAVAILABLE_RETRY_MS = 2_000;
/** How long before its next reconciliation a run returns; that is a minute or more before its wake-up. */
const LEAD_MS = 300_000;

export interface OffloadingDeps extends Pick<Store, 'offloadedRuns' | 'offloadedRunAlarms' | 'environments'> {
  archive: Pick<Archive, 'offloadedRuns' | 'hotMs'>;
  runReturns: Pick<RunReturns, 'bringBack'>;
  events: Pick<Store['events'], 'envelopes'>;
  reconcileAfterMs: number;
  /** Dev mode: runs that are due by this time return (dev-clock/clock-moves.ts). */
  devClock: { readonly horizonMs: number | undefined; readonly latestHorizonMs: number } | undefined;
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
        // Runs that have returned for a move of the clock stay until it has reached them.
        const nowMs = Math.max(Date.now(), deps.devClock?.latestHorizonMs ?? 0);
        const moved = await offloadRuns(partition, deps, nowMs, offsets, signal);
        if (moved > 0) deps.log.debug({ partition, runs: moved }, 'offloaded runs that sleep');
        return moved > 0 && offsets.has(partition) ? AGAIN_MS : undefined;
      } catch (error) {
        // archive-health.ts reports it.
        if (isArchiveUnavailable(error)) return UNAVAILABLE_RETRY_MS;
        throw error;
      }
    };
  },
});

/** Continues after the last round. Skips runs that cannot be offloaded.
 *  @param offsets number of skipped runs, by partition; absent: the next round begins with the first run
 *  @returns number of runs offloaded
 *  @throws ServiceError archive_unavailable */
export async function offloadRuns(
  partition: number,
  deps: Omit<OffloadingDeps, 'runReturns' | 'devClock'>,
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
    const found = await offloadedRuns.sleeping(partition, untilMs, offset, RUNS_AT_ONCE);
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
    // Rows of runs that stay in Redis would show up in lists.
    await archive.offloadedRuns.remove(
      env,
      ofEnv.filter(({ id }) => stored.has(id) && !removed.has(id)),
    );
  }
  return moved;
}

export function leadOf(hotMs: number): number {
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
