/** What searches mean, written as plainly as possible, to compare with. */
import type { SearchNode } from '../../src/model/search/syntax.ts';

/** @param variables values as JSON.parse gives them */
export function isFound(node: SearchNode, variables: Record<string, unknown>): boolean {
  const at = (path: { variable: string; keys: readonly (string | number)[] }) => {
    let value = variables[path.variable];
    for (const key of path.keys) {
      const isList = Array.isArray(value);
      if (typeof value !== 'object' || value === null || isList !== (typeof key === 'number')) return undefined;
      value = Object.hasOwn(value, key) ? (value as Record<string | number, unknown>)[key] : undefined;
    }
    return value;
  };
  switch (node.kind) {
    case 'and':
      return node.parts.every((part) => isFound(part, variables));
    case 'or':
      return node.parts.some((part) => isFound(part, variables));
    case 'not':
      return !isFound(node.part, variables);
    case 'constant':
      return node.value;
    case 'has':
      return at(node.path) !== undefined;
    case 'compare':
      return isMet(node.comparison, at(node.path), node.literal);
    case 'comparePaths':
      return isMet(node.comparison, at(node.left), at(node.right));
    case 'in':
      return node.literals.some((literal) => isMet('==', at(node.path), literal));
    case 'element': {
      const list = at(node.path);
      return Array.isArray(list) && list.some((item) => isMet('==', item, node.literal));
    }
    case 'text': {
      const value = at(node.path);
      if (typeof value !== 'string') return false;
      const place = value.split(node.text).length > 1 || node.text === '';
      if (node.test === 'contains') return place;
      const piece =
        node.test === 'startsWith' ? value.slice(0, node.text.length) : value.slice(value.length - node.text.length);
      return value.length >= node.text.length && piece === node.text;
    }
  }
}

function isMet(comparison: string, a: unknown, b: unknown): boolean {
  if (a === undefined || b === undefined) return false;
  const areObjects = (typeof a === 'object' && a !== null) || (typeof b === 'object' && b !== null);
  const isEqual = !areObjects && a === b;
  if (comparison === '==') return isEqual;
  if (comparison === '!=') return !isEqual;
  if (typeof a !== typeof b || !['number', 'string'].includes(typeof a)) return false;
  const [x, y] = [a as number, b as number];
  if (comparison === '<') return x < y;
  if (comparison === '<=') return x <= y;
  return comparison === '>' ? x > y : x >= y;
}
