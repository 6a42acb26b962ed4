/** Prefixes of IDs. IDs begin with their time, so a longer prefix covers a shorter time range. */
import { ID_PATTERN, timeOf } from '../ids.ts';
import { DAY_MS } from '../values/time.ts';

const ID_LENGTH = 26;

export const ID_PREFIX_PATTERN = /^[0-7][0-9A-HJKMNP-TV-Z]{0,25}$/;

/** The first and last ID with the prefix; undefined if no ID has it. */
export function idRange(prefix: string): { first: string; last: string } | undefined {
  if (prefix === '') return { first: '0'.repeat(ID_LENGTH), last: `7${'Z'.repeat(ID_LENGTH - 1)}` };
  const [first, last] = [prefix.padEnd(ID_LENGTH, '0'), prefix.padEnd(ID_LENGTH, 'Z')];
  return ID_PATTERN.test(first) && ID_PATTERN.test(last) ? { first, last } : undefined;
}

/** When objects whose ID has the prefix were received or created: within a day of the ID's time, or later for re-runs.
 *  @param isLater whether it may be any time later */
export function timesOfPrefix(prefix: string, isLater: boolean): { after: number; before?: number } | undefined {
  const range = idRange(prefix);
  if (!range) return undefined;
  const after = Math.max(0, timeOf(range.first) - DAY_MS);
  return isLater ? { after } : { after, before: timeOf(range.last) + DAY_MS };
}
