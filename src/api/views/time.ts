/** Times: Unix milliseconds in the code, ISO 8601 in the API. */
import { z } from 'zod';

/** A time as a query parameter. */
export const timeSchema = z
  .union(
    [z.iso.datetime({ offset: true }), z.string().regex(/^\d{1,15}$/)],
    'expected an ISO 8601 time or Unix milliseconds',
  )
  .transform((text) => (/^\d+$/.test(text) ? Number(text) : Date.parse(text)));

/** ISO 8601; null for undefined. */
export function time(ms: number | undefined): string | null {
  return ms === undefined ? null : new Date(ms).toISOString();
}
