/** Parses searches, a subset of CEL, with cel-js's parser. Syntax outside the subset is rejected with its position and an alternative. */
import { type ASTNode, Environment } from '@marcbachmann/cel-js';
import { closest, distance } from 'fastest-levenshtein';
import { SearchError } from './search-error.ts';
import {
  type Comparison,
  EVENT_PREFIX,
  type Literal,
  ORDERS,
  type Order,
  type Path,
  type SearchKind,
  type SearchNode,
  TEXT_TESTS,
  type TextTest,
  VARIABLES,
  type VariableType,
} from './syntax.ts';

export const LENGTH_MAX = 4_096;
/** Enforced by cel-js. */
export const SEARCH_LIMITS = {
  maxAstNodes: 300,
  maxDepth: 40,
  maxListElements: 100,
  maxMapEntries: 1,
  maxCallArguments: 1,
};
const LIMIT_TEXTS: Record<string, string> = {
  maxAstNodes: 'operators, names and values',
  maxDepth: 'levels of parentheses and fields',
  maxListElements: 'elements in a list',
  maxMapEntries: 'entry in an object',
  maxCallArguments: 'argument in a call',
};
const ALLOWED =
  'allowed are comparisons (== != < <= > >=), in, has(…), .startsWith(…), .endsWith(…), .contains(…), &&, || and !';
const MIRRORED: Record<Comparison, Comparison> = { '==': '==', '!=': '!=', '<': '>', '<=': '>=', '>': '<', '>=': '<=' };

const environment = new Environment({ limits: SEARCH_LIMITS, homogeneousAggregateLiterals: false });

/** An ID, a name or other text without operators: `c_1`, `order/paid`, `order/*`. */
const BARE_TEXT = /^[^\s"'()<>=!&|[\]]+$/;

export function isBareText(text: string): boolean {
  return BARE_TEXT.test(text);
}

/** @throws SearchError with the position, the text found there, and what is allowed */
export function parseSearch(source: string, kind: SearchKind): SearchNode {
  if (source.length > LENGTH_MAX) {
    throw new SearchError(`it has ${source.length} characters; at most ${LENGTH_MAX} are allowed`, LENGTH_MAX);
  }
  return new Reader(kind).condition(treeOf(source, kind));
}

function treeOf(source: string, kind: SearchKind): ASTNode {
  try {
    return environment.parse(source).ast;
  } catch (error) {
    const { message, range } = error as Error & { range?: { start: number } };
    const summary = message.split('\n')[0] ?? '';
    const position = range?.start ?? 0;
    const [, limit = '', max] = /^Exceeded (\w+) \((\d+)\)/.exec(summary) ?? [];
    if (limit) throw new SearchError(`it has more than ${max} ${LIMIT_TEXTS[limit] ?? limit}`, position);
    throw new SearchError(`${summary}; ${hintFor(source, position, kind)}`, position);
  }
}

function hintFor(source: string, position: number, kind: SearchKind): string {
  const rest = source.slice(position);
  if (/^=[^=]/.test(rest)) return 'equality is ==';
  if (/^(and|or|not)\b/i.test(source.slice(Math.max(0, position - 1)).trim())) return 'write &&, || and !';
  if (/^function\b/.test(rest) && kind === 'runs') return 'the ID of the function is function_id';
  if (/\.\s*$/.test(source.slice(0, position))) return 'write this field as ["…"]';
  return ALLOWED;
}

class Reader {
  readonly #kind: SearchKind;

  constructor(kind: SearchKind) {
    this.#kind = kind;
  }

  condition(node: ASTNode): SearchNode {
    switch (node.op) {
      case '&&':
      case '||':
        return this.#junction(node, node.op);
      case '!_':
        return { kind: 'not', part: this.condition(node.args) };
      case '==':
      case '!=':
      case '<':
      case '<=':
      case '>':
      case '>=':
        return this.#comparison(node.op, node.args[0], node.args[1]);
      case 'in':
        return this.#membership(node.args[0], node.args[1]);
      case 'call':
        return this.#call(node, node.args[0], node.args[1]);
      case 'rcall':
        return this.#textTest(node, node.args[0], node.args[1], node.args[2]);
      case 'value':
        if (typeof node.args === 'boolean') return { kind: 'constant', value: node.args };
        throw new SearchError(`a value alone is no condition; ${ALLOWED}`, node.start);
      case 'id':
      case '.':
      case '[]':
        return this.#truth(node);
      default:
        throw new SearchError(`${describeNode(node)} is not supported; ${ALLOWED}`, node.pos);
    }
  }

  /** Flattens a chain of the same operator into one junction. */
  #junction(root: ASTNode, op: '&&' | '||'): SearchNode {
    const parts: SearchNode[] = [];
    let at = root;
    // The parser nests to the left.
    const right: ASTNode[] = [];
    while (at.op === op) {
      right.push((at.args as [ASTNode, ASTNode])[1]);
      at = (at.args as [ASTNode, ASTNode])[0];
    }
    parts.push(this.condition(at));
    for (const operand of right.reverse()) parts.push(this.condition(operand));
    return { kind: op === '&&' ? 'and' : 'or', parts };
  }

  #comparison(comparison: Comparison, left: ASTNode, right: ASTNode): SearchNode {
    const [a, b] = [literalOf(left), literalOf(right)];
    if (a !== undefined && b !== undefined) {
      throw new SearchError('both sides are values; compare a field with a value', left.start);
    }
    if (b !== undefined) return this.#compared(left, comparison, b.value, right);
    if (a !== undefined) return this.#compared(right, MIRRORED[comparison], a.value, left);
    return { kind: 'comparePaths', left: this.#path(left), comparison, right: this.#path(right) };
  }

  #compared(node: ASTNode, comparison: Comparison, value: Literal, valueNode: ASTNode): SearchNode {
    const path = this.#path(node);
    const literal = this.#literalFor(path, value, valueNode);
    if (isOrder(comparison) && typeof literal !== 'number' && typeof literal !== 'string') {
      throw new SearchError(`${comparison} compares numbers, texts and times, not ${String(literal)}`, valueNode.start);
    }
    return { kind: 'compare', path, comparison, literal };
  }

  /** Converts a time to milliseconds. */
  #literalFor(path: Path, value: Literal, node: ASTNode): Literal {
    if (this.#typeOf(path) !== 'time' || typeof value !== 'string') return value;
    const time = Date.parse(value);
    if (Number.isNaN(time)) {
      throw new SearchError(
        `${path.variable} is a time: compare it with Unix milliseconds or with a text such as "2026-11-23T08:00:00Z"`,
        node.start,
      );
    }
    return time;
  }

  #membership(left: ASTNode, right: ASTNode): SearchNode {
    if (right.op === 'list') {
      const path = this.#path(left);
      const literals = right.args.map((element) => {
        const literal = literalOf(element);
        if (literal === undefined) {
          throw new SearchError('a list has texts, numbers, true, false and null', element.start);
        }
        return this.#literalFor(path, literal.value, element);
      });
      return { kind: 'in', path, literals };
    }
    const literal = literalOf(left);
    if (literal === undefined) {
      throw new SearchError('in needs a list of values on its right, or a value on its left', left.start);
    }
    const path = this.#path(right);
    if (this.#typeOf(path) !== 'json') throw new SearchError(`${path.variable} is no list`, right.start);
    return { kind: 'element', path, literal: literal.value };
  }

  #call(node: ASTNode, name: string, args: readonly ASTNode[]): SearchNode {
    const [argument] = args;
    if (name !== 'has' || !argument || args.length > 1) {
      throw new SearchError(`${name}(…) is not supported; ${ALLOWED}`, node.start);
    }
    return { kind: 'has', path: this.#path(argument) };
  }

  #textTest(node: ASTNode, method: string, receiver: ASTNode, args: readonly ASTNode[]): SearchNode {
    const test = TEXT_TESTS.find((known) => known === method) as TextTest | undefined;
    if (!test) throw new SearchError(`.${method}(…) is not supported; ${ALLOWED}`, node.pos);
    const [argument] = args;
    const literal = argument && literalOf(argument);
    if (args.length !== 1 || typeof literal?.value !== 'string') {
      throw new SearchError(`.${method}(…) takes one text in quotes`, argument?.start ?? node.pos);
    }
    const path = this.#path(receiver);
    if (this.#typeOf(path) === 'time') {
      throw new SearchError(`${path.variable} is a time: compare it with < <= > >=`, receiver.start);
    }
    return { kind: 'text', path, test, text: literal.value };
  }

  /** A field by itself is compared with true. */
  #truth(node: ASTNode): SearchNode {
    const path = this.#path(node);
    if (path.keys.length === 0) {
      throw new SearchError(`${path.variable} alone is no condition: compare it with a value`, node.start);
    }
    return { kind: 'compare', path, comparison: '==', literal: true };
  }

  #path(node: ASTNode): Path {
    const keys: (string | number)[] = [];
    let at = node;
    while (at.op === '.' || at.op === '[]') {
      keys.push(at.op === '.' ? at.args[1] : keyOf(at.args[1]));
      at = at.args[0];
    }
    if (at.op !== 'id') {
      throw new SearchError(
        `${describeNode(at)} is not supported here: expected a field, such as ${this.#example}`,
        at.start,
      );
    }
    return this.#rooted(at.args, keys.reverse(), at.start);
  }

  #rooted(name: string, keys: readonly (string | number)[], position: number): Path {
    const isOfEvent = this.#kind === 'runs' && `${name}.` === EVENT_PREFIX;
    const [first, ...rest] = keys;
    if (isOfEvent && first === undefined)
      throw new SearchError('event alone has no value: name a field of it', position);
    const path = isOfEvent ? { variable: EVENT_PREFIX + String(first), keys: rest } : { variable: name, keys };
    const type = VARIABLES[this.#kind].get(path.variable);
    if (!type) throw new SearchError(this.#unknown(path.variable), position);
    if (type !== 'json' && path.keys.length > 0) throw new SearchError(`${path.variable} has no fields`, position);
    return path;
  }

  #unknown(name: string): string {
    const known = [...VARIABLES[this.#kind].keys()];
    const near = name.length > 64 ? '' : closest(name, known);
    const suggestion =
      near !== '' && distance(name, near) <= 2 ? `did you mean ${near}?` : `known are ${known.join(', ')}`;
    return `there is no ${JSON.stringify(name.slice(0, 64))}; ${suggestion}`;
  }

  #typeOf({ variable }: Path): VariableType {
    return VARIABLES[this.#kind].get(variable) as VariableType;
  }

  get #example(): string {
    return this.#kind === 'runs' ? 'event.data.customer' : 'data.customer';
  }
}

/** The value of a literal; undefined if the node is not one. */
function literalOf(node: ASTNode): { value: Literal } | undefined {
  if (node.op === '-_') {
    const value = literalOf(node.args)?.value;
    return typeof value === 'number' ? { value: -value } : undefined;
  }
  if (node.op !== 'value') return undefined;
  const value = node.args as unknown;
  if (typeof value === 'bigint') return { value: finite(Number(value), node) };
  if (typeof value === 'number') return { value: finite(value, node) };
  if (typeof value === 'string' || typeof value === 'boolean' || value === null) return { value };
  throw new SearchError('this kind of value is not supported: write a text, a number, true, false or null', node.start);
}

function finite(value: number, node: ASTNode): number {
  if (Number.isFinite(value)) return value;
  throw new SearchError('the number is too large', node.start);
}

function keyOf(node: ASTNode): string | number {
  const value = node.op === 'value' ? (node.args as unknown) : undefined;
  if (typeof value === 'string') return value;
  if (typeof value === 'bigint' && value <= 0x7fffffffn) return Number(value);
  throw new SearchError('in brackets is a field name in quotes or a position, such as ["total"] or [0]', node.start);
}

function isOrder(comparison: Comparison): comparison is Order {
  return (ORDERS as readonly string[]).includes(comparison);
}

function describeNode({ op, args }: ASTNode): string {
  if (op === 'value') return 'a value';
  if (op === 'list') return 'a list';
  if (op === 'map') return 'an object';
  if (op === 'call') return `${args[0]}(…)`;
  if (op === 'rcall') return `.${args[0]}(…)`;
  if (op === '?:') return 'the operator ?:';
  return `the operator ${op.replace('_', '')}`;
}
