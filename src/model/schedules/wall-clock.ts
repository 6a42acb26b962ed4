/** The wall-clock time of a time zone. */
import { LRUCache } from 'lru-cache';
import { DAY_MS } from '../values/time.ts';

/** There are about 600 time zones, with their other names. */
const formats = new LRUCache<string, Intl.DateTimeFormat>({ max: 1_000 });
/** The periods of a zone and a year: half a millisecond to find, some hundred bytes. */
const periodsOfYears = new LRUCache<string, ClockPeriod[]>({ max: 2_000 });

/** Shorter than the time between two changes of the clocks. */
const SCAN_MS = 7 * DAY_MS;

/** Time in which the clocks of a zone run evenly. Also ends with each year, in UTC. */
export interface ClockPeriod {
  from: number;
  /** Not included. */
  to: number;
  offsetMs: number;
  /** Offset until `from`. The same if the clocks did not change then. */
  offsetBeforeMs: number;
}

const ALWAYS_UTC: ClockPeriod = {
  from: Number.NEGATIVE_INFINITY,
  to: Number.POSITIVE_INFINITY,
  offsetMs: 0,
  offsetBeforeMs: 0,
};

/** The period that a time is in. */
export function clockPeriodAt(timeMs: number, timeZone: string): ClockPeriod {
  if (timeZone === 'UTC') return ALWAYS_UTC;
  const year = new Date(timeMs).getUTCFullYear();
  const key = `${timeZone} ${year}`;
  let periods = periodsOfYears.get(key);
  if (!periods) {
    periods = clockPeriodsOf(year, timeZone);
    periodsOfYears.set(key, periods);
  }
  return periods.find(({ to }) => timeMs < to) as ClockPeriod;
}

function clockPeriodsOf(year: number, timeZone: string): ClockPeriod[] {
  const end = Date.UTC(year + 1, 0, 1);
  const periods: ClockPeriod[] = [];
  let from = Date.UTC(year, 0, 1);
  let offsetBeforeMs = wallClockOffsetMs(from - 1, timeZone);
  let offsetMs = wallClockOffsetMs(from, timeZone);
  for (let even = from; even < end - 1; ) {
    const until = Math.min(even + SCAN_MS, end - 1);
    if (wallClockOffsetMs(until, timeZone) === offsetMs) {
      even = until;
      continue;
    }
    const to = changeBetween(even, until, timeZone);
    periods.push({ from, to, offsetMs, offsetBeforeMs });
    offsetBeforeMs = offsetMs;
    offsetMs = wallClockOffsetMs(to, timeZone);
    from = to;
    even = to;
  }
  return [...periods, { from, to: end, offsetMs, offsetBeforeMs }];
}

/** When the clocks no longer have the offset of the first of two times. */
function changeBetween(evenMs: number, changedMs: number, timeZone: string): number {
  const offsetMs = wallClockOffsetMs(evenMs, timeZone);
  let [last, first] = [evenMs, changedMs];
  while (first - last > 1) {
    const middle = Math.floor((last + first) / 2);
    if (wallClockOffsetMs(middle, timeZone) === offsetMs) last = middle;
    else first = middle;
  }
  return first;
}

/** Offset of the zone's clocks from UTC at a time. */
export function wallClockOffsetMs(timeMs: number, timeZone: string): number {
  if (timeZone === 'UTC') return 0;
  let format = formats.get(timeZone);
  if (!format) {
    format = new Intl.DateTimeFormat('en-US', {
      timeZone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
    formats.set(timeZone, format);
  }
  const part = Object.fromEntries(format.formatToParts(timeMs).map(({ type, value }) => [type, Number(value)]));
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = part;
  return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(timeMs / 1_000) * 1_000;
}
