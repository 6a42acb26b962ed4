/** Converts any value to text for `+`. Apps concatenate fields of unknown type, and some compare the result with texts that Go produced,
 *  so lists and objects look as Go prints them. */
import { type Fuel, NOT_EVALUABLE } from './fuel.ts';

const NESTED_MAX = 32;

export function joinedText(a: unknown, b: unknown, fuel: Fuel): string {
  fuel.spendOnAll(a);
  fuel.spendOnAll(b);
  const [left, right] = [textOf(a), textOf(b)];
  fuel.spendOnText(left.length + right.length);
  return left + right;
}

function textOf(value: unknown): string {
  return value === null ? '' : nestedText(value, 0);
}

function nestedText(value: unknown, depth: number): string {
  if (depth > NESTED_MAX) throw NOT_EVALUABLE;
  if (value === null) return '<nil>';
  if (Array.isArray(value)) return `[${value.map((item) => nestedText(item, depth + 1)).join(' ')}]`;
  if (value instanceof Date) return value.toISOString();
  if (!isPlain(value)) return String(value);
  const fields = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `map[${fields.map(([name, item]) => `${name}:${nestedText(item, depth + 1)}`).join(' ')}]`;
}

/** True for JSON objects; false for objects of cel-js, such as durations. */
export function isPlain(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
