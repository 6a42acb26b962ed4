/** Lists of the archive read backward in windows of time: the first are short, so that few tables are read where entries are dense, and
 *  each later one is longer, so that few statements are needed where they are rare. */

import { HOUR_MS, type Interval } from '../model/values/time.ts';

const FIRST_MS = HOUR_MS;
const GROWTH = 4;

/** Covers the whole time from `to` back to `from`. */
export function* windowsBetween(from: number, to: number): Generator<Interval> {
  let length = FIRST_MS;
  for (let end = to; end > from; length *= GROWTH) {
    const start = Math.max(from, end - length);
    yield { from: start, to: end };
    end = start;
  }
}
