/** The last tick of each schedule of a function, with its run. */
import { ServiceError } from '../../errors.ts';
import { tickEventId } from '../../jobs/timers/cron.ts';
import type { AppFunction } from '../../model/apps/app.ts';
import { runIdOf } from '../../model/runs/run.ts';
import { allSchedulesOf } from '../../model/schedules/schedules.ts';
import { lastTick } from '../../model/schedules/ticks.ts';
import type { Keyspace } from '../../store/redis/keyspace.ts';
import type { Runs } from '../../store/runs/runs.ts';
import type { LastTick } from '../views/function.ts';

export interface LastTickDeps {
  keys: Pick<Keyspace, 'homeOf'>;
  runs: Pick<Runs, 'readMany'>;
}

/** By cron text. While the archive is away, without runs that it may have. */
export async function lastTicksOf(
  env: string,
  fn: AppFunction,
  { keys, runs }: LastTickDeps,
  nowMs: number,
): Promise<Map<string, LastTick>> {
  const schedules = allSchedulesOf(env, fn);
  if (schedules.length === 0) return new Map();
  const home = keys.homeOf(`${env}/${fn.id}`).number;
  const ticks = schedules.flatMap((schedule) => {
    const at = lastTick(schedule.cron, nowMs);
    return at === undefined ? [] : { at, cron: schedule.cron, runId: runIdOf(tickEventId(schedule, at, home), fn.id) };
  });
  const ids = ticks.map(({ runId }) => runId);
  const found = await runs.readMany(env, ids).catch((error) => {
    if (error instanceof ServiceError && error.code === 'archive_unavailable') return [];
    throw error;
  });
  const byId = new Map(found.map((run) => [run.id, run]));
  return new Map(ticks.map(({ cron, at, runId }) => [cron, { at, run: byId.get(runId) }]));
}
