/** Translates list filters that no index serves into search conditions. */
import type { SearchNode, TextTest } from './syntax.ts';

/** Whether the text is a prefix such as `order/*`. */
export function isWildcard(text: string): boolean {
  return text.endsWith('*');
}

export function beginsWith(variable: string, text: string): SearchNode {
  return textTest(variable, 'startsWith', text);
}

/** @param wildcard a prefix such as `order/*`, or an exact text */
export function isLike(variable: string, wildcard: string): SearchNode {
  return isWildcard(wildcard) ? beginsWith(variable, wildcard.slice(0, -1)) : isOneOf(variable, [wildcard]);
}

export function isOneOf(variable: string, literals: readonly string[]): SearchNode {
  const path = { variable, keys: [] };
  const [only, ...others] = literals;
  if (only !== undefined && others.length === 0) return { kind: 'compare', path, comparison: '==', literal: only };
  return { kind: 'in', path, literals };
}

/** Ignores case. */
export function mentions(variable: string, text: string): SearchNode {
  return { ...textTest(variable, 'contains', text), ignoreCase: true };
}

/** A conjunction; without conditions, it matches everything. */
export function allOf(nodes: readonly SearchNode[]): SearchNode {
  const [only, ...others] = nodes;
  if (only === undefined) return { kind: 'constant', value: true };
  return others.length === 0 ? only : { kind: 'and', parts: nodes };
}

function textTest(variable: string, test: TextTest, text: string): SearchNode & { kind: 'text' } {
  return { kind: 'text', path: { variable, keys: [] }, test, text };
}
