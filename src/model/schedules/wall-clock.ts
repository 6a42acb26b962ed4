/** The wall-clock time of a time zone. */
import { LRUCache } from 'lru-cache';

/** There are about 600 time zones, with their other names. */
const formats = new LRUCache<string, Intl.DateTimeFormat>({ max: 1_000 });

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
