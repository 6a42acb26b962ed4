/** An answer that is a list. None is longer than two megabytes, whatever its items hold: a page ends before the item that would pass that,
 *  with the cursor of the next, and an item that is too large by itself goes without its large fields. */
import { z } from 'zod';
import { nextPage } from './pagination.ts';

export const LIST_MAX_BYTES = 2 * 1_048_576;
/** For what stands around the items: `data`, `metadata` and the cursor in it. */
const FRAME_BYTES = 2_048;
export const ROOM_BYTES = LIST_MAX_BYTES - FRAME_BYTES;

export const omittedField = {
  omitted: z
    .array(z.string())
    .optional()
    .meta({ description: 'Fields that are too large for a list; read this one by itself to have them' }),
};

export interface ListOptions<Row> {
  present(row: Row): object;
  /** Where the list goes on after this one; none: it is one page. */
  positionOf?(row: Row): unknown;
  /** Where it goes on after the last; undefined: nothing follows. */
  next?: unknown;
  /** Paths of fields that may be large, such as `event.data`: what an item can go without. */
  omittable?: readonly string[];
}

/** The items of a list, written: each is JSON. */
export class ListPage {
  readonly items: readonly string[];

  constructor(items: readonly string[]) {
    this.items = items;
  }

  /** @param metadata of the answer */
  toJson(metadata: object): string {
    return `{"data":[${this.items.join(',')}],"metadata":${JSON.stringify(metadata)}}`;
  }
}

/** As many of the rows as there is room for. */
export function listReply<Row>(
  rows: readonly Row[],
  { present, positionOf, next, omittable = [] }: ListOptions<Row>,
): { data: ListPage; metadata: { cursor?: string } } {
  const items: string[] = [];
  let bytes = 0;
  for (const [at, row] of rows.entries()) {
    const item = written(present(row), omittable);
    bytes += Buffer.byteLength(item) + 1;
    const before = rows[at - 1];
    if (bytes > ROOM_BYTES && before !== undefined && positionOf) {
      return { data: new ListPage(items), metadata: nextPage(positionOf(before)) };
    }
    items.push(item);
  }
  return { data: new ListPage(items), metadata: nextPage(next) };
}

/** How many of things of these sizes there is room for; one at least. */
export function fitting(sizes: readonly number[]): number {
  let bytes = 0;
  for (const [at, size] of sizes.entries()) {
    bytes += size;
    if (bytes > ROOM_BYTES) return Math.max(1, at);
  }
  return sizes.length;
}

function written(item: object, omittable: readonly string[]): string {
  const whole = stringified(item);
  if (whole !== undefined && Buffer.byteLength(whole) <= ROOM_BYTES) return whole;
  let lean: object = item;
  for (const [at, path] of omittable.entries()) {
    lean = { ...without(lean, path.split('.')), omitted: omittable.slice(0, at + 1) };
    const text = stringified(lean);
    if (text !== undefined && Buffer.byteLength(text) <= ROOM_BYTES) return text;
  }
  return JSON.stringify(lean);
}

/** undefined: it nests too deep to be written. */
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
