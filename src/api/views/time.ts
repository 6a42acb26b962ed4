/** Times are Unix milliseconds in the code and ISO 8601 in the API. */
import { z } from 'zod';
import { iso } from '../../model/values/time.ts';

/** The largest time of an ID, in the year 10889. */
const TIME_MAX = 2 ** 48 - 1;

/** A time as a query parameter. */
export const timeSchema = z
  .union(
    [z.iso.datetime({ offset: true }), z.string().regex(/^\d{1,15}$/)],
    'expected an ISO 8601 time or Unix milliseconds',
  )
  .transform((text) => Math.min(Math.max(0, /^\d+$/.test(text) ? Number(text) : Date.parse(text)), TIME_MAX));

/** A time in a body, in Unix milliseconds. IDs, which bound ranges of times, have none before 1970. */
export const timestampSchema = z.iso.datetime({ offset: true }).transform((text) => Math.max(0, Date.parse(text)));

/** ISO 8601; null for undefined. */
export function time(ms: number | undefined): string | null {
  return ms === undefined ? null : iso(ms);
}
