/** Translates searches to conditions in Postgres that are never false for a matching row. Callers test each returned row exactly
 *  (model/search/evaluate.ts). */
import {
  APP_VERSION,
  EVENT_PREFIX,
  FINGERPRINT,
  type Literal,
  nodesOf,
  type Path,
  type SearchNode,
} from '../model/search/syntax.ts';
import { DAY_MS } from '../model/values/time.ts';
import {
  type Atom,
  errorPredicate,
  idPredicate,
  jsonPredicate,
  numberedText,
  sourcePredicate,
  statusPredicate,
  textPredicate,
  timePredicate,
  wholeMilliseconds,
} from './column-predicates.ts';
import { every, JsonPredicates, NOTHING, type Predicate, type Sql, some, sql } from './json-predicates.ts';

/** Numbers of the texts in the search. */
export interface SearchNumbers {
  envId: number;
  names: ReadonlyMap<string, number>;
  functions: ReadonlyMap<string, number>;
}

/** Texts whose numbers the conditions need. */
export function textsIn(root: SearchNode, variable: string): string[] {
  const texts: Literal[] = [];
  for (const node of nodesOf(root)) {
    if (node.kind === 'compare' && node.path.variable === variable) texts.push(node.literal);
    if (node.kind === 'in' && node.path.variable === variable) texts.push(...node.literals);
  }
  return texts.filter((text) => typeof text === 'string');
}

/** @returns undefined if all events may match */
export function eventConditions(node: SearchNode, numbers: SearchNumbers): Sql | undefined {
  return translate(node, true, (atom, wanted) => eventAtom(atom, wanted, numbers, ''));
}

/** @param times creation of the runs */
export function runConditions(
  node: SearchNode,
  numbers: SearchNumbers,
  times: { after: number; before: number },
): Sql | undefined {
  return translate(node, true, (atom, wanted) => {
    const { variable } = 'path' in atom ? atom.path : atom.left;
    return variable.startsWith(EVENT_PREFIX)
      ? runEventAtom(atom, wanted, numbers, times)
      : runAtom(atom, wanted, numbers);
  });
}

/** @param wanted false: the condition must not be false where the node is false */
function translate(node: SearchNode, wanted: boolean, atom: (node: Atom, wanted: boolean) => Predicate): Predicate {
  switch (node.kind) {
    case 'constant':
      return node.value === wanted ? undefined : NOTHING;
    case 'not':
      return translate(node.part, !wanted, atom);
    case 'and':
    case 'or': {
      const parts = node.parts.map((part) => translate(part, wanted, atom));
      return (node.kind === 'and') === wanted ? every(parts) : some(parts);
    }
    default:
      return atom(node, wanted);
  }
}

/** @param table table name with its dot */
function eventAtom(node: Atom, wanted: boolean, { envId, names }: SearchNumbers, table: string): Predicate {
  if (node.kind === 'comparePaths') return undefined;
  const { variable } = node.path;
  switch (variable) {
    case 'name':
      return numberedText(node, wanted, names, `${table}name_id`, (condition) =>
        sql(`SELECT id FROM event_names WHERE env_id = ? AND ${condition.text}`, envId, ...condition.values),
      );
    case 'received_at':
      return wholeMilliseconds(node, wanted, `${table}at`);
    case 'ts':
      return wanted ? timePredicate(node, `${table}payload`, `${table}is_jsonb`, `${table}at`) : undefined;
    case 'id':
      return wanted ? textPredicate(node, `${table}dedup_id`) : undefined;
    case 'internal_id':
      return wanted ? idPredicate(node, `${table}id`) : undefined;
    case 'source':
      return wanted ? sourcePredicate(node, table, envId) : undefined;
    default:
      return wanted ? jsonPredicate(node, payload(table, variable)) : undefined;
  }
}

function runAtom(node: Atom, wanted: boolean, { envId, functions }: SearchNumbers): Predicate {
  if (node.kind === 'comparePaths') return undefined;
  switch (node.path.variable) {
    case 'function_id':
      return numberedText(node, wanted, functions, 'function_id', (condition) =>
        sql(
          `SELECT f.id FROM functions f WHERE f.env_id = ? AND ${condition.text.replaceAll('name', 'f.function_id')}`,
          envId,
          ...condition.values,
        ),
      );
    case 'status':
      return statusPredicate(node, wanted);
    case 'queued_at':
      return wholeMilliseconds(node, wanted, 'at');
    case 'ended_at':
      return wanted ? wholeMilliseconds(node, true, 'ended_at') : undefined;
    case 'run_id':
      return wanted ? idPredicate(node, 'id') : undefined;
    case 'error':
      return wanted ? errorPredicate(node) : undefined;
    case APP_VERSION:
      return undefined;
    case FINGERPRINT:
      return wanted ? sql('error IS NOT NULL') : undefined;
    default:
      return wanted
        ? jsonPredicate(node, new JsonPredicates({ column: 'output', within: [], isCanonical: false }, node.path.keys))
        : undefined;
  }
}

/** A run's event was received before the run was created, mostly within a day, and is then in a table of these days. If it is not, the
 *  condition counts as met. */
function runEventAtom(
  node: Atom,
  wanted: boolean,
  numbers: SearchNumbers,
  { after, before }: { after: number; before: number },
): Predicate {
  const predicate = eventAtom(withoutPrefix(node), wanted, numbers, 'e.');
  if (!predicate) return undefined;
  return sql(
    `coalesce((SELECT ${predicate.text} FROM events e WHERE e.id = event_id AND e.at >= ? AND e.at < ?), true)`,
    ...predicate.values,
    after - DAY_MS,
    before,
  );
}

function withoutPrefix(node: Atom): Atom {
  const without = (path: Path): Path => ({ ...path, variable: path.variable.slice(EVENT_PREFIX.length) });
  return node.kind === 'comparePaths'
    ? { ...node, left: without(node.left), right: without(node.right) }
    : { ...node, path: without(node.path) };
}

function payload(table: string, variable: string): (keys: readonly (string | number)[]) => JsonPredicates {
  const column = { column: `${table}payload`, within: [variable], isJsonb: `${table}is_jsonb`, isCanonical: true };
  return (keys) => new JsonPredicates(column, keys);
}
