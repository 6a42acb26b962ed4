/** How a wait is found among many of its name, by what its expression says: an equality with a value that is known when the wait is
 *  stored (`async.data.orderId == event.data.orderId`) leaves an event only the waits for its own value to look at. */
import { createHash } from 'node:crypto';
import type { ASTNode } from '@marcbachmann/cel-js';
import { partsOf } from '../expressions/bounds.ts';
import { compileWait } from '../expressions/expression.ts';
import { isJsonObject } from '../values/json.ts';
import { expressionOf, type Wait } from './wait.ts';

/** Characters of what a wait brings of its event; of a larger one the event is read when the wait is looked at. */
const MAX_CAUSED = 4_096;
/** Characters of a text by which a wait is found. A run may have many waits that ask for the same long one. */
const MAX_INDEXED = 1_024;
/** 132 bits. */
const DIGEST_LENGTH = 22;

/** Fields from `event`, or `async`, to a value. */
export type Path = string[];

/** A field of the arriving event, and the value that it must have. */
export interface Equality {
  path: Path;
  digest: string;
}

/** The wait with what its expression reads of the event that caused its run, and how it is found.
 *  @param caused that event, as expressions see it; undefined: it is not known */
export function findable(wait: Wait, caused: unknown): { wait: Wait; equality?: Equality | undefined } {
  const { expression } = wait;
  if (!expression || caused === undefined || !expressionOf(wait)) return { wait };
  const read = readOf(expression, caused);
  const small = sizeOf(read) <= MAX_CAUSED && JSON.stringify(read).length <= MAX_CAUSED;
  return { wait: small ? { ...wait, caused: read } : wait, equality: equalityOf(expression, caused) };
}

/** What must hold of the arriving event for the expression to be met; undefined: nothing that is so easily told.
 *  @param caused `event` in the expression */
function equalityOf(expression: string, caused: unknown): Equality | undefined {
  const equalities = [...conjuncts(compileWait(expression).ast)].filter(({ op }) => op === '==');
  // One with a literal may hold of every event of the name, and is taken if there is no other.
  for (const known of [pathKnown, literalKnown]) {
    for (const { args } of equalities) {
      const [a, b] = args as [ASTNode, ASTNode];
      const found = equality(a, known(b, caused)) ?? equality(b, known(a, caused));
      if (found) return found;
    }
  }
  return undefined;
}

/** Stands for a field and its value: values that CEL finds equal have the same. undefined: no equality tells it, since the value is not there, no
 *  single one, or too long. */
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
  // A whole number in an expression equals the double of an event. Where it is no double it equals none, as the expression will say.
  if (typeof value === 'number' || typeof value === 'bigint') return `${Number(value) + 0}`;
  if (typeof value === 'boolean' || value === null) return `${value}`;
  return undefined;
}

export function valueAt(root: unknown, path: Path): unknown {
  let value = root;
  for (const field of path) {
    if (!isJsonObject(value) || !Object.hasOwn(value, field)) return undefined;
    value = value[field];
  }
  return value;
}

/** As much of `caused` as the expression can read: it is stored with the wait, and nobody has to read the event again. */
function readOf(expression: string, caused: unknown): unknown {
  const read: Record<string, unknown> = {};
  for (const path of pathsIn(compileWait(expression).ast, 'event')) {
    if (path.length === 0) return caused;
    copyPath(caused, read, path);
  }
  return read;
}

/** Of lists and objects that were measured: a hundred waits may bring the same. */
const sizes = new WeakMap<object, number>();

/** At most as many characters as the value has as JSON, told from the first MAX_CAUSED of them. */
function sizeOf(value: unknown): number {
  if (typeof value === 'string') return value.length;
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

function equality(arriving: ASTNode, known: unknown): Equality | undefined {
  const path = pathOf(arriving, 'async');
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

/** The fields that the node reads one after the other, from the variable on; undefined: it is not of this shape. */
function pathOf(node: ASTNode, variable: string): Path | undefined {
  const fields: Path = [];
  let at = node;
  for (;;) {
    if (at.op === 'id') return at.args === variable ? fields.reverse() : undefined;
    if (at.op === '.') fields.push(at.args[1]);
    else if (at.op === '[]' && at.args[1].op === 'value' && typeof at.args[1].args === 'string')
      fields.push(at.args[1].args);
    else return undefined;
    at = at.args[0];
  }
}

/** The longest paths that the expression reads from the variable. */
function* pathsIn(node: ASTNode, variable: string): Generator<Path> {
  const path = pathOf(node, variable);
  if (path) yield path;
  else for (const part of partsOf(node)) yield* pathsIn(part, variable);
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
    // A shorter path has brought it whole.
    if (target[field] === value) return;
    target = target[field] as Record<string, unknown>;
    source = value;
  }
}

function define(target: Record<string, unknown>, field: string, value: unknown): void {
  Object.defineProperty(target, field, { value, enumerable: true, configurable: true, writable: true });
}
