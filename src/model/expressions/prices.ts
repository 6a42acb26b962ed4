/** What each node of an expression pays for what it does to data, before it does it. That it is run at all is paid for in language.ts. */
import { partsOf } from './bounds.ts';
import { type Fuel, NOT_EVALUABLE } from './fuel.ts';
import { compilePattern } from './pattern.ts';

/** Units of a call, beside what it does to data. */
const UNITS_OF_CALL = 5;
/** Of those that read a text into something else. */
const UNITS_OF_READING: Record<string, number> = { duration: 150, timestamp: 30, json: 50 };
/** Of reading a date in a time zone: a formatter is made each time. */
const UNITS_OF_TIME_ZONE = 5_000;
/** `duration()` reads its text in a time that grows with the cube of its length. */
const MAX_DURATION = 64;
/** Functions that may compare all of one text with each part of another. */
const SEARCHES = new Set(['contains', 'indexOf', 'lastIndexOf', 'split']);

type Handle = (...args: unknown[]) => unknown;

/** As cel-js's type checker leaves it; `handle` is given the values of its operands. */
export interface CheckedNode {
  op: string;
  args: unknown;
  handle?: Handle;
  meta: { alternate?: CheckedNode };
  evaluate(evaluator: unknown, node: CheckedNode, context: unknown): unknown;
}

/** Has each node pay for what it does to data before it does it. */
export function meter(node: CheckedNode, fuel: Fuel, seen = new Set<CheckedNode>()): void {
  if (seen.has(node)) return;
  seen.add(node);
  const { handle } = node;
  if (handle) node.handle = paid(node, handle, fuel);
  if (node.meta.alternate) meter(node.meta.alternate, fuel, seen);
  const parts =
    node.op === 'comprehension' ? Object.values(node.args as object).filter(isNode) : partsOf(node as never);
  for (const part of parts) meter(part as CheckedNode, fuel, seen);
}

function isNode(value: unknown): value is CheckedNode {
  return typeof value === 'object' && value !== null && 'op' in value && 'evaluate' in value;
}

function paid(node: CheckedNode, handle: Handle, fuel: Fuel): Handle {
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
    case '+':
    case '<':
    case '<=':
    case '>':
    case '>=':
      return (a, b, ...rest) => {
        if (typeof a === 'string' && typeof b === 'string') fuel.spendOnText(a.length + b.length);
        else if (typeof a === 'object' && typeof b === 'object') {
          fuel.spendOnValue(a);
          fuel.spendOnValue(b);
        }
        return handle(a, b, ...rest);
      };
    case 'comprehension':
      return (items, ...rest) => {
        // Of a list each element is paid for when its turn comes; of an object all keys are read first.
        if (!Array.isArray(items)) fuel.spendOnElements(items);
        return handle(items, ...rest);
      };
    case 'call': {
      const [name] = node.args as [string];
      return (args, ...rest) => {
        payCall(name, args as unknown[], fuel);
        return handle(args, ...rest);
      };
    }
    case 'rcall': {
      const [name, , parts] = node.args as [string, CheckedNode, CheckedNode[]];
      if (name === 'matches') return matching(parts[0], fuel);
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

/** @param args the receiver, too, if the function has one */
function payCall(name: string, args: readonly unknown[], fuel: Fuel): void {
  if (name === 'type' || name === 'dyn' || (name === 'size' && Array.isArray(args[0]))) return;
  fuel.spend(UNITS_OF_READING[name] ?? UNITS_OF_CALL);
  for (const arg of args) fuel.spendOnValue(arg);
  const [text, other] = args;
  if (text instanceof Uint8Array && name === 'json') fuel.spend(text.length);
  if (typeof text !== 'string') {
    if (name === 'join') payJoin(text, other, fuel);
    if (name.startsWith('get') && typeof other === 'string') fuel.spend(UNITS_OF_TIME_ZONE);
    return;
  }
  if (name === 'duration' && text.length > MAX_DURATION) throw NOT_EVALUABLE;
  // Searching may compare all of the one with each part of the other.
  if (SEARCHES.has(name) && typeof other === 'string') fuel.spend((text.length * other.length) / 64);
  // Each part is a text of its own; each character is counted by itself.
  if (name === 'split') fuel.spend(text.length);
  if (name === 'size') fuel.spendOnText(text.length);
}

function payJoin(parts: unknown, separator: unknown, fuel: Fuel): void {
  if (!Array.isArray(parts)) return;
  let length = typeof separator === 'string' ? separator.length * parts.length : 0;
  for (const part of parts) if (typeof part === 'string') length += part.length;
  fuel.spendOnText(length);
}

/** In place of cel-js's own, which hands the pattern to RegExp. */
function matching(pattern: CheckedNode | undefined, fuel: Fuel): Handle {
  if (pattern?.op !== 'value' || typeof pattern.args !== 'string') {
    throw new Error('matches() takes a pattern that is written in the expression, as in matches("^A[0-9]+$")');
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
