/** Syntax tree of a search. Evaluated over stored events and runs in Node (evaluate.ts), or translated into a condition for Postgres
 *  (archive/search-conditions.ts). docs/search.md describes the language. */
export type Literal = string | number | boolean | null;

/** Location of a value: `data.items[0].sku` is the variable `data` with the keys `items`, 0 and `sku`. In searches of runs, variables of
 *  the event are `event.name`, `event.data` and so on. */
export interface Path {
  variable: string;
  keys: readonly (string | number)[];
}

export const ORDERS = ['<', '<=', '>', '>='] as const;
export type Order = (typeof ORDERS)[number];
export type Comparison = '==' | '!=' | Order;

export const TEXT_TESTS = ['startsWith', 'endsWith', 'contains'] as const;
export type TextTest = (typeof TEXT_TESTS)[number];

export type SearchNode =
  | { kind: 'and' | 'or'; parts: readonly SearchNode[] }
  | { kind: 'not'; part: SearchNode }
  | { kind: 'constant'; value: boolean }
  | { kind: 'compare'; path: Path; comparison: Comparison; literal: Literal }
  | { kind: 'comparePaths'; left: Path; comparison: Comparison; right: Path }
  | { kind: 'has'; path: Path }
  | { kind: 'text'; path: Path; test: TextTest; text: string; ignoreCase?: true }
  /** The value is one of the literals. */
  | { kind: 'in'; path: Path; literals: readonly Literal[] }
  /** The value is a list that contains the literal. */
  | { kind: 'element'; path: Path; literal: Literal };

/** All nodes of the tree. */
export function* nodesOf(node: SearchNode): Generator<SearchNode> {
  yield node;
  if (node.kind === 'and' || node.kind === 'or') for (const part of node.parts) yield* nodesOf(part);
  else if (node.kind === 'not') yield* nodesOf(node.part);
}

/** Variables that the search reads. */
export function variablesOf(root: SearchNode): Set<string> {
  const variables = new Set<string>();
  for (const node of nodesOf(root)) {
    if ('path' in node) variables.add(node.path.variable);
    else if (node.kind === 'comparePaths') variables.add(node.left.variable).add(node.right.variable);
  }
  return variables;
}
