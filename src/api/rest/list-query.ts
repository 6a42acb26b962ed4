/** Query parameters of lists. Every list takes `limit` and `cursor`, and returns the cursor of the next page in `metadata.cursor`. */
import { z } from 'zod';
import { ID_PATTERN } from '../../model/ids.ts';
import { closestName } from '../../model/values/closest-name.ts';
import { describe } from '../../model/values/json.ts';

const MAX_PAGE = 100;
const DEFAULT_PAGE = 20;
const MAX_LONG_PAGE = 1_000;

const CURSOR_INVALID = 'expected the metadata.cursor of the previous page';

/** A position in a list ordered by time and then by ID. */
export const timePosition = z.object({ at: z.int().min(0), id: z.string().regex(ID_PATTERN) });

/** A position in a list of events. For users of the official SDKs, the cursor is the internal ID of the last event of the previous page. */
export const eventPosition = z.union([timePosition, z.object({ id: timePosition.shape.id })]);

/** A position in a list with its own order: the number of entries before it. */
export const countPosition = z.int().min(0);

export const namePosition = z.string();

/** All lists share one schema, because building schemas takes a quarter of the CPU time in which a web process starts. */
const pageLimit = z.coerce
  .number()
  .int()
  .min(1)
  .max(MAX_PAGE)
  .default(DEFAULT_PAGE)
  .describe('Maximum number of entries in the page');

const longPageLimit = z.coerce
  .number()
  .int()
  .min(1)
  .max(MAX_LONG_PAGE)
  .optional()
  .describe('Maximum number of entries in the page. Default: as many as fit into a response of 2 MiB');

/** @param position the schema of the list's positions */
export function pageQuery<Position>(position: z.ZodType<Position>) {
  return { limit: pageLimit, ...cursorQuery(position) };
}

/** Parameters of a list in memory: a page has as many items as fit into a response (list-response.ts), unless the request limits it. */
export function longPageQuery<Position>(position: z.ZodType<Position>) {
  return { limit: longPageLimit, ...cursorQuery(position) };
}

/** Parameters of a list with its own limit. */
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
      .describe('`metadata.cursor` of the previous page. Default: the first page'),
  };
}

/** `fields=`: optional fields to include, separated by commas. */
export function fieldsQuery<const Name extends string>(known: readonly Name[]) {
  const names = new Set<string>(known);
  return z
    .string()
    .default('')
    .transform((text, context): Name[] => {
      const given = new Set(text.split(',').map((name) => name.trim()));
      given.delete('');
      const unknown = [...given].find((name) => !names.has(name));
      if (unknown === undefined) return [...given] as Name[];
      const suggestion = closestName(unknown, known);
      const expected = suggestion === undefined ? `expected ${known.join(', ')}` : `did you mean "${suggestion}"?`;
      context.addIssue({ code: 'custom', message: `unknown field; ${expected}` });
      return z.NEVER;
    });
}

/** Known values, separated by commas or repeated, in upper or lower case; undefined if the parameter is absent. */
export function listQuery<const Value extends string>(known: readonly Value[]) {
  const byName = new Map(known.map((value) => [value.toLowerCase(), value]));
  const knownValue = (text: string) => byName.get(text.trim().toLowerCase());
  return z
    .union([z.string(), z.array(z.string())])
    .transform((given, context): Value[] => {
      const texts = new Set([given].flat().flatMap((text) => text.split(',')));
      const unknown = [...texts].find((text) => knownValue(text) === undefined);
      if (unknown === undefined) return [...new Set([...texts].map(knownValue) as Value[])];
      context.addIssue({
        code: 'custom',
        message: `${describe(unknown)} is unknown; expected ${known.join(', ')}, or several of these separated by commas`,
      });
      return z.NEVER;
    })
    .optional();
}

/** `metadata` of a page that ends at this position; undefined for the last page. */
export function nextPage(last: unknown): { cursor?: string } {
  return last === undefined ? {} : { cursor: Buffer.from(JSON.stringify(last)).toString('base64url') };
}

/** A page of a list in memory, sorted by name or by the result of `nameOf`.
 *  @param limit default: everything after the cursor */
export function pageOf<T>(
  sorted: readonly T[],
  nameOf: (item: T) => string,
  { limit = sorted.length, cursor }: { limit?: number | undefined; cursor?: string | undefined },
): { page: T[]; next: string | undefined } {
  const rest = cursor === undefined ? sorted : sorted.filter((item) => nameOf(item) > cursor);
  const page = rest.slice(0, limit);
  return { page, next: rest.length > limit ? nameOf(page.at(-1) as T) : undefined };
}

/** A page of a list in memory, newest first: sorted by ID in descending order. */
export function pageOfNewest<T>(
  sorted: readonly T[],
  idOf: (item: T) => string,
  { limit = sorted.length, cursor }: { limit?: number | undefined; cursor?: string | undefined },
): { page: T[]; next: string | undefined } {
  const rest = cursor === undefined ? sorted : sorted.filter((item) => idOf(item) < cursor);
  const page = rest.slice(0, limit);
  return { page, next: rest.length > limit ? idOf(page.at(-1) as T) : undefined };
}

/** A page of a list in memory with its own order: a cursor is the number of entries before the page. */
export function pageFrom<T>(
  all: readonly T[],
  { limit = all.length, cursor = 0 }: { limit?: number | undefined; cursor?: number | undefined },
): { page: (readonly [at: number, item: T])[]; next: number | undefined } {
  const page = all.slice(cursor, cursor + limit).map((item, i) => [cursor + i + 1, item] as const);
  return { page, next: cursor + limit < all.length ? cursor + limit : undefined };
}

function decoded(text: string): unknown {
  try {
    return JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
  } catch {
    return undefined;
  }
}
