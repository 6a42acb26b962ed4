/** Conditions that every result of a search must meet, so that indexes can serve it. */
import type { SearchNode } from './syntax.ts';

/** The conditions that must all be met. */
export function requiredBy(node: SearchNode): readonly SearchNode[] {
  return node.kind === 'and' ? node.parts.flatMap(requiredBy) : [node];
}

/** The value that the variable must have; undefined if several are possible. */
export function requiredValue(node: SearchNode, variable: string): string | undefined {
  for (const part of requiredBy(node)) {
    if (part.kind === 'compare' && part.comparison === '==' && part.path.variable === variable) {
      if (typeof part.literal === 'string' && part.path.keys.length === 0) return part.literal;
    }
  }
  return undefined;
}

export interface RequiredTimes {
  /** Unix milliseconds, inclusive. */
  after?: number;
  /** Exclusive. */
  before?: number;
}

/** The range that a time variable must be in, whole milliseconds. */
export function requiredTimes(node: SearchNode, variable: string): RequiredTimes {
  let after = Number.NEGATIVE_INFINITY;
  let before = Number.POSITIVE_INFINITY;
  for (const part of requiredBy(node)) {
    if (part.kind !== 'compare' || part.path.variable !== variable || typeof part.literal !== 'number') continue;
    const { comparison, literal } = part;
    if (comparison === '==' || comparison === '>=') after = Math.max(after, Math.ceil(literal));
    if (comparison === '>') after = Math.max(after, Math.floor(literal) + 1);
    if (comparison === '==' || comparison === '<=') before = Math.min(before, Math.floor(literal) + 1);
    if (comparison === '<') before = Math.min(before, Math.ceil(literal));
  }
  return {
    ...(after > 0 && Number.isSafeInteger(after) && { after }),
    ...(before < Number.MAX_SAFE_INTEGER && { before: Math.max(0, before) }),
  };
}
