/** Indexes waits by an equality in their expression whose other side is known when the wait is stored
 *  (`async.data.orderId == event.data.orderId`). An event is then checked only against the waits for its own value. */
import { createHash } from 'node:crypto';
import type { ASTNode } from '@marcbachmann/cel-js';
import { compileWait } from '../expressions/expression.ts';
import { type Path, pathOf, pathsIn, valueAt } from '../expressions/paths.ts';
import { isJsonObject, mayHaveLongIntegers } from '../values/json.ts';
import { expressionOf, type Wait } from './wait.ts';

/** Characters of the triggering event stored with a wait; if the expression needs more, the event is read when the wait is checked. */
const MAX_CAUSED = 4_096;
/** Longest text to index. A run can have many waits for the same long text. */
const MAX_INDEXED = 1_024;
/** 132 bits. */
const DIGEST_LENGTH = 22;

/** A field of the received event, and the value that it must have. */
export interface Equality {
  path: Path;
  digest: string;
}

/** Adds the values that the expression reads of the triggering event to the wait, if they are short, and finds its index key.
 *  @param caused the triggering event as expressions see it; undefined if unknown */
export function indexWait(wait: Wait, caused: unknown): { wait: Wait; equality?: Equality | undefined } {
  const { expression } = wait;
  if (!expression || caused === undefined || !expressionOf(wait)) return { wait };
  const read = readOf(expression, caused);
  const small = sizeOf(read) <= MAX_CAUSED && JSON.stringify(read).length <= MAX_CAUSED;
  return { wait: small ? { ...wait, caused: read } : wait, equality: equalityOf(expression, caused) };
}

/** A stored wait. Earlier versions stored long integers as doubles, which may be other numbers: then the event is read. */
export function readWait(text: string): Wait {
  const wait = JSON.parse(text) as Wait;
  if (wait.caused !== undefined && mayHaveLongIntegers(text)) delete wait.caused;
  return wait;
}

/** A necessary condition on the received event; undefined if the expression has no indexable equality.
 *  @param caused `event` in the expression */
function equalityOf(expression: string, caused: unknown): Equality | undefined {
  const equalities = [...conjuncts(compileWait(expression).ast)].filter(({ op }) => op === '==');
  // An equality with a literal comes second, because it may hold for every event of that name.
  for (const known of [pathKnown, literalKnown]) {
    for (const { args } of equalities) {
      const [a, b] = args as [ASTNode, ASTNode];
      const found = equality(a, known(b, caused)) ?? equality(b, known(a, caused));
      if (found) return found;
    }
  }
  return undefined;
}

/** Index key of a field and its value; values that are equal in expressions have the same key. undefined: the value is not a scalar, or too
 *  long. */
export function digestOf(path: Path, value: unknown): string | undefined {
  const text = textOf(value);
  if (text === undefined) return undefined;
  return createHash('sha256')
    .update(`${JSON.stringify(path)}${text}`)
    .digest('base64url')
    .slice(0, DIGEST_LENGTH);
}

function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value.length > MAX_INDEXED ? undefined : `"${value}`;
  // Numbers that are equal, of whichever type, are the same double. The expression later rejects others of that double.
  if (typeof value === 'number' || typeof value === 'bigint') return `${Number(value) + 0}`;
  if (typeof value === 'boolean' || value === null) return `${value}`;
  return undefined;
}

/** The part of `caused` that the expression can read. Storing it with the wait saves reading the event again. */
function readOf(expression: string, caused: unknown): unknown {
  const read: Record<string, unknown> = {};
  for (const path of pathsIn(compileWait(expression).ast, 'event')) {
    if (path.length === 0) return caused;
    copyPath(caused, read, path);
  }
  return read;
}

/** Cached, because many waits can share the same value. */
const sizes = new WeakMap<object, number>();

/** Lower bound of the value's JSON length; stops counting at MAX_CAUSED. A long integer is never stored: a reader of the wait would take it
 *  for a double. */
function sizeOf(value: unknown): number {
  if (typeof value === 'string') return value.length;
  if (typeof value === 'bigint') return MAX_CAUSED + 1;
  if (typeof value !== 'object' || value === null) return 1;
  const known = sizes.get(value);
  if (known !== undefined) return known;
  let size = 2;
  const isList = Array.isArray(value);
  for (const key in value) {
    size += (isList ? 0 : key.length) + sizeOf((value as Record<string, unknown>)[key]);
    if (size > MAX_CAUSED) break;
  }
  sizes.set(value, size);
  return size;
}

function* conjuncts(node: ASTNode): Generator<ASTNode> {
  if (node.op !== '&&') {
    yield node;
    return;
  }
  const [left, right] = node.args;
  yield* conjuncts(left);
  yield* conjuncts(right);
}

function equality(receivedSide: ASTNode, known: unknown): Equality | undefined {
  const path = pathOf(receivedSide, 'async');
  const digest = path && path.length > 0 ? digestOf(path, known) : undefined;
  return path && digest !== undefined ? { path, digest } : undefined;
}

function pathKnown(node: ASTNode, caused: unknown): unknown {
  const path = pathOf(node, 'event');
  return path && valueAt(caused, path);
}

function literalKnown(node: ASTNode): unknown {
  return node.op === 'value' ? node.args : undefined;
}

function copyPath(from: unknown, to: Record<string, unknown>, path: Path): void {
  let [source, target] = [from, to];
  for (const [i, field] of path.entries()) {
    if (!isJsonObject(source) || !Object.hasOwn(source, field)) return;
    const value = source[field];
    if (i === path.length - 1 || !isJsonObject(value)) {
      define(target, field, value);
      return;
    }
    if (!Object.hasOwn(target, field)) define(target, field, {});
    // A shorter path has already copied this value.
    if (target[field] === value) return;
    target = target[field] as Record<string, unknown>;
    source = value;
  }
}

function define(target: Record<string, unknown>, field: string, value: unknown): void {
  Object.defineProperty(target, field, { value, enumerable: true, configurable: true, writable: true });
}
