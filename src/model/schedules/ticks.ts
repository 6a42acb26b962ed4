/** Ticks of a cron text: the times at which it starts runs. They depend on the text alone, not on when they are computed:
 *  - A schedule in a time zone follows its clocks. A time skipped in spring ticks later by the skipped duration, once.
 *  - A time repeated in autumn ticks only the first time; hourly schedules tick both times.
 *  - `@every 1h` ticks at multiples of the interval since 1970. */
import { LRUCache } from 'lru-cache';
import { durationMs } from '../values/time.ts';
import { cronTicks, type Ticks } from './cron-ticks.ts';

const TIME_ZONE = /^(?:CRON_)?TZ=(\S+)\s+/;
const INTERVAL = /^@every (\S+)$/;
const NAMES: Readonly<Record<string, string>> = { '@midnight': '0 0 * * *', '@annually': '0 0 1 1 *' };
const NO_TICKS: Ticks = { next: () => undefined, last: () => undefined };
/** Caches of parsed texts (kilobytes each) and of last responses (bytes each): many schedules share a text and tick together. */
const PARSED_MAX = 500;
const NEXT_TICKS_MAX = 20_000;

const parsed = new LRUCache<string, Ticks>({ max: PARSED_MAX });
const nextByCron = new LRUCache<string, { after: number; next: number }>({ max: NEXT_TICKS_MAX });

/** The first tick after a time, Unix milliseconds; undefined if there is no such tick or the text is not a schedule. */
export function nextTick(cron: string, afterMs: number): number | undefined {
  const known = nextByCron.get(cron);
  if (known && afterMs >= known.after && afterMs < known.next) return known.next;
  const next = ticksOf(cron).next(afterMs);
  if (next !== undefined) nextByCron.set(cron, { after: afterMs, next });
  return next;
}

/** The last tick at or before a time. */
export function lastTick(cron: string, atMs: number): number | undefined {
  return ticksOf(cron).last(atMs);
}

/** The next ticks after a time, Unix milliseconds. */
export function nextTicks(cron: string, afterMs: number, count: number): number[] {
  const ticks: number[] = [];
  for (let at: number | undefined = afterMs; at !== undefined && ticks.length < count; ) {
    at = nextTick(cron, at);
    if (at !== undefined) ticks.push(at);
  }
  return ticks;
}

/** Time zone of a schedule; undefined if it ticks at intervals. */
export function timeZoneOf(cron: string): string | undefined {
  const text = cron.trim();
  const zone = TIME_ZONE.exec(text)?.[1];
  return INTERVAL.test(text.replace(TIME_ZONE, '')) ? undefined : (zone ?? 'UTC');
}

function ticksOf(cron: string): Ticks {
  let ticks = parsed.get(cron);
  if (!ticks) {
    const text = cron.trim();
    const schedule = text.replace(TIME_ZONE, '');
    const every = INTERVAL.exec(schedule)?.[1];
    const timeZone = TIME_ZONE.exec(text)?.[1] ?? 'UTC';
    const found = every === undefined ? cronTicks(NAMES[schedule] ?? schedule, timeZone) : intervalTicks(every);
    ticks = found ?? NO_TICKS;
    parsed.set(cron, ticks);
  }
  return ticks;
}

function intervalTicks(every: string): Ticks | undefined {
  const ms = durationMs(every);
  if (!ms) return undefined;
  return {
    next: (afterMs) => (Math.floor(afterMs / ms) + 1) * ms,
    last: (atMs) => Math.floor(atMs / ms) * ms,
  };
}
