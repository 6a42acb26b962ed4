/** Which fields of events differ. Pure. */
import { stringifyExact } from '../../../lib/exact-json.ts';

const SHOWN_MAX = 20;

/** At most 20 paths such as `data.customer.id`. Lists are compared by position. */
export function changedFields(before: unknown, after: unknown): string[] {
  const found: string[] = [];
  compare(before, after, '', found);
  return found;
}

function compare(before: unknown, after: unknown, path: string, found: string[]): void {
  if (found.length >= SHOWN_MAX || isSame(before, after)) return;
  const [earlier, later] = [entriesOf(before), entriesOf(after)];
  if (!earlier || !later || Array.isArray(before) !== Array.isArray(after)) {
    found.push(path);
    return;
  }
  for (const key of new Set([...earlier.keys(), ...later.keys()])) {
    const inner = Array.isArray(before) ? `${path}[${key}]` : path === '' ? key : `${path}.${key}`;
    compare(earlier.get(key), later.get(key), inner, found);
  }
}

/** Numbers that JavaScript cannot represent are compared by their digits. */
function isSame(before: unknown, after: unknown): boolean {
  if (before === undefined || after === undefined) return before === after;
  return stringifyExact(before) === stringifyExact(after);
}

function entriesOf(value: unknown): Map<string, unknown> | undefined {
  const isContainer = Array.isArray(value) || (typeof value === 'object' && value?.constructor === Object);
  return isContainer ? new Map(Object.entries(value as object)) : undefined;
}
