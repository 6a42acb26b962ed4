/** List responses of at most two megabytes. A page ends before the item that would exceed the limit. A single item
 *  above the limit is sent without its large fields. */
import type { MaybeIncomplete, StoppedEarly } from '../../history/merged-page.ts';
import { iso } from '../../model/values/time.ts';
import { nextPage, pageFrom, pageOf } from './list-query.ts';

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
