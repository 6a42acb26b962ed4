/** JSON values as other languages write them, digit by digit. */
import { ExactNumber } from '../../../lib/exact-json.ts';

export interface LiteralSyntax {
  null: string;
  true: string;
  false: string;
  /** Before and after the entries. */
  list: readonly [string, string];
  object: readonly [string, string];
  indent: string;
  /** A key of an object with its colon. */
  key(name: string): string;
  /** A number that a double cannot hold. */
  exact(digits: string): string;
}

/** Over several lines, each level further in. Strings are JSON's own, which all of these languages read alike. */
export function literal(value: unknown, how: LiteralSyntax, depth = 0): string {
  if (value === null || value === undefined) return how.null;
  if (typeof value === 'boolean') return value ? how.true : how.false;
  if (typeof value === 'number') return isExactDouble(value) ? String(value) : how.exact(String(value));
  if (value instanceof ExactNumber) return how.exact(value.source);
  if (typeof value !== 'object') return JSON.stringify(value);
  const entries = Array.isArray(value)
    ? value.map((entry) => literal(entry, how, depth + 1))
    : Object.entries(value).map(([name, entry]) => `${how.key(name)} ${literal(entry, how, depth + 1)}`);
  const [begin, end] = Array.isArray(value) ? how.list : how.object;
  if (entries.length === 0) return `${begin}${end}`;
  const inner = how.indent.repeat(depth + 1);
  return `${begin}\n${entries.map((entry) => `${inner}${entry},\n`).join('')}${how.indent.repeat(depth)}${end}`;
}

/** Such as 12345678901234567890, and not 1.5 or 1e400. */
export const isInteger = (digits: string): boolean => /^-?\d+$/.test(digits);

/** Whether a language with integers of 64 bits can hold it, if it is an integer. */
const isExactDouble = (value: number): boolean => !Number.isInteger(value) || Number.isSafeInteger(value);
