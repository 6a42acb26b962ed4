/** Iterates over archived days, newest first, in growing batches: one statement reads the days of a batch, and only their tables. */

import { DAY_MS } from '../model/values/time.ts';
import { type ArchivedDay, dayOf } from './archived-days.ts';

/** Days whose rows are in tables of one retention. */
export interface DayBatch {
  /** Days. */
  retention: number;
  /** Unix milliseconds, inclusive. */
  from: number;
  /** Unix milliseconds, exclusive. */
  to: number;
}

const GROWTH = 2;
const DAYS_MAX = 32;

/** Later than any time in the archive: the end of the year 9999. */
export const END_OF_TIME = 253_402_300_800_000;

/** The days that overlap a time range, for ArchivedDays.between. */
export function daysOf({ from, to }: { from: number; to: number }): [from: number, to: number] {
  return [dayOf(from), dayOf(Math.min(to, END_OF_TIME) - 1)];
}

/** @param days newest first
 *  @param range the part to read: Unix milliseconds, `from` inclusive, `to` exclusive */
export function* dayBatches(
  days: readonly ArchivedDay[],
  range: { from: number; to: number },
): Generator<DayBatch, void, undefined> {
  let size = 1;
  for (let at = 0; at < days.length; ) {
    const { day: newest, retention } = days[at] as ArchivedDay;
    let end = at;
    while (end < days.length && end - at < size && days[end]?.retention === retention) end++;
    const oldest = (days[end - 1] as ArchivedDay).day;
    yield { retention, from: Math.max(range.from, oldest), to: Math.min(range.to, newest + DAY_MS) };
    at = end;
    size = Math.min(size * GROWTH, DAYS_MAX);
  }
}
