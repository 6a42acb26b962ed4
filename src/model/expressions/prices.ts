/** Prices: makes each node of an expression spend fuel for its operations on data, before it executes them. language.ts charges for
 *  the evaluation of the node itself. */
import { partsOf } from './bounds.ts';
import type { CheckedNode, Handle } from './checked-node.ts';
import { type Fuel, NOT_EVALUABLE } from './fuel.ts';
import { toDouble, withDoubles } from './long-integers.ts';
import { tolerateConditions, tolerateMissing } from './missing-values.ts';
import { compilePattern } from './pattern.ts';

/** Base price of a call. */
const UNITS_OF_CALL = 5;
/** Base price of calls that parse text. */
const UNITS_OF_PARSING: Record<string, number> = {
  duration: 150,
  timestamp: 30,
  json: 50,
  date: 30,
  json_parse: 50,
  now_minus: 30,
  now_plus: 30,
};
/** Price of reading a date in a time zone, which creates a formatter. */
const UNITS_OF_TIME_ZONE = 5_000;
/** `duration()` takes cubic time in the length of its text. */
const MAX_DURATION = 64;
/** Functions whose time can grow with the product of two lengths. */
const SEARCHES = new Set(['contains', 'indexOf', 'lastIndexOf', 'split']);

/** Wraps the handles of a node and its children. */
export function meter(node: CheckedNode, fuel: Fuel, seen = new Set<CheckedNode>()): void {
  if (seen.has(node)) return;
  seen.add(node);
  const { handle } = node;
  if (handle) node.handle = tolerateMissing(node, metered(node, handle, fuel), fuel);
  tolerateConditions(node);
  if (node.meta.alternate) meter(node.meta.alternate, fuel, seen);
  const parts =
    node.op === 'comprehension' ? Object.values(node.args as object).filter(isNode) : partsOf(node as never);
  for (const part of parts) meter(part as CheckedNode, fuel, seen);
}

function isNode(value: unknown): value is CheckedNode {
  return typeof value === 'object' && value !== null && 'op' in value && 'evaluate' in value;
}

function metered(node: CheckedNode, handle: Handle, fuel: Fuel): Handle {
  switch (node.op) {
    case '==':
    case '!=':
      return (a, b, ...rest) => {
        payComparison(a, b, fuel);
        return handle(a, b, ...rest);
      };
    case 'in':
      return (value, among, ...rest) => {
        if (Array.isArray(among)) {
          fuel.spendOnAll(among);
          fuel.spend(among.length * fuel.spendOnAll(value));
        }
        return handle(value, among, ...rest);
      };
    case '-':
    case '*':
    case '/':
    case '%':
      return withDoubles(node, handle);
    case '+': {
      const add = withDoubles(node, handle);
      return (a, b, ...rest) => {
        payOrder(a, b, fuel);
        return add(a, b, ...rest);
      };
    }
    case '<':
    case '<=':
    case '>':
    case '>=':
      return (a, b, ...rest) => {
        payOrder(a, b, fuel);
        return handle(a, b, ...rest);
      };
    case 'comprehension':
      return (items, ...rest) => {
        // List elements are charged one by one; all keys of an object are read first.
        if (!Array.isArray(items)) fuel.spendOnElements(items);
        return handle(items, ...rest);
      };
    case 'call': {
      const [name] = node.args as [string];
      if (name === 'type') return (args, ...rest) => handle((args as unknown[]).map(toDouble), ...rest);
      return (args, ...rest) => {
        payCall(name, args as unknown[], fuel);
        return handle(args, ...rest);
      };
    }
    case 'rcall': {
      const [name, , parts] = node.args as [string, CheckedNode, CheckedNode[]];
      if (name === 'matches') return matchesHandle(parts[0], fuel);
      return (args, ...rest) => {
        payCall(name, args as unknown[], fuel);
        return handle(args, ...rest);
      };
    }
    default:
      return handle;
  }
}

function payComparison(a: unknown, b: unknown, fuel: Fuel): void {
  if (typeof a === 'string' && typeof b === 'string') {
    if (a.length === b.length) fuel.spendOnText(a.length);
  } else if (typeof a === 'object' && typeof b === 'object' && a !== null && b !== null) {
    fuel.spendOnAll(a);
    fuel.spendOnAll(b);
  }
}

function payOrder(a: unknown, b: unknown, fuel: Fuel): void {
  if (typeof a === 'string' && typeof b === 'string') fuel.spendOnText(a.length + b.length);
  else if (typeof a === 'object' && typeof b === 'object') {
    fuel.spendOnValue(a);
    fuel.spendOnValue(b);
  }
}

/** @param args include the receiver, if there is one */
function payCall(name: string, args: readonly unknown[], fuel: Fuel): void {
  if (name === 'type' || name === 'dyn' || (name === 'size' && Array.isArray(args[0]))) return;
  fuel.spend(UNITS_OF_PARSING[name] ?? UNITS_OF_CALL);
  for (const arg of args) fuel.spendOnValue(arg);
  const [text, other] = args;
  if (text instanceof Uint8Array && name === 'json') fuel.spend(text.length);
  if (typeof text !== 'string') {
    if (name === 'join') payJoin(text, other, fuel);
    if (name.startsWith('get') && typeof other === 'string') fuel.spend(UNITS_OF_TIME_ZONE);
    return;
  }
  if (name === 'duration' && text.length > MAX_DURATION) throw NOT_EVALUABLE;
  // Charges for the worst case of the search.
  // The parsed value is several times as large as its text.
  if (name === 'json_parse') fuel.spend(text.length);
  if (SEARCHES.has(name) && typeof other === 'string') fuel.spend((text.length * other.length) / 64);
  // Each part becomes a separate text.
  if (name === 'split') fuel.spend(text.length);
  if (name === 'size') fuel.spendOnText(text.length);
}

function payJoin(parts: unknown, separator: unknown, fuel: Fuel): void {
  if (!Array.isArray(parts)) return;
  let length = typeof separator === 'string' ? separator.length * parts.length : 0;
  for (const part of parts) if (typeof part === 'string') length += part.length;
  fuel.spendOnText(length);
}

/** Replaces cel-js's own, which uses RegExp. */
function matchesHandle(pattern: CheckedNode | undefined, fuel: Fuel): Handle {
  if (pattern?.op !== 'value' || typeof pattern.args !== 'string') {
    throw new Error('matches() expects a literal pattern, as in matches("^A[0-9]+$")');
  }
  const { matches, unitsPerCharacter } = compilePattern(pattern.args);
  return (args) => {
    const [text] = args as unknown[];
    if (typeof text !== 'string') throw NOT_EVALUABLE;
    fuel.spendOnText(text.length);
    fuel.spend(text.length * unitsPerCharacter);
    return matches(text);
  };
}
