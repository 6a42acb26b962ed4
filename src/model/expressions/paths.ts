/** The event fields that expressions read. */
import type { ASTNode } from '@marcbachmann/cel-js';
import { isJsonObject } from '../values/json.ts';
import { partsOf } from './bounds.ts';

/** Field names that lead from `event` or `async` to a value. */
export type Path = string[];

/** A missing field is `null`, as in expressions (missing-values.ts). */
export function valueAt(root: unknown, path: Path): unknown {
  let value = root;
  for (const field of path) {
    if (!isJsonObject(value) || !Object.hasOwn(value, field)) return null;
    value = value[field];
  }
  return value;
}

/** The fields that the node reads from the variable; undefined if the node is not a path. */
export function pathOf(node: ASTNode, variable: string): Path | undefined {
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
export function* pathsIn(node: ASTNode, variable: string): Generator<Path> {
  const path = pathOf(node, variable);
  if (path) yield path;
  else for (const part of partsOf(node)) yield* pathsIn(part, variable);
}
