/** Beginnings of IDs. An ID begins with its time, so a longer beginning has a shorter time range. */
import { ID_PATTERN, timeOf } from '../ids.ts';
import { DAY_MS } from '../values/time.ts';

const ID_LENGTH = 26;

export const ID_PREFIX_PATTERN = /^[0-7][0-9A-HJKMNP-TV-Z]{0,25}$/;

/** The first and last ID that begin so; undefined: none does. */
export function idRange(prefix: string): { first: string; last: string } | undefined {
  if (prefix === '') return { first: '0'.repeat(ID_LENGTH), last: `7${'Z'.repeat(ID_LENGTH - 1)}` };
  const [first, last] = [prefix.padEnd(ID_LENGTH, '0'), prefix.padEnd(ID_LENGTH, 'Z')];
  return ID_PATTERN.test(first) && ID_PATTERN.test(last) ? { first, last } : undefined;
}

/** When what has such an ID was received or created: within a day of the time of its ID, or, as a re-run is, later.
 *  @param isLater whether that may be any time later */
export function timesOfPrefix(prefix: string, isLater: boolean): { after: number; before?: number } | undefined {
  const range = idRange(prefix);
  if (!range) return undefined;
  const after = Math.max(0, timeOf(range.first) - DAY_MS);
  return isLater ? { after } : { after, before: timeOf(range.last) + DAY_MS };
}
