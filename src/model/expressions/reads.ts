/** What an expression reads of an event, short enough to show. */
import type { Expression } from './expression.ts';
import { type Path, pathsIn, valueAt } from './paths.ts';

const READS_MAX = 10;
const VALUE_LENGTH = 200;
const IDENTIFIER = /^[A-Za-z_]\w*$/;

export interface Read {
  /** As in an expression: `event.data.total`. */
  path: string;
  /** JSON; null also for a field that is missing. */
  value: unknown;
  /** A text of which only the beginning is shown, or a list or an object that is not shown: too long. */
  shortened?: true;
}

/** @param event as expressions see it */
export function readsOf({ ast }: Expression, event: unknown): Read[] {
  const paths = new Map<string, Path>();
  for (const path of pathsIn(ast, 'event')) {
    if (path.length > 0) paths.set(textOf(path), path);
    if (paths.size === READS_MAX) break;
  }
  return [...paths].map(([text, path]) => ({ path: text, ...shortened(valueAt(event, path)) }));
}

function textOf(path: Path): string {
  return path.reduce(
    (text, name) => text + (IDENTIFIER.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`),
    'event',
  );
}

function shortened(value: unknown): Pick<Read, 'value' | 'shortened'> {
  if (typeof value === 'string' && value.length > VALUE_LENGTH) {
    return { value: `${value.slice(0, VALUE_LENGTH).toWellFormed()}…`, shortened: true };
  }
  return lengthOf(value, VALUE_LENGTH) > VALUE_LENGTH ? { value: null, shortened: true } : { value };
}

/** Lower bound of the value's length as JSON; stops counting above the maximum. */
function lengthOf(value: unknown, max: number): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 1;
  let length = 2;
  const isList = Array.isArray(value);
  for (const key in value) {
    length += (isList ? 0 : key.length) + 1 + lengthOf((value as Record<string, unknown>)[key], max - length);
    if (length > max) break;
  }
  return length;
}
