/** Storage of an environment in Redis and Postgres, and the cost of its retention. Cached for a few seconds. */
import { LRUCache } from 'lru-cache';
import type { Archive } from '../archive/archive.ts';
import { dayOf } from '../archive/archived-days.ts';
import type { ArchivedDayUse } from '../archive/archived-storage.ts';
import { isArchiveUnavailable } from '../errors.ts';
import { Composed } from '../model/values/composed.ts';
import { sum } from '../model/values/sum.ts';
import { DAY_MS } from '../model/values/time.ts';
import type { HotStorage, HotUse } from '../store/telemetry/hot-storage.ts';

const CACHED_MS = 15_000;
const CACHED_MAX = 500;
/** Number of days that the rate is averaged over. */
const RATE_DAYS = 7;

export interface StorageUse {
  /** When it was measured, Unix milliseconds. */
  at: number;
  hot: HotUse;
  /** undefined without an archive, or while it is down. */
  archived: { environment: ArchivedDayUse[]; installation: ArchivedDayUse[] } | undefined;
  isUnavailable: boolean;
  /** Disk bytes per day, averaged over the last days; undefined before the first full day. */
  diskBytesPerDay: number | undefined;
}

export class StorageUses extends Composed<{
  hotStorage: Pick<HotStorage, 'of'>;
  /** undefined without an archive. */
  archive: Pick<Archive, 'storage'> | undefined;
}> {
  readonly #cache = new LRUCache<string, Promise<StorageUse>>({ max: CACHED_MAX, ttl: CACHED_MS });

  of(env: string): Promise<StorageUse> {
    const cached = this.#cache.get(env);
    if (cached) return cached;
    const measured = this.#measure(env, Date.now());
    this.#cache.set(env, measured);
    measured.catch(() => this.#cache.delete(env));
    return measured;
  }

  async #measure(env: string, nowMs: number): Promise<StorageUse> {
    const [hot, archived] = await Promise.all([this.deps.hotStorage.of(env), this.#archived(env)]);
    return {
      at: nowMs,
      hot,
      archived: archived === 'unavailable' ? undefined : archived,
      isUnavailable: archived === 'unavailable',
      diskBytesPerDay: typeof archived === 'object' ? diskBytesPerDay(archived.environment, nowMs) : undefined,
    };
  }

  async #archived(env: string): Promise<StorageUse['archived'] | 'unavailable'> {
    const { archive } = this.deps;
    if (!archive) return undefined;
    try {
      const [environment, installation] = await Promise.all([
        archive.storage.of(env),
        archive.storage.ofInstallation(),
      ]);
      return { environment, installation };
    } catch (error) {
      if (isArchiveUnavailable(error)) return 'unavailable';
      throw error;
    }
  }
}

/** Averages the newest complete and fully archived days, because the current day may still grow. */
function diskBytesPerDay(days: readonly ArchivedDayUse[], nowMs: number): number | undefined {
  const newest = days.at(-1)?.day;
  if (newest === undefined) return undefined;
  const last = Math.min(newest, dayOf(nowMs)) - DAY_MS;
  const first = Math.max(last - (RATE_DAYS - 1) * DAY_MS, days[0]?.day ?? 0);
  if (first > last) return undefined;
  const bytes = sum(
    days.filter(({ day }) => day >= first && day <= last),
    (day) => day.diskBytes,
  );
  return bytes / ((last - first) / DAY_MS + 1);
}
