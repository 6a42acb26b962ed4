/** Lists. Every list takes `limit` and `cursor`, and returns the cursor of the next page in `metadata.cursor`. A response has at most two megabytes:
 *  a page ends before the item that would exceed the limit, and a single item above the limit is sent without its large fields. */
import { z } from 'zod';
import type { MaybeIncomplete, StoppedEarly } from '../../history/merged-page.ts';
import { ID_PATTERN } from '../../model/ids.ts';
import { closestName } from '../../model/values/closest-name.ts';
import { describe, tryParseJson } from '../../model/values/json.ts';
import { iso } from '../../model/values/time.ts';

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

/** Parameters of a list in memory: a page has as many items as fit into a response, unless the request limits it. */
export function longPageQuery<Position>(position: z.ZodType<Position>) {
  return { limit: longPageLimit, ...cursorQuery(position) };
}

/** Parameters of a list with its own limit. */
export function cursorQuery<Position>(position: z.ZodType<Position>) {
  return {
    cursor: z
      .string()
      .transform((text, context): Position => {
        const decoded = () => tryParseJson(Buffer.from(text, 'base64url').toString('utf8'));
        const { success, data } = position.safeParse(ID_PATTERN.test(text) ? { id: text } : decoded());
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
  isAfter = (name: string, last: string) => name > last,
): { page: T[]; next: string | undefined } {
  const rest = cursor === undefined ? sorted : sorted.filter((item) => isAfter(nameOf(item), cursor));
  const page = rest.slice(0, limit);
  return { page, next: rest.length > limit ? nameOf(page.at(-1) as T) : undefined };
}

/** A page of a list in memory, newest first: sorted by ID in descending order. */
export function pageOfNewest<T>(sorted: readonly T[], idOf: (item: T) => string, query: Parameters<typeof pageOf>[2]) {
  return pageOf(sorted, idOf, query, (id, last) => id < last);
}

/** A page of a list in memory with its own order: a cursor is the number of entries before the page. */
export function pageFrom<T>(
  all: readonly T[],
  { limit = all.length, cursor = 0 }: { limit?: number | undefined; cursor?: number | undefined },
): { page: (readonly [at: number, item: T])[]; next: number | undefined } {
  const page = all.slice(cursor, cursor + limit).map((item, i) => [cursor + i + 1, item] as const);
  return { page, next: cursor + limit < all.length ? cursor + limit : undefined };
}

const LIST_MAX_BYTES = 2 * 1_048_576;
/** Room for `metadata` and its cursor. */
const ENVELOPE_BYTES = 2_048;
export const ITEMS_MAX_BYTES = LIST_MAX_BYTES - ENVELOPE_BYTES;

/** For the metadata. */
export function earlyStop({ stoppedEarly }: MaybeIncomplete): { stopped_early?: StoppedEarly } {
  return stoppedEarly ? { stopped_early: stoppedEarly } : {};
}

export interface ListOptions<Row> {
  present(row: Row): object;
  /** Position after this row; absent if the list has only one page. */
  positionOf?(row: Row): unknown;
  /** Position after the last row; undefined: this is the last page. */
  next?: unknown;
  stoppedEarly?: StoppedEarly | undefined;
  /** Paths of large fields that may be omitted, such as `event.data`. */
  omittable?: readonly string[];
}

/** The items of a list as JSON texts. */
export class ListPage {
  readonly items: readonly string[];

  constructor(items: readonly string[]) {
    this.items = items;
  }

  toJson(metadata: object): string {
    return `{"data":[${this.items.join(',')}],"metadata":${JSON.stringify(metadata)}}`;
  }
}

/** The first rows that fit into a response. */
export function listReply<Row>(
  rows: readonly Row[],
  { present, positionOf, next, stoppedEarly, omittable = [] }: ListOptions<Row>,
): { data: ListPage; metadata: { cursor?: string; stopped_early?: StoppedEarly; stopped_at?: string } } {
  const items: string[] = [];
  let bytes = 0;
  for (const [at, row] of rows.entries()) {
    const item = serialize(present(row), omittable);
    bytes += Buffer.byteLength(item) + 1;
    const before = rows[at - 1];
    if (bytes > ITEMS_MAX_BYTES && before !== undefined && positionOf) {
      const last = positionOf(before);
      return { data: new ListPage(items), metadata: { ...nextPage(last), ...stopMetadata(stoppedEarly, last) } };
    }
    items.push(item);
  }
  return { data: new ListPage(items), metadata: { ...nextPage(next), ...stopMetadata(stoppedEarly, next) } };
}

/** A page of a list in memory, sorted by a field. */
export function sortedReply<Name extends string, Row extends Record<Name, string>>(
  sorted: readonly Row[],
  name: Name,
  query: Parameters<typeof pageOf>[2],
  present: ListOptions<Row>['present'],
  omittable?: readonly string[],
) {
  const positionOf = (row: Row) => row[name];
  const { page, next } = pageOf(sorted, positionOf, query);
  return listReply(page, { present, positionOf, next, ...(omittable && { omittable }) });
}

/** A page of a list in memory with its own order. */
export function countedReply<Row>(
  all: readonly Row[],
  query: Parameters<typeof pageFrom>[1],
  present: ListOptions<Row>['present'],
) {
  const { page, next } = pageFrom(all, query);
  return listReply(page, { present: ([, row]) => present(row), positionOf: ([at]) => at, next });
}

/** The metadata of a list that stopped early. @param last position at which the list stopped */
export function stopMetadata(stoppedEarly: StoppedEarly | undefined, last: unknown) {
  const { at } = (last ?? {}) as { at?: unknown };
  const isKnown = stoppedEarly !== undefined && typeof at === 'number';
  return { ...earlyStop({ stoppedEarly }), ...(isKnown && { stopped_at: iso(at) }) };
}

/** Number of items of these sizes that fit into a response; at least one. */
export function countThatFits(sizes: readonly number[]): number {
  let bytes = 0;
  for (const [at, size] of sizes.entries()) {
    bytes += size;
    if (bytes > ITEMS_MAX_BYTES) return Math.max(1, at);
  }
  return sizes.length;
}

function serialize(item: object, omittable: readonly string[]): string {
  const whole = stringified(item);
  if (whole !== undefined && Buffer.byteLength(whole) <= ITEMS_MAX_BYTES) return whole;
  let reduced: object = item;
  for (const [at, path] of omittable.entries()) {
    reduced = { ...without(reduced, path.split('.')), omitted: omittable.slice(0, at + 1) };
    const text = stringified(reduced);
    if (text !== undefined && Buffer.byteLength(text) <= ITEMS_MAX_BYTES) return text;
  }
  return JSON.stringify(reduced);
}

/** The JSON text of an item; undefined if the item is nested too deeply. */
function stringified(item: object): string | undefined {
  try {
    return JSON.stringify(item);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function without(item: object, [name, ...rest]: string[]): object {
  if (name === undefined || !(name in item)) return item;
  const { [name]: value, ...others } = item as Record<string, unknown>;
  if (rest.length === 0 || typeof value !== 'object' || value === null) return others;
  return { ...item, [name]: without(value, rest) };
}
