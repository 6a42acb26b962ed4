/** The last tick of each schedule of a function, with its run. */

import { ServiceError } from '../../errors.ts';
import { tickEventId } from '../../jobs/timers/cron.ts';
import type { AppFunction } from '../../model/apps/app.ts';
import { runIdOf } from '../../model/runs/run.ts';
import { allSchedulesOf } from '../../model/schedules/schedules.ts';
import { lastTick } from '../../model/schedules/ticks.ts';
import type { Store } from '../../store/store.ts';
import type { LastTick } from '../views/function.ts';

/** A very recent tick has no run yet, so the one before is shown. */
const RECENT_MS = 10_000;

export interface LastTickDeps extends Pick<Store, 'keys' | 'ids'> {
  runs: Pick<Store['runs'], 'readMany'>;
}

/** Last ticks by cron text. Archived runs are missing while the archive is unavailable. */
export async function lastTicksOf(
  env: string,
  fn: AppFunction,
  { keys, ids, runs }: LastTickDeps,
  nowMs: number,
): Promise<Map<string, LastTick>> {
  const schedules = allSchedulesOf(env, fn);
  if (schedules.length === 0) return new Map();
  const partition = keys.homeOf(`${env}/${fn.id}`).number;
  const ticks = schedules.flatMap(({ cron }) => {
    const tickAt = (at: number) => ({
      at,
      cron,
      runId: runIdOf(ids, tickEventId(ids, env, fn.id, at, partition), fn.id),
    });
    const last = lastTick(cron, nowMs);
    const before = last !== undefined && nowMs - last < RECENT_MS ? lastTick(cron, last - 1) : undefined;
    return [before, last].flatMap((at) => (at === undefined ? [] : tickAt(at)));
  });
  const runIds = ticks.map(({ runId }) => runId);
  const found = await runs.readMany(env, runIds).catch((error) => {
    if (error instanceof ServiceError && error.code === 'archive_unavailable') return [];
    throw error;
  });
  const byId = new Map(found.map((run) => [run.id, run]));
  const shown = new Map<string, LastTick>();
  for (const { cron, at, runId } of ticks) {
    const run = byId.get(runId);
    if (run || !shown.has(cron)) shown.set(cron, { at, run });
  }
  return shown;
}
