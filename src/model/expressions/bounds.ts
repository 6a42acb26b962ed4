/** What an expression may be, before any event is there to judge by it. Each bound is far beyond what people write, and small enough
 *  that reading the expression costs next to nothing. */
import type { ASTNode } from '@marcbachmann/cel-js';

/** cel-js counts what it parses. */
export const PARSER_LIMITS = {
  maxAstNodes: 500,
  maxDepth: 32,
  maxListElements: 100,
  maxMapEntries: 100,
  maxCallArguments: 8,
};

const MAX_LENGTH = 4_096;
/** Lists within lists within lists: `all`, `exists`, `exists_one`, `map`, `filter`. */
const MAX_LOOP_DEPTH = 3;
/** Whole numbers have 64 bits; a longer one would be reckoned with at its full length. */
const MAX_INT = 2n ** 63n;

const LOOPS = new Set(['all', 'exists', 'exists_one', 'map', 'filter']);

const LIMIT_WORDS: Record<string, string> = {
  maxAstNodes: 'operators, names and values',
  maxDepth: 'levels of parentheses, fields and calls',
  maxListElements: 'elements in a list',
  maxMapEntries: 'entries in a map',
  maxCallArguments: 'arguments in a call',
};

export function refuseLong(source: string): void {
  if (source.length <= MAX_LENGTH) return;
  throw new Error(`the expression has ${source.length} characters; at most ${MAX_LENGTH} are allowed`);
}

/** A parser's limit, in people's words; other errors as they are, without the excerpt that follows. */
export function inWords(error: unknown): Error {
  const summary = (error as Error).message.split('\n')[0] ?? '';
  const [, limit, most] = /^Exceeded (\w+) \((\d+)\)/.exec(summary) ?? [];
  if (!limit) return new Error(summary);
  return new Error(`the expression has more than ${most} ${LIMIT_WORDS[limit] ?? limit}; at most ${most} are allowed`);
}

/** @throws Error that says what was found and what is allowed */
export function refuseExcess(node: ASTNode, loopDepth = 0): void {
  if (loopDepth > MAX_LOOP_DEPTH) {
    throw new Error(
      `the expression nests loops (all, exists, map, filter) deeper than ${MAX_LOOP_DEPTH} levels; at most ${MAX_LOOP_DEPTH} are allowed`,
    );
  }
  if (node.op === 'value' && typeof node.args === 'bigint' && node.args > MAX_INT) {
    throw new Error('the expression has a whole number of more than 64 bits');
  }
  if (node.op !== 'rcall') {
    for (const part of partsOf(node)) refuseExcess(part, loopDepth);
    return;
  }
  const [method, receiver, args] = node.args;
  if (method === 'bind')
    throw new Error('the expression uses cel.bind(), which is not supported; write the value where it is used');
  refuseExcess(receiver, loopDepth);
  for (const arg of args) refuseExcess(arg, loopDepth + (LOOPS.has(method) ? 1 : 0));
}

/** The nodes that the node is made of. */
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
