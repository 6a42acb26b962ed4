/** Missing values. Events are untyped JSON, so expressions over them succeed where they can: a missing field is `null`; `null` sorts
 *  before every other value; any value can be appended to a text; `&&`, `||`, `!` and `? :` take any value as a condition. cel-js has
 *  errors in these places. The wait index relies on the same rules (runs/wait-index.ts). Comparisons between the two events of a wait are
 *  stricter (event-comparisons.ts). */
import { isJsonObject } from '../values/json.ts';
import type { CheckedNode, Evaluator, Handle } from './checked-node.ts';
import type { Fuel } from './fuel.ts';
import { presentField } from './json-fields.ts';
import { isPlain, joinedText } from './text-of.ts';

type Order = '<' | '<=' | '>' | '>=';

/** Methods that return false when an operand is missing. */
const PREDICATES = new Set(['contains', 'startsWith', 'endsWith', 'matches']);
/** Functions that distinguish missing values. */
const TAKES_NULL = new Set(['type', 'dyn']);

export function tolerateMissing(node: CheckedNode, handle: Handle, fuel: Fuel): Handle {
  switch (node.op) {
    case '.':
    case '[]':
      return (value, key, ...rest) => (isJson(value) ? fieldOf(value, key) : handle(value, key, ...rest));
    case '<':
    case '<=':
    case '>':
    case '>=': {
      const order = node.op;
      return (a, b, ...rest) => {
        if (a === null || b === null) return isOrdered(Number(a !== null), order, Number(b !== null));
        if (isTimeAndNumber(a, b) || isTimeAndNumber(b, a)) return isOrdered(Number(a), order, Number(b));
        return handle(a, b, ...rest);
      };
    }
    case '+':
      return (a, b, ...rest) =>
        typeof a === typeof b || (typeof a !== 'string' && typeof b !== 'string')
          ? handle(a, b, ...rest)
          : joinedText(a, b, fuel);
    case 'in':
      return (value, among, ...rest) => (among === null ? false : handle(value, among, ...rest));
    case '!_':
      return (value) => !isTrue(value);
    case '?:':
      return (condition, evaluator, self, context) => {
        const { left, right } = self as CheckedNode;
        return (evaluator as Evaluator).run((isTrue(condition) ? left : right) as CheckedNode, context);
      };
    case 'comprehension': {
      const { kind } = node.args as { kind?: string };
      return (items, ...rest) => (items === null ? (kind === 'quantifier' ? false : null) : handle(items, ...rest));
    }
    case 'call':
    case 'rcall': {
      const [name] = node.args as [string];
      if (TAKES_NULL.has(name)) return handle;
      const missing = PREDICATES.has(name) ? false : name === 'size' ? 0n : name === 'string' ? '' : null;
      return (args, ...rest) => {
        const [first, second] = args as unknown[];
        const isMissing = first === null || (missing === false && second === null);
        return isMissing ? missing : handle(args, ...rest);
      };
    }
    default:
      return handle;
  }
}

/** Replaces the evaluation of nodes that have no handle: logical operators and `has()`. */
export function tolerateConditions(node: CheckedNode): void {
  if (node.op === '&&') node.evaluate = (evaluator, self, context) => logical(evaluator, self, context, false);
  else if (node.op === '||') node.evaluate = (evaluator, self, context) => logical(evaluator, self, context, true);
  else if (node.meta.macro?.macroHasProps) node.evaluate = has;
}

/** Everything is true except `null`, `false`, 0, NaN and the empty text. */
function isTrue(value: unknown): boolean {
  return Boolean(value);
}

/** Returns the first operand if it decides, else the second. An operand that cannot be evaluated counts only if the
 *  other operand does not decide.
 *  @param deciding the value that decides: true for `||`, false for `&&` */
function logical(evaluator: Evaluator, node: CheckedNode, context: unknown, deciding: boolean): unknown {
  const left = evaluator.tryEval(node.left as CheckedNode, context);
  const failed = left instanceof Error;
  if (!failed && isTrue(left) === deciding) return left;
  const right = evaluator.run(node.right as CheckedNode, context);
  if (failed && isTrue(right) !== deciding) throw left;
  return right;
}

function has(evaluator: Evaluator, node: CheckedNode, context: unknown): boolean {
  // The path from the outermost field to the variable.
  const [variable, ...fields] = (node.meta.macro?.macroHasProps ?? []).toReversed();
  let value = evaluator.run(variable as CheckedNode, context);
  for (const field of fields) {
    const name = (field.args as [unknown, string])[1];
    if (!isJsonObject(value) || !Object.hasOwn(value, name)) return false;
    value = value[name];
  }
  return true;
}

function isJson(value: unknown): boolean {
  return typeof value !== 'object' || value === null || Array.isArray(value) || isPlain(value);
}

function fieldOf(value: unknown, key: unknown): unknown {
  return presentField(value, key) ?? null;
}

/** A number compared with a time is milliseconds, like `ts` of events. */
function isTimeAndNumber(a: unknown, b: unknown): boolean {
  return a instanceof Date && (typeof b === 'number' || typeof b === 'bigint');
}

function isOrdered(a: number, order: Order, b: number): boolean {
  switch (order) {
    case '<':
      return a < b;
    case '<=':
      return a <= b;
    case '>':
      return a > b;
    case '>=':
      return a >= b;
  }
}
