/** Day tables: created before they are needed, and dropped when the retention of all environments with rows in them has passed. The current
 *  retention counts: extending it keeps existing rows, shortening it drops them as soon as no other environment needs the same table. */
import type { Archive } from '../../archive/archive.ts';
import { dayOf, INSTALLATION } from '../../archive/archived-days.ts';
import { codeOf } from '../../archive/database.ts';
import { type ArchivedDay, type IsKept, keptUntil, TABLES_OF } from '../../archive/day-removal.ts';
import { duty } from '../../duties/duty.ts';
import { isArchiveUnavailable } from '../../errors.ts';
import type { Logger } from '../../log.ts';
import { DAY_MS, HOUR_MS, iso } from '../../model/values/time.ts';
import type { Store } from '../../store/store.ts';

const LOCK_MS = 60_000;
const DAYS_AHEAD = 2;
/** An empty day table older than this, plus HOT_HOURS, is not needed. */
const UNUSED_MS = 2 * DAY_MS;
/** The table is being read or written: SQLSTATE of lock_timeout and statement_timeout. */
const BUSY = new Set(['55P03', '57014']);

export interface DayMaintenanceDeps extends Pick<Store, 'environments'> {
  archive: Archive;
  /** The setting. */
  retentionDays: number;
  /** The setting. */
  auditRetentionDays: number;
  log: Logger;
}

export interface DayMaintenanceResult {
  /** Number of days whose tables were dropped. */
  removed: number;
  /** Number of days whose tables were busy; another round is due soon. */
  postponed: number;
}

/** Next attempt after busy tables. */
const AGAIN_MS = 300_000;
/** Next attempt while Postgres is down, which archive-health.ts reports. */
const UNAVAILABLE_RETRY_MS = 10_000;

export const dayMaintenance = duty<DayMaintenanceDeps>({
  name: 'archive-days',
  about: 'Makes the tables of the next days, and drops old ones',
  scope: 'installation',
  everyMs: HOUR_MS,
  leaseMs: LOCK_MS,
  lastRoundMs: Number.POSITIVE_INFINITY,
  rounds:
    (deps) =>
    async ({ signal }) => {
      try {
        const result = await maintainDays(deps, Date.now(), signal);
        if (result.removed > 0) deps.log.info(result, 'archived days removed: their retention has passed');
        return result.postponed > 0 ? AGAIN_MS : undefined;
      } catch (error) {
        if (isArchiveUnavailable(error)) return UNAVAILABLE_RETRY_MS;
        throw error;
      }
    },
});

/** @throws ServiceError archive_unavailable */
export async function maintainDays(
  deps: DayMaintenanceDeps,
  nowMs: number,
  signal: AbortSignal,
): Promise<DayMaintenanceResult> {
  await makeDays(deps, nowMs);
  const result = await removeDays(deps, nowMs, signal);
  await deps.archive.unusedNumbers.removeEnvironments(nowMs);
  return result;
}

/** Creates the tables of today and the next days for every retention in use. */
async function makeDays(deps: DayMaintenanceDeps, nowMs: number): Promise<void> {
  const { archive, environments, retentionDays, auditRetentionDays } = deps;
  const own = (await environments.all()).map((environment) => environment.retentionDays ?? retentionDays);
  for (let ahead = 0; ahead <= DAYS_AHEAD; ahead++) {
    const day = dayOf(nowMs) + ahead * DAY_MS;
    for (const retention of new Set([retentionDays, ...own])) {
      for (const table of [...TABLES_OF.events, ...TABLES_OF.runs]) await archive.tables.ensure(table, retention, day);
    }
    for (const table of TABLES_OF.webhook_requests) await archive.tables.ensure(table, retentionDays, day);
    for (const table of TABLES_OF.audit_entries) await archive.tables.ensure(table, auditRetentionDays, day);
  }
}

async function removeDays(deps: DayMaintenanceDeps, nowMs: number, signal: AbortSignal): Promise<DayMaintenanceResult> {
  const { archive, log } = deps;
  const days = await archive.dayRemoval.all();
  const hotSinceMs = nowMs - archive.hotMs;
  const result = { removed: 0, postponed: 0 };
  let isKept = await keptRows(deps, nowMs);
  for (const day of days) {
    if (signal.aborted) break;
    if (!isDue(day, isKept, hotSinceMs)) continue;
    try {
      // A retention may have been extended in the meantime.
      isKept = await keptRows(deps, nowMs);
      if (isDue(day, isKept, hotSinceMs) && (await archive.dayRemoval.remove(day, isKept))) result.removed++;
    } catch (error) {
      if (isArchiveUnavailable(error) || !BUSY.has(codeOf(error) ?? '')) throw error;
      result.postponed++;
      const date = iso(day.day).slice(0, 10);
      log.info(
        { kind: day.kind, day: date, err: (error as Error).message },
        'tables of a day are busy; they are removed later',
      );
    }
  }
  // This process may have cached tables that it dropped.
  if (result.removed > 0) for (const part of [archive.tables, archive.days, archive.numbers]) part.forget();
  return result;
}

function isDue({ kind, tables, envIds, retention, day }: ArchivedDay, isKept: IsKept, hotSinceMs: number): boolean {
  if (tables.some(({ state }) => state !== 'attached')) return true;
  if (envIds.length === 0) return day + DAY_MS + UNUSED_MS < hotSinceMs;
  return !envIds.some((envId) => isKept(kind, envId, retention, day));
}

/** Decides which rows are kept, based on the current environments. */
async function keptRows(deps: DayMaintenanceDeps, nowMs: number): Promise<IsKept> {
  const { archive, environments, retentionDays, auditRetentionDays } = deps;
  const [numbers, all] = await Promise.all([archive.numbers.environments(), environments.all()]);
  const present = new Map(all.map((environment) => [environment.name, environment.retentionDays ?? retentionDays]));
  return (kind, envId, retention, day) => {
    if (kind === 'audit_entries') return nowMs < keptUntil(day, auditRetentionDays);
    if (envId === INSTALLATION) return nowMs < keptUntil(day, retentionDays);
    const environment = numbers.get(envId);
    // A moment ago the environment had no record.
    if (!environment) return true;
    if (environment.isDeleted) return false;
    // Without a record in Redis, nobody has deleted the environment through the API: Redis may have lost the record.
    const days = present.get(environment.name) ?? Math.max(retention, retentionDays);
    return nowMs < keptUntil(day, days);
  };
}
