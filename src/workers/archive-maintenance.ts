/** Periodic work on the archive. */
import { setTimeout } from 'node:timers/promises';
import { isAway, isUnavailable } from '../archive/database.ts';
import { migrate } from '../archive/migrate.ts';
import type { ArchiveSettings } from '../config.ts';
import { type DayMaintenanceDeps, maintainDays } from '../jobs/archive/day-maintenance.ts';
import type { Logger } from '../log.ts';
import { type PeriodicTask, repeatUntilStopped } from './periodic-task.ts';

const ROUND_MS = 3_600_000;
/** While somebody reads or writes what is to be removed; and after an error. */
const AGAIN_MS = 300_000;
/** While Postgres is away. */
const AWAY_MS = 10_000;
const MIGRATE_AGAIN_MS = 2_000;
/** Shutdown does not depend on Postgres. */
const LAST_MIGRATION_MS = 2_000;

/** Makes and removes the tables of days; starts with a round at once.
 *  @param deps undefined: there is no archive */
export function startDayMaintenance(deps: DayMaintenanceDeps | undefined): PeriodicTask {
  if (!deps) return { close: async () => {} };
  const { stop, stopped } = repeatUntilStopped(async (signal) => {
    try {
      const result = await maintainDays(deps, Date.now(), signal);
      if (result && result.removed > 0) deps.log.info(result, 'archived days removed: their retention has passed');
      return result && result.postponed > 0 ? AGAIN_MS : ROUND_MS;
    } catch (error) {
      // The health of the archive is reported elsewhere (jobs/archive/archive-health.ts).
      if (isUnavailable(error)) return AWAY_MS;
      deps.log.warn({ err: (error as Error).message }, 'days of the archive could not be maintained');
      return AGAIN_MS;
    }
  });
  return {
    async close() {
      stop();
      await stopped;
    },
  };
}

/** Runs the migrations, which in production `release` does before a deploy. Without Postgres everything stays in Redis, and they run when it is back.
 *  @throws Error of a migration that fails */
export async function startMigrations(settings: ArchiveSettings, log: Logger): Promise<PeriodicTask> {
  const missed = await migrate(settings).then(() => undefined, onlyAway);
  if (!missed) return { close: async () => {} };
  log.warn({ err: missed.message }, 'archive: migrations did not run, because Postgres is away');
  const { stop, stopped } = repeatUntilStopped(async () => {
    try {
      if (!(await migrate(settings).then(() => undefined, onlyAway))) stop();
    } catch (error) {
      log.error({ err: (error as Error).message }, 'archive: migrations failed');
      stop();
    }
    return MIGRATE_AGAIN_MS;
  });
  return {
    async close() {
      stop();
      await Promise.race([stopped, setTimeout(LAST_MIGRATION_MS, undefined, { ref: false })]);
    },
  };
}

function onlyAway(error: Error): Error {
  if (isAway(error)) return error;
  throw error;
}
