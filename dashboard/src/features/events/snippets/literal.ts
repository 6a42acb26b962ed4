/** JSON values as literals of other languages, with all digits. */
import { ExactNumber } from '../../../lib/exact-json.ts';

export interface LiteralSyntax {
  null: string;
  true: string;
  false: string;
  /** Opening and closing tokens. */
  list: readonly [string, string];
  object: readonly [string, string];
  indent: string;
  /** A key with its colon. */
  key(name: string): string;
  /** A number that a double cannot hold. */
  exact(digits: string): string;
}

/** Multi-line and indented. Strings are JSON strings, which all of these languages accept. */
export function literal(value: unknown, syntax: LiteralSyntax, depth = 0): string {
  if (value === null || value === undefined) return syntax.null;
  if (typeof value === 'boolean') return value ? syntax.true : syntax.false;
  if (typeof value === 'number') return isExactDouble(value) ? String(value) : syntax.exact(String(value));
  if (value instanceof ExactNumber) return syntax.exact(value.source);
  if (typeof value !== 'object') return JSON.stringify(value);
  const entries = Array.isArray(value)
    ? value.map((entry) => literal(entry, syntax, depth + 1))
    : Object.entries(value).map(([name, entry]) => `${syntax.key(name)} ${literal(entry, syntax, depth + 1)}`);
  const [begin, end] = Array.isArray(value) ? syntax.list : syntax.object;
  if (entries.length === 0) return `${begin}${end}`;
  const inner = syntax.indent.repeat(depth + 1);
  return `${begin}\n${entries.map((entry) => `${inner}${entry},\n`).join('')}${syntax.indent.repeat(depth)}${end}`;
}

/** Digits only: 12345678901234567890, but not 1.5 or 1e400. */
export const isInteger = (digits: string): boolean => /^-?\d+$/.test(digits);

/** false for integers beyond 2^53. */
const isExactDouble = (value: number): boolean => !Number.isInteger(value) || Number.isSafeInteger(value);
