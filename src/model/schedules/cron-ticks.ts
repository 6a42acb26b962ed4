/** Ticks of a crontab schedule by the clocks of a time zone. Its times are found as if the clocks never changed, then each is placed in the period
 *  in which the clocks show it, or skip it. `cron-parser` knows time zones too, but where clocks change by half an hour, or at midnight, it loses
 *  ticks and finds some in the past. */
import { CronExpressionParser } from 'cron-parser';
import { type ClockPeriod, clockPeriodAt } from './wall-clock.ts';

export interface Ticks {
  next(afterMs: number): number | undefined;
  last(atMs: number): number | undefined;
}

/** Times that clocks show, in Unix milliseconds as if the clocks showed UTC. Both throw if there is none within years. */
interface WallClockTimes {
  after(wallMs: number): number;
  upTo(wallMs: number): number;
  /** True if times that the clocks repeat tick again. */
  tickAgain: boolean;
}

/** @returns undefined if it is not a crontab schedule */
export function cronTicks(schedule: string, timeZone: string): Ticks | undefined {
  const times = orUndefined(() => timesOf(schedule));
  return (
    times && {
      next: (afterMs) => orUndefined(() => nextTick(times, timeZone, afterMs)),
      last: (atMs) => orUndefined(() => lastTick(times, timeZone, atMs)),
    }
  );
}

function timesOf(schedule: string): WallClockTimes {
  const expression = CronExpressionParser.parse(schedule, { tz: 'UTC' });
  // A schedule of February 29 is asked about every period of four years: between two times, it is searched once.
  let next = { asked: 0, found: 0 };
  let last = { asked: 0, found: 1 };
  return {
    after(wallMs) {
      if (wallMs < next.asked || wallMs >= next.found) {
        expression.reset(new Date(wallMs));
        next = { asked: wallMs, found: expression.next().getTime() };
      }
      return next.found;
    },
    upTo(wallMs) {
      if (wallMs > last.asked || wallMs < last.found) {
        expression.reset(new Date(wallMs + 1));
        last = { asked: wallMs, found: expression.prev().getTime() };
      }
      return last.found;
    },
    tickAgain: expression.fields.hour.values.length === 24,
  };
}

function nextTick(times: WallClockTimes, timeZone: string, afterMs: number): number {
  for (let period = clockPeriodAt(afterMs, timeZone); ; period = clockPeriodAt(period.to, timeZone)) {
    const tick = firstTickIn(period, times, Math.max(afterMs, period.from - 1));
    if (tick < period.to) return tick;
  }
}

function lastTick(times: WallClockTimes, timeZone: string, atMs: number): number {
  for (let period = clockPeriodAt(atMs, timeZone); ; period = clockPeriodAt(period.from - 1, timeZone)) {
    const tick = lastTickIn(period, times, Math.min(atMs, period.to - 1));
    if (tick >= period.from + (times.tickAgain ? 0 : repeatedMs(period))) return tick;
  }
}

/** The first tick after a time in the period; after the end of the period if there is none. */
function firstTickIn(period: ClockPeriod, times: WallClockTimes, afterMs: number): number {
  const { from, offsetMs, offsetBeforeMs } = period;
  const newFrom = times.tickAgain ? from : from + repeatedMs(period);
  const shown = times.after(Math.max(afterMs, newFrom - 1) + offsetMs) - offsetMs;
  const skippedTo = from + skippedMs(period);
  if (afterMs >= skippedTo) return shown;
  const skipped = times.after(afterMs + offsetBeforeMs) - offsetBeforeMs;
  return skipped < skippedTo ? Math.min(shown, skipped) : shown;
}

/** The last tick up to a time in the period; before the start of the period if there is none. */
function lastTickIn(period: ClockPeriod, times: WallClockTimes, atMs: number): number {
  const { from, offsetMs, offsetBeforeMs } = period;
  const shown = times.upTo(atMs + offsetMs) - offsetMs;
  if (skippedMs(period) === 0) return shown;
  const skippedTo = from + skippedMs(period);
  return Math.max(shown, times.upTo(Math.min(atMs, skippedTo - 1) + offsetBeforeMs) - offsetBeforeMs);
}

/** How much the clocks were set forward. A time that they skipped ticks as much later, as if they had not been. */
function skippedMs({ offsetMs, offsetBeforeMs }: ClockPeriod): number {
  return Math.max(0, offsetMs - offsetBeforeMs);
}

/** How much the clocks were set back: for so long they show times that they have shown before. */
function repeatedMs({ offsetMs, offsetBeforeMs }: ClockPeriod): number {
  return Math.max(0, offsetBeforeMs - offsetMs);
}

function orUndefined<T>(compute: () => T): T | undefined {
  try {
    return compute();
  } catch {
    return undefined;
  }
}
