/** Comparisons between the two events of a wait. Two missing fields are never equal or ordered; only `!=` is met. Otherwise any event
 *  would end a wait for a field that the run's own event lacks. The rule also covers lists, maps and functions, which turn a missing
 *  field into another value: `"order-" + async.data.id in ["order-" + event.data.id]`. A loop variable that is `null` counts as missing. */
import type { ASTNode } from '@marcbachmann/cel-js';
import { partsOf } from './bounds.ts';
import type { CheckedNode, Evaluator } from './checked-node.ts';
import { NOT_EVALUABLE } from './fuel.ts';
import { isFieldPresent } from './json-fields.ts';

type Variable = 'event' | 'async';
/** The events that each loop variable comes from. */
type Loops = ReadonlyMap<string, ReadonlySet<Variable>>;
/** Two compared operands, each of which reads a different event. */
type Pair = readonly [CheckedNode, CheckedNode];

const EQUALITIES = new Set(['==', '!=']);
const ORDERS = new Set(['<', '<=', '>', '>=']);
const ARITHMETIC = new Set(['+', '-', '*', '/', '%']);
const NO_LOOPS: Loops = new Map();

/** Replaces the evaluation of comparisons between two events. */
export function distinguishMissing(ast: ASTNode): void {
  walk(ast as unknown as CheckedNode, NO_LOOPS);
}

function walk(node: CheckedNode, loops: Loops): void {
  if (EQUALITIES.has(node.op) || ORDERS.has(node.op)) compareValues(node, loops);
  else if (node.op === 'in') compareElements(node, loops);
  const inner = withLoopVariable(node, loops);
  for (const part of partsOf(node as never)) walk(part as never, inner);
}

function compareValues(node: CheckedNode, loops: Loops): void {
  const { left, right, handle } = node as Required<CheckedNode>;
  const pairs = pairsOf(left, right, loops);
  if (pairs.length === 0) return;
  node.evaluate = (evaluator, self, context) => {
    const [a, b] = [evaluator.run(left, context), evaluator.run(right, context)];
    if (!areMissing(pairs, evaluator, context)) return handle(a, b, self, evaluator);
    // Returning false would make the negation of an order true.
    if (ORDERS.has(node.op)) throw NOT_EVALUABLE;
    return node.op === '!=';
  };
}

function compareElements(node: CheckedNode, loops: Loops): void {
  const { left, right, handle } = node as Required<CheckedNode>;
  const elements = right.op === 'list' ? (right.args as CheckedNode[]) : undefined;
  const pairs = elements?.map((element) => pairsOf(left, element, loops)) ?? [];
  const isComputed = !elements && !isPath(right) && areOfDifferent(left, right, loops);
  if (!isComputed && pairs.every(({ length }) => length === 0)) return;
  node.evaluate = (evaluator, self, context) => {
    const [value, among] = [evaluator.run(left, context), evaluator.run(right, context)];
    if (!Array.isArray(among)) return handle(value, among, self, evaluator);
    const candidates = elements
      ? among.filter((_, at) => !areMissing(pairs[at] ?? [], evaluator, context))
      : isMissing(left, evaluator, context)
        ? among.filter((element) => element !== null)
        : among;
    return handle(value, candidates, self, evaluator);
  };
}

/** Lists and maps are compared element by element. */
function pairsOf(a: CheckedNode, b: CheckedNode, loops: Loops): Pair[] {
  if (a.op === 'list' && b.op === 'list') {
    const others = b.args as CheckedNode[];
    return (a.args as CheckedNode[]).flatMap((element, at) => {
      const other = others[at];
      return other ? pairsOf(element, other, loops) : [];
    });
  }
  if (a.op === 'map' && b.op === 'map') {
    const others = b.args as [CheckedNode, CheckedNode][];
    return (a.args as [CheckedNode, CheckedNode][]).flatMap(([key, value]) => {
      const other = others.find(([name]) => name.op === 'value' && name.args === key.args);
      return other ? pairsOf(value, other[1], loops) : [];
    });
  }
  return areOfDifferent(a, b, loops) ? [[a, b]] : [];
}

/** Whether one operand reads only the triggering event and the other only the received one. */
function areOfDifferent(a: CheckedNode, b: CheckedNode, loops: Loops): boolean {
  const [[first, ...more], [second, ...others]] = [[...eventsIn(a, loops)], [...eventsIn(b, loops)]];
  if (first === undefined || second === undefined || more.length + others.length > 0) return false;
  return first !== second;
}

function eventsIn(node: CheckedNode, loops: Loops, found = new Set<Variable>()): ReadonlySet<Variable> {
  if (node.op === 'id') {
    const name = node.args as string;
    const from = loops.get(name) ?? (name === 'event' || name === 'async' ? [name] : []);
    for (const variable of from) found.add(variable);
  }
  const inner = withLoopVariable(node, loops);
  for (const part of partsOf(node as never)) eventsIn(part as never, inner, found);
  return found;
}

/** A loop variable hides others of the same name. */
function withLoopVariable(node: CheckedNode, loops: Loops): Loops {
  if (node.op !== 'rcall' || !node.meta.alternate) return loops;
  const [, list, [variable]] = node.args as [string, CheckedNode, CheckedNode[]];
  return new Map(loops).set(variable?.args as string, eventsIn(list, loops));
}

function areMissing(pairs: readonly Pair[], evaluator: Evaluator, context: unknown): boolean {
  return pairs.some(([a, b]) => isMissing(a, evaluator, context) && isMissing(b, evaluator, context));
}

/** Whether the node's value only reflects that a field is missing. */
function isMissing(node: CheckedNode, evaluator: Evaluator, context: unknown): boolean {
  const { op, args } = node;
  if (op === 'call' || op === 'rcall') {
    if (node.meta.macro?.macroHasProps) return false;
    const [, first] = args as [string, CheckedNode | CheckedNode[]];
    const operand = Array.isArray(first) ? first[0] : first;
    if (operand !== undefined && isMissing(operand, evaluator, context)) return true;
  }
  if (op === '!_' || op === '-_') return isMissing(args as CheckedNode, evaluator, context);
  if (ARITHMETIC.has(op)) {
    const parts = (args as CheckedNode[]).filter(isVariable);
    return parts.length > 0 && parts.every((part) => isMissing(part, evaluator, context));
  }
  if (op === 'value' || evaluator.run(node, context) !== null) return false;
  return !isPath(node) || op === 'id' || !isPresent(node, evaluator, context);
}

/** Whether the path leads to an existing field, whose value may be `null`. */
function isPresent({ op, args }: CheckedNode, evaluator: Evaluator, context: unknown): boolean {
  const [parent, key] = args as [CheckedNode, unknown];
  const name = op === '.' ? key : evaluator.run(key as CheckedNode, context);
  return isFieldPresent(evaluator.run(parent, context), name);
}

/** Whether the node is a variable or one of its fields. */
function isPath(node: CheckedNode): boolean {
  let at = node;
  while (at.op === '.' || at.op === '[]') [at] = at.args as [CheckedNode];
  return at.op === 'id';
}

function isVariable(node: CheckedNode): boolean {
  return node.op === 'id' || partsOf(node as never).some((part) => isVariable(part as never));
}
