/** The values that an expression reads of an event, shortened for display. */
import { rawJson } from '../values/json.ts';
import type { Expression } from './expression.ts';
import { type Path, pathsIn, valueAt } from './paths.ts';

const READS_MAX = 10;
const VALUE_LENGTH = 200;
const IDENTIFIER = /^[A-Za-z_]\w*$/;

export interface Read {
  /** Path as written in the expression: `event.data.total`. */
  path: string;
  /** JSON; null also for a missing field. */
  value: unknown;
  /** True for a truncated text, and for a list or object too long to show. */
  shortened?: true;
}

/** @param event the event as expressions see it */
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
  return lengthOf(value, VALUE_LENGTH) > VALUE_LENGTH ? { value: null, shortened: true } : { value: toJson(value) };
}

/** Long integers of an event are bigints, which JSON.stringify rejects. */
function toJson(value: unknown): unknown {
  if (typeof value === 'bigint') return rawJson(String(value));
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(toJson);
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, toJson(inner)]));
}

/** Lower bound of the value's JSON length; stops counting above the maximum. */
function lengthOf(value: unknown, max: number): number {
  if (typeof value === 'string') return value.length;
  if (typeof value === 'bigint') return String(value).length;
  if (typeof value !== 'object' || value === null) return 1;
  let length = 2;
  const isList = Array.isArray(value);
  for (const key in value) {
    length += (isList ? 0 : key.length) + 1 + lengthOf((value as Record<string, unknown>)[key], max - length);
    if (length > max) break;
  }
  return length;
}
