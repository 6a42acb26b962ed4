/** Pages: every list of the API is read with `limit` and `cursor`, and says in `metadata.cursor` where the next page begins. */
import { z } from 'zod';
import { ID_PATTERN } from '../../model/ids.ts';

const MAX_PAGE = 100;
const DEFAULT_PAGE = 20;

const MESSAGE = 'a cursor is the one that the page before carried in metadata.cursor';

/** Where a page begins, among things that are ordered by time and then by ID. */
export const inTime = z.object({ at: z.int().min(0), id: z.string().regex(ID_PATTERN) });

/** Where a page begins, among things that are ordered by name. */
export const inNames = z.string();

/** The query parameters of a list whose positions are of that shape. */
export function pageQuery<Position>(position: z.ZodType<Position>) {
  return {
    limit: z.coerce
      .number()
      .int()
      .min(1)
      .max(MAX_PAGE)
      .default(DEFAULT_PAGE)
      .meta({ description: 'Most entries of a page' }),
    ...cursorQuery(position),
  };
}

/** Of a list whose pages have as much as an answer holds (list-response.ts). */
export function cursorQuery<Position>(position: z.ZodType<Position>) {
  return {
    cursor: z
      .string()
      .transform((text, context): Position => {
        const { success, data } = position.safeParse(decoded(text));
        if (success) return data;
        context.addIssue({ code: 'custom', message: MESSAGE });
        return z.NEVER;
      })
      .optional()
      .meta({ description: 'Of the page before: `metadata.cursor`. Absent: the first page' }),
  };
}

/** `metadata` of a page that ends with that position; undefined: nothing follows. */
export function nextPage(last: unknown): { cursor?: string } {
  return last === undefined ? {} : { cursor: Buffer.from(JSON.stringify(last)).toString('base64url') };
}

/** A page of a list that is at hand, sorted by name.
 *  @param limit absent: all that follows */
export function pageOf<T>(
  sorted: readonly T[],
  nameOf: (one: T) => string,
  { limit = sorted.length, cursor }: { limit?: number; cursor?: string | undefined },
): { page: T[]; next: string | undefined } {
  const rest = cursor === undefined ? sorted : sorted.filter((one) => nameOf(one) > cursor);
  const page = rest.slice(0, limit);
  return { page, next: rest.length > limit ? nameOf(page.at(-1) as T) : undefined };
}

function decoded(text: string): unknown {
  try {
    return JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
  } catch {
    return undefined;
  }
}
