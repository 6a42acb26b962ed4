/** Bounds of expressions, checked before any evaluation. Each bound is far above real expressions, and small enough to make parsing
 *  cheap. */
import type { ASTNode } from '@marcbachmann/cel-js';

/** Enforced by cel-js. */
export const PARSER_LIMITS = {
  maxAstNodes: 500,
  maxDepth: 32,
  maxListElements: 100,
  maxMapEntries: 100,
  maxCallArguments: 8,
};

const MAX_LENGTH = 4_096;
/** Maximum nesting of `all`, `exists`, `exists_one`, `map` and `filter`. */
const MAX_LOOP_DEPTH = 3;
/** CEL integers have 64 bits; cel-js would compute with integers of any length. */
const MAX_INT = 2n ** 63n;

const LOOPS = new Set(['all', 'exists', 'exists_one', 'map', 'filter']);

const LIMIT_TEXTS: Record<string, string> = {
  maxAstNodes: 'operators, names and values',
  maxDepth: 'levels of parentheses, fields and calls',
  maxListElements: 'elements in a list',
  maxMapEntries: 'entries in a map',
  maxCallArguments: 'arguments in a call',
};

export function checkLength(source: string): void {
  if (source.length <= MAX_LENGTH) return;
  throw new Error(`the expression has ${source.length} characters; at most ${MAX_LENGTH} are allowed`);
}

/** Rewrites errors about parser limits; other errors lose only their source excerpt. */
export function readableError(error: unknown): Error {
  const summary = (error as Error).message.split('\n')[0] ?? '';
  const [, limit, max] = /^Exceeded (\w+) \((\d+)\)/.exec(summary) ?? [];
  if (!limit) return new Error(summary);
  return new Error(`the expression has more than ${max} ${LIMIT_TEXTS[limit] ?? limit}; at most ${max} are allowed`);
}

/** @throws Error with the value found and the value allowed */
export function checkBounds(node: ASTNode, loopDepth = 0): void {
  if (loopDepth > MAX_LOOP_DEPTH) {
    throw new Error(
      `the expression nests loops (all, exists, map, filter) deeper than ${MAX_LOOP_DEPTH} levels; at most ${MAX_LOOP_DEPTH} are allowed`,
    );
  }
  if (node.op === 'value' && typeof node.args === 'bigint' && node.args > MAX_INT) {
    throw new Error('the expression has an integer of more than 64 bits');
  }
  if (node.op !== 'rcall') {
    for (const part of partsOf(node)) checkBounds(part, loopDepth);
    return;
  }
  const [method, receiver, args] = node.args;
  if (method === 'bind')
    throw new Error('the expression uses cel.bind(), which is not supported; write the value where it is used');
  checkBounds(receiver, loopDepth);
  for (const arg of args) checkBounds(arg, loopDepth + (LOOPS.has(method) ? 1 : 0));
}

/** Child nodes. */
export function partsOf({ args }: Pick<ASTNode, 'args'>): ASTNode[] {
  if (isNode(args)) return [args];
  return Array.isArray(args) ? (args as unknown[]).flatMap(nodesIn) : [];
}

function nodesIn(part: unknown): ASTNode[] {
  if (isNode(part)) return [part];
  return Array.isArray(part) ? part.flatMap(nodesIn) : [];
}

function isNode(value: unknown): value is ASTNode {
  return typeof value === 'object' && value !== null && 'op' in value && 'args' in value;
}
