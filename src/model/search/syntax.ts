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

/** `text`, `time` (Unix milliseconds) and `json` (a value with fields, if any). */
export type VariableType = 'text' | 'time' | 'json';
export type SearchKind = 'events' | 'runs';

const EVENT_VARIABLES = {
  name: 'text',
  id: 'text',
  internal_id: 'text',
  source: 'text',
  ts: 'time',
  received_at: 'time',
  data: 'json',
  user: 'json',
  v: 'text',
} as const satisfies Record<string, VariableType>;

const RUN_VARIABLES = {
  run_id: 'text',
  function_id: 'text',
  status: 'text',
  error: 'text',
  queued_at: 'time',
  ended_at: 'time',
  output: 'json',
} as const satisfies Record<string, VariableType>;

/** Fingerprint of a failed run's error. Filters read it; people's searches cannot. */
export const FINGERPRINT = 'fingerprint';
/** The version of its app on which a run ends, likewise. */
export const APP_VERSION = 'app_version';

/** Conditions on runs name the variables of the run's event with this prefix. */
export const EVENT_PREFIX = 'event.';

const eventVariables = Object.entries(EVENT_VARIABLES);
export const VARIABLES: Readonly<Record<SearchKind, ReadonlyMap<string, VariableType>>> = {
  events: new Map<string, VariableType>(eventVariables),
  runs: new Map<string, VariableType>([
    ...Object.entries(RUN_VARIABLES),
    ...eventVariables.map(([name, type]) => [EVENT_PREFIX + name, type] as const),
  ]),
};
