/** Translates searches to conditions in Postgres that are never false for a matching row. Callers test each returned row exactly
 *  (model/search/evaluate.ts). */
import { ID_PATTERN } from '../model/ids.ts';
import { idRange } from '../model/search/id-prefix.ts';
import { type Comparison, type Literal, nodesOf, type Path, type SearchNode } from '../model/search/syntax.ts';
import { EVENT_PREFIX, FINGERPRINT } from '../model/search/variables.ts';
import { DAY_MS } from '../model/values/time.ts';
import { toText, toUuid } from './encoding.ts';
import { every, isPlainText, JsonPredicates, NOTHING, type Predicate, type Sql, some, sql } from './json-predicates.ts';
import { ERROR_MAX, STATUS_NUMBERS } from './rows.ts';

type Atom = Exclude<SearchNode, { kind: 'and' | 'or' | 'not' | 'constant' }>;

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
    return variable.startsWith(EVENT_PREFIX) ? ofEvent(atom, wanted, numbers, times) : runAtom(atom, wanted, numbers);
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
      return numbered(node, wanted, names, `${table}name_id`, (condition) =>
        sql(`SELECT id FROM event_names WHERE env_id = ? AND ${condition.text}`, envId, ...condition.values),
      );
    case 'received_at':
      return whole(node, wanted, `${table}at`);
    case 'ts':
      return wanted ? time(node, `${table}payload`, `${table}is_jsonb`, `${table}at`) : undefined;
    case 'id':
      return wanted ? text(node, `${table}dedup_id`) : undefined;
    case 'internal_id':
      return wanted ? id(node, `${table}id`) : undefined;
    case 'source':
      return wanted ? source(node, table, envId) : undefined;
    default:
      return wanted ? json(node, payload(table, variable)) : undefined;
  }
}

function runAtom(node: Atom, wanted: boolean, { envId, functions }: SearchNumbers): Predicate {
  if (node.kind === 'comparePaths') return undefined;
  switch (node.path.variable) {
    case 'function_id':
      return numbered(node, wanted, functions, 'function_id', (condition) =>
        sql(
          `SELECT f.id FROM functions f WHERE f.env_id = ? AND ${condition.text.replaceAll('name', 'f.function_id')}`,
          envId,
          ...condition.values,
        ),
      );
    case 'status':
      return status(node, wanted);
    case 'queued_at':
      return whole(node, wanted, 'at');
    case 'ended_at':
      return wanted ? whole(node, true, 'ended_at') : undefined;
    case 'run_id':
      return wanted ? id(node, 'id') : undefined;
    case 'error':
      return wanted ? error(node) : undefined;
    case FINGERPRINT:
      return wanted ? sql('error IS NOT NULL') : undefined;
    default:
      return wanted
        ? json(node, new JsonPredicates({ column: 'output', within: [], isCanonical: false }, node.path.keys))
        : undefined;
  }
}

/** A run's event is received before it, mostly within a day, and then in a table of these days. Otherwise its condition is left open. */
function ofEvent(
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

type PathAtom = Exclude<Atom, { kind: 'comparePaths' }>;

function json(
  node: PathAtom,
  at: JsonPredicates | ((keys: readonly (string | number)[]) => JsonPredicates),
): Predicate {
  const predicates = typeof at === 'function' ? at(node.path.keys) : at;
  switch (node.kind) {
    case 'compare':
      return predicates.compare(node.comparison, node.literal);
    case 'text':
      return predicates.text(node.test, node.text);
    case 'in':
      return predicates.in(node.literals);
    case 'element':
      return predicates.element(node.literal);
    case 'has':
      return predicates.has();
  }
}

/** A text that the table stores by number.
 *  @param find selects the numbers of the texts for which the condition over `name` is true */
function numbered(
  node: PathAtom,
  wanted: boolean,
  numbers: ReadonlyMap<string, number>,
  column: string,
  find: (condition: Sql) => Sql,
): Predicate {
  const literals = equalTo(node);
  if (literals) {
    const texts = literals.filter((literal) => typeof literal === 'string');
    const found = texts.flatMap((one) => numbers.get(one) ?? []);
    if (wanted) return sql(`${column} = ANY (?::int[])`, found);
    // Texts that Postgres cannot store share a number with others.
    return texts.some((one) => one.includes('\uFFFD') || toText(one) !== one)
      ? undefined
      : sql(`${column} <> ALL (?::int[])`, found);
  }
  if (!wanted || node.kind !== 'text' || !isPlainText(node.text)) return undefined;
  const condition = TEXT_CONDITIONS[node.test]('name', node.text);
  const numbersOf = find(condition);
  return sql(`${column} = ANY (ARRAY(${numbersOf.text}))`, ...numbersOf.values);
}

const TEXT_CONDITIONS = {
  startsWith: (column: string, value: string) => sql(`starts_with(${column}, ?)`, value),
  endsWith: (column: string, value: string) => sql(`right(${column}, ?) = ?`, [...value].length, value),
  contains: (column: string, value: string) => sql(`strpos(${column}, ?) > 0`, value),
};

/** A text column, in which some characters are replaced (encoding.ts). */
function text(node: PathAtom, column: string): Predicate {
  const literals = equalTo(node);
  if (literals) return sql(`${column} = ANY (?::text[])`, textsOf(literals));
  if (node.kind === 'text' && isPlainText(node.text)) return TEXT_CONDITIONS[node.test](column, node.text);
  return sql(`${column} IS NOT NULL`);
}

function source(node: PathAtom, table: string, envId: number): Predicate {
  const literals = equalTo(node);
  const condition = literals
    ? sql('s.source = ANY (?::text[])', textsOf(literals))
    : node.kind === 'text' && isPlainText(node.text)
      ? TEXT_CONDITIONS[node.test]('s.source', node.text)
      : undefined;
  if (!condition) return undefined;
  const own = condition.text.replaceAll('s.source', `${table}source`);
  return sql(
    `${own} OR ${table}source_id = ANY (ARRAY(SELECT s.id FROM event_sources s WHERE s.env_id = ? AND ${condition.text}))`,
    ...condition.values,
    envId,
    ...condition.values,
  );
}

function id(node: PathAtom, column: string): Predicate {
  const literals = equalTo(node);
  if (literals) {
    const ids = literals.filter((one) => typeof one === 'string' && ID_PATTERN.test(one)) as string[];
    return sql(`${column} = ANY (?::uuid[])`, ids.map(toUuid));
  }
  if (node.kind !== 'text' || node.test !== 'startsWith') return undefined;
  const range = idRange(node.text);
  return range ? sql(`${column} BETWEEN ?::uuid AND ?::uuid`, toUuid(range.first), toUuid(range.last)) : NOTHING;
}

const STATUSES = new Map<Literal, number>(Object.entries(STATUS_NUMBERS));

function status(node: PathAtom, wanted: boolean): Predicate {
  const literals = equalTo(node);
  if (!literals) return undefined;
  const numbers = literals.flatMap((one) => STATUSES.get(one) ?? []);
  return sql(wanted ? 'status = ANY (?::smallint[])' : 'status <> ALL (?::smallint[])', numbers);
}

function error(node: PathAtom): Predicate {
  const isSought = node.kind === 'text' && node.test !== 'endsWith' && isPlainText(node.text);
  if (!isSought) return sql('error IS NOT NULL');
  // The column has only the beginning of a long error.
  const shortened = sql('length(error) >= ?', ERROR_MAX);
  if (!node.ignoreCase) return some([TEXT_CONDITIONS.contains('error', node.text), shortened]);
  // Postgres and JavaScript differ in the case of non-ASCII letters.
  const others = sql('octet_length(error) <> length(error)');
  const contains = TEXT_CONDITIONS.contains('lower(error COLLATE "C")', node.text.toLowerCase());
  return some([contains, others, shortened]);
}

/** A column of whole milliseconds. */
function whole(node: PathAtom, wanted: boolean, column: string): Predicate {
  if (node.kind === 'in') {
    if (!wanted) return undefined;
    return sql(
      `${column} = ANY (?::bigint[])`,
      node.literals.filter((one) => typeof one === 'number' && Number.isSafeInteger(one)),
    );
  }
  if (node.kind !== 'compare') return undefined;
  if (typeof node.literal !== 'number' || Math.abs(node.literal) >= Number.MAX_SAFE_INTEGER) return undefined;
  const comparison = wanted ? node.comparison : OPPOSITES[node.comparison];
  switch (comparison) {
    case '==':
      return Number.isInteger(node.literal) ? sql(`${column} = ?::bigint`, node.literal) : NOTHING;
    case '!=':
      return Number.isInteger(node.literal) ? sql(`${column} <> ?::bigint`, node.literal) : undefined;
    case '>=':
      return sql(`${column} >= ?::bigint`, Math.ceil(node.literal));
    case '>':
      return sql(`${column} > ?::bigint`, Math.floor(node.literal));
    case '<=':
      return sql(`${column} <= ?::bigint`, Math.floor(node.literal));
    case '<':
      return sql(`${column} < ?::bigint`, Math.ceil(node.literal));
  }
}

const OPPOSITES = { '==': '!=', '!=': '==', '<': '>=', '<=': '>', '>': '<=', '>=': '<' } as const satisfies Record<
  Comparison,
  Comparison
>;

/** The time of an event, which is its receipt if the sender set none. */
function time(node: PathAtom, column: string, isJsonb: string, at: string): Predicate {
  const predicate = whole(node, true, `coalesce((${column}::jsonb ->> 'ts')::numeric, ${at})`);
  return predicate && sql(`CASE WHEN ${isJsonb} THEN ${predicate.text} ELSE true END`, ...predicate.values);
}

/** The literals of which the text must be one. */
function equalTo(node: PathAtom): readonly Literal[] | undefined {
  if (node.kind === 'compare' && node.comparison === '==') return [node.literal];
  return node.kind === 'in' ? node.literals : undefined;
}

function textsOf(literals: readonly Literal[]): string[] {
  return literals.filter((literal) => typeof literal === 'string').map(toText);
}
