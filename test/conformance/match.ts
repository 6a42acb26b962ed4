/** Compares with the expectation of a case: placeholders, errors with a stack, lists of texts. */
import { expect } from 'chai';

export type Names = Record<string, string>;

const PLACEHOLDER = /\{\{(\w+)\}\}/g;
const SEED = '\\d{1,15},[A-Za-z0-9+/]{14}==';

/** Replaces known placeholders in the texts of the value. */
export function fill<T>(value: T, names: Names): T {
  if (typeof value === 'string') return value.replace(PLACEHOLDER, (whole, name) => names[name] ?? whole) as T;
  if (Array.isArray(value)) return value.map((entry) => fill(entry, names)) as T;
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, fill(entry, names)])) as T;
}

/** @param names receives `seed` when one appears */
export function expectMatch(actual: unknown, expected: unknown, names: Names = {}): void {
  expect(seen(actual, expected, names)).to.deep.equal(expected);
}

/** The actual value, with matching parts replaced by their expectation, so that a diff shows only differences. */
function seen(actual: unknown, expected: unknown, names: Names): unknown {
  if (expected === '{{timing}}') return isTiming(actual) ? expected : actual;
  if (typeof expected === 'string') return matches(actual, expected, names) ? expected : actual;
  if (Array.isArray(actual))
    return actual.map((entry, n) => seen(entry, (expected as unknown[] | undefined)?.[n], names));
  if (!isObject(actual) || !isObject(expected)) return actual;
  const fields = Object.entries(actual).filter(([key, value]) => !isFreeStack(key, value, expected));
  return Object.fromEntries(
    fields.map(([key, value]) => [
      key,
      hasWords(key, value, expected, names) ? expected[key] : seen(value, expected[key], names),
    ]),
  );
}

function isTiming(actual: unknown): boolean {
  if (!isObject(actual) || Object.keys(actual).join() !== 'a,b') return false;
  return Object.values(actual).every((nanoseconds) => Number.isInteger(nanoseconds) && Number(nanoseconds) >= 0);
}

function matches(actual: unknown, expected: string, names: Names): boolean {
  if (typeof actual !== 'string') return false;
  const filled = fill(expected, names);
  const found = new RegExp(`^${patternOf(filled)}$`, 's').exec(actual);
  if (found?.groups?.seed) names.seed = found.groups.seed;
  return found !== null;
}

function patternOf(text: string): string {
  const parts = text.split(PLACEHOLDER);
  return parts
    .map((part, n) => (n % 2 === 0 ? part.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&') : placeholder(part)))
    .join('');
}

function placeholder(name: string): string {
  if (name === 'any') return '.+';
  if (name === 'seed') return `(?<seed>${SEED})`;
  throw new Error(`The case has a placeholder that is not known here: ${name}`);
}

/** The stack of an error and its source, which contain local paths. */
function isFreeStack(key: string, value: unknown, expected: object): boolean {
  if (!('message' in expected) || key in expected) return false;
  return (key === 'stack' && typeof value === 'string') || (key === 'source' && typeof value === 'object');
}

function hasWords(key: string, value: unknown, expected: Record<string, unknown>, names: Names): boolean {
  const words = expected[key];
  return key === 'message' && typeof value === 'string' && Array.isArray(words) && holds(value, fill(words, names));
}

export function holds(message: string, words: readonly string[]): boolean {
  return words.every((word) => message.includes(word));
}

function isObject(value: unknown): value is Record<string, unknown> {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}

/** The headers that a case names, and the headers that must be absent otherwise. */
export function expectHeaders(
  actual: Record<string, unknown>,
  expected: Record<string, string>,
  absent: readonly string[],
  names: Names,
): void {
  const wished = [...Object.keys(expected), ...absent];
  const relevant = Object.entries(actual).filter(([name]) => wished.includes(name));
  expectMatch(Object.fromEntries(relevant), expected, names);
}
