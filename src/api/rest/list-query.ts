/** Query parameters of lists. Every list takes `limit` and `cursor`, and its response has the cursor of the next page in `metadata.cursor`. */
import { z } from 'zod';
import { ID_PATTERN } from '../../model/ids.ts';
import { closestName } from './validation.ts';

const MAX_PAGE = 100;
const DEFAULT_PAGE = 20;

const CURSOR_INVALID = 'expected the metadata.cursor of the previous page';

/** A position in a list ordered by time and then by ID. */
export const timePosition = z.object({ at: z.int().min(0), id: z.string().regex(ID_PATTERN) });

/** A position in a list of events. To users of the official SDKs, the cursor is the internal ID of the last event of the previous page. */
export const eventPosition = z.union([timePosition, z.object({ id: timePosition.shape.id })]);

/** A position in a list ordered by name. */
export const namePosition = z.string();

/** @param position the schema of the list's positions */
export function pageQuery<Position>(position: z.ZodType<Position>) {
  return {
    limit: z.coerce
      .number()
      .int()
      .min(1)
      .max(MAX_PAGE)
      .default(DEFAULT_PAGE)
      .meta({ description: 'Maximum number of entries in the page' }),
    ...cursorQuery(position),
  };
}

/** For a list whose pages are as large as a response may be (list-response.ts). */
export function cursorQuery<Position>(position: z.ZodType<Position>) {
  return {
    cursor: z
      .string()
      .transform((text, context): Position => {
        const { success, data } = position.safeParse(ID_PATTERN.test(text) ? { id: text } : decoded(text));
        if (success) return data;
        context.addIssue({ code: 'custom', message: CURSOR_INVALID });
        return z.NEVER;
      })
      .optional()
      .meta({ description: '`metadata.cursor` of the previous page. Absent: the first page' }),
  };
}

/** `fields=`: optional fields to include, separated by commas. */
export function fieldsQuery<const Name extends string>(known: readonly Name[]) {
  return z
    .string()
    .default('')
    .transform((text, context): Name[] => {
      const names = text.split(',').flatMap((name) => name.trim() || []);
      const unknown = names.find((name) => !known.includes(name as Name));
      if (unknown === undefined) return names as Name[];
      const suggestion = closestName(unknown, known);
      const expected = suggestion === undefined ? `expected ${known.join(', ')}` : `did you mean "${suggestion}"?`;
      context.addIssue({ code: 'custom', message: `unknown field; ${expected}` });
      return z.NEVER;
    });
}

/** Some of the known values, separated by commas or repeated; undefined: the parameter is absent. */
export function listQuery<const Value extends string>(known: readonly Value[]) {
  return z
    .union([z.string(), z.array(z.string())])
    .transform((given, context): Value[] => {
      const texts = [given].flat().flatMap((text) => text.split(','));
      if (texts.every((text) => known.includes(text as Value))) return [...new Set(texts as Value[])];
      context.addIssue({
        code: 'custom',
        message: `expected ${known.join(', ')}, or several of these separated by commas`,
      });
      return z.NEVER;
    })
    .optional();
}

/** `metadata` of a page that ends at this position; undefined: it is the last page. */
export function nextPage(last: unknown): { cursor?: string } {
  return last === undefined ? {} : { cursor: Buffer.from(JSON.stringify(last)).toString('base64url') };
}

/** A page of a list in memory, sorted by name.
 *  @param limit absent: everything after the cursor */
export function pageOf<T>(
  sorted: readonly T[],
  nameOf: (item: T) => string,
  { limit = sorted.length, cursor }: { limit?: number; cursor?: string | undefined },
): { page: T[]; next: string | undefined } {
  const rest = cursor === undefined ? sorted : sorted.filter((item) => nameOf(item) > cursor);
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
