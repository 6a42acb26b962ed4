/** Ticks of a cron text: the times at which it starts runs. They depend on the text alone, not on when they are computed:
 *  - A schedule in a time zone follows its clocks. A time skipped in spring ticks later by the skipped duration, once.
 *  - A time repeated in autumn ticks only the first time; hourly schedules tick both times.
 *  - `@every 1h` ticks at multiples of the interval since 1970. */
import { CronExpressionParser } from 'cron-parser';
import { LRUCache } from 'lru-cache';
import { durationMs, HOUR_MS } from '../values/time.ts';
import { wallClockOffsetMs } from './wall-clock.ts';

const TIME_ZONE = /^(?:CRON_)?TZ=(\S+)\s+/;
const INTERVAL = /^@every (\S+)$/;
const NAMES: Readonly<Record<string, string>> = { '@midnight': '0 0 * * *', '@annually': '0 0 1 1 *' };
/** Longer than any change of the clocks. */
const LOOK_BACK_MS = 3 * HOUR_MS;
/** Maximum number of repeated ticks that are skipped: as many as a schedule by the second has in three hours. */
const REPEATED_MAX = 11_000;
/** Caches of parsed texts (kilobytes each) and of last responses (bytes each): many schedules share a text and tick together. */
const PARSED_MAX = 500;
const NEXT_TICKS_MAX = 20_000;

interface Ticks {
  next(afterMs: number): number | undefined;
  last(atMs: number): number | undefined;
}

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
  let last = ticksOf(cron).last(atMs);
  // Searching backward misses a time that the clocks skipped.
  for (let next = last; next !== undefined && next <= atMs; next = nextTick(cron, next)) last = next;
  return last;
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
    ticks = every === undefined ? cronTicks(schedule, TIME_ZONE.exec(text)?.[1] ?? 'UTC') : intervalTicks(every);
    parsed.set(cron, ticks);
  }
  return ticks;
}

function intervalTicks(every: string): Ticks {
  const ms = durationMs(every);
  if (!ms) return NO_TICKS;
  return {
    next: (afterMs) => (Math.floor(afterMs / ms) + 1) * ms,
    last: (atMs) => Math.floor(atMs / ms) * ms,
  };
}

const NO_TICKS: Ticks = { next: () => undefined, last: () => undefined };

function cronTicks(schedule: string, tz: string): Ticks {
  const expression = orUndefined(() => CronExpressionParser.parse(NAMES[schedule] ?? schedule, { tz }));
  if (!expression) return NO_TICKS;
  const isOfEveryHour = expression.fields.hour.values.length === 24;
  const find = (fromMs: number, step: 'next' | 'prev') => {
    // The library throws if the schedule has no time within years.
    return orUndefined(() => {
      expression.reset(new Date(fromMs));
      for (let i = 0; i < REPEATED_MAX; i++) {
        const tick = expression[step]().getTime();
        if (isOfEveryHour || !isRepeated(tick, tz)) return tick;
      }
      return undefined;
    });
  };
  return { next: (afterMs) => find(afterMs, 'next'), last: (atMs) => find(atMs + 1, 'prev') };
}

/** Whether the zone's clocks have shown this time before, because they were set back since. */
function isRepeated(timeMs: number, tz: string): boolean {
  const offset = wallClockOffsetMs(timeMs, tz);
  const setBack = wallClockOffsetMs(timeMs - LOOK_BACK_MS, tz) - offset;
  return setBack > 0 && wallClockOffsetMs(timeMs - setBack, tz) - offset === setBack;
}

function orUndefined<T>(compute: () => T): T | undefined {
  try {
    return compute();
  } catch {
    return undefined;
  }
}
