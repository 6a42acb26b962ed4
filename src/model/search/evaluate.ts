/** Evaluates searches over stored events and runs: fast, since it sees every candidate, and total: a field that is missing, or has another type,
 *  makes a comparison false. */
import { isJsonObject } from '../values/json.ts';
import type { Comparison, Literal, Path, SearchNode } from './syntax.ts';

/** Reads a variable; undefined if it has no value. */
export type ReadVariable = (name: string) => unknown;

export type Matcher = (read: ReadVariable) => boolean;

export function matcherOf(node: SearchNode): Matcher {
  switch (node.kind) {
    case 'constant':
      return () => node.value;
    case 'and': {
      const parts = node.parts.map(matcherOf);
      return (read) => parts.every((part) => part(read));
    }
    case 'or': {
      const parts = node.parts.map(matcherOf);
      return (read) => parts.some((part) => part(read));
    }
    case 'not': {
      const part = matcherOf(node.part);
      return (read) => !part(read);
    }
    case 'compare': {
      const { path, literal } = node;
      const isMet = COMPARISONS[node.comparison];
      return (read) => isMet(valueAt(read, path), literal);
    }
    case 'comparePaths': {
      const { left, right } = node;
      const isMet = COMPARISONS[node.comparison];
      return (read) => isMet(valueAt(read, left), valueAt(read, right));
    }
    case 'has':
      return (read) => valueAt(read, node.path) !== undefined;
    case 'text': {
      const { path, test, ignoreCase } = node;
      const text = ignoreCase ? node.text.toLowerCase() : node.text;
      return (read) => {
        const found = valueAt(read, path);
        if (typeof found !== 'string') return false;
        const value = ignoreCase ? found.toLowerCase() : found;
        if (test === 'contains') return value.includes(text);
        return test === 'startsWith' ? value.startsWith(text) : value.endsWith(text);
      };
    }
    case 'in': {
      const literals = new Set<unknown>(node.literals);
      return (read) => literals.has(valueAt(read, node.path));
    }
    case 'element':
      return (read) => {
        const list = valueAt(read, node.path);
        return Array.isArray(list) && list.some((element) => scalarOf(element) === node.literal);
      };
  }
}

const COMPARISONS: Record<Comparison, (a: unknown, b: unknown) => boolean> = {
  '==': (a, b) => a === b && isScalar(a),
  '!=': (a, b) => a !== undefined && b !== undefined && !(a === b && isScalar(a)),
  '<': ordered((a, b) => a < b),
  '<=': ordered((a, b) => a <= b),
  '>': ordered((a, b) => a > b),
  '>=': ordered((a, b) => a >= b),
};

function isScalar(value: unknown): value is Literal {
  return value === null || (typeof value !== 'object' && value !== undefined);
}

/** Texts are ordered by their UTF-16 units. */
function ordered(isMet: (a: number, b: number) => boolean): (a: unknown, b: unknown) => boolean {
  return (a, b) =>
    ((typeof a === 'number' && typeof b === 'number') || (typeof a === 'string' && typeof b === 'string')) &&
    isMet(a as number, b as number);
}

function valueAt(read: ReadVariable, { variable, keys }: Path): unknown {
  let value = read(variable);
  for (const key of keys) {
    if (typeof key === 'number') value = Array.isArray(value) ? value[key] : undefined;
    else value = isJsonObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
    if (value === undefined) return undefined;
  }
  return scalarOf(value);
}

/** A number stored with every digit (values/exact-json.ts) counts as the nearest double, as in functions. */
function scalarOf(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== null) return value;
  return typeof (value as { rawJSON?: unknown }).rawJSON === 'string'
    ? Number((value as { rawJSON: string }).rawJSON)
    : value;
}
