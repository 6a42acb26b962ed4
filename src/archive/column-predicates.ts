/** Predicates on the columns of the archive for one condition of a search. Each is never false where the condition is true. */
import { ID_PATTERN } from '../model/ids.ts';
import { idRange } from '../model/search/id-prefix.ts';
import type { Comparison, Literal, SearchNode } from '../model/search/syntax.ts';
import { toText, toUuid } from './database.ts';
import { isPlainText, type JsonPredicates, NOTHING, type Predicate, type Sql, some, sql } from './json-predicates.ts';
import { ERROR_MAX, STATUS_NUMBERS } from './rows.ts';

/** A condition without further conditions in it. */
export type Atom = Exclude<SearchNode, { kind: 'and' | 'or' | 'not' | 'constant' }>;
/** A condition on a single value. */
export type PathAtom = Exclude<Atom, { kind: 'comparePaths' }>;

export function jsonPredicate(
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
export function numberedText(
  node: PathAtom,
  wanted: boolean,
  numbers: ReadonlyMap<string, number>,
  column: string,
  find: (condition: Sql) => Sql,
): Predicate {
  const literals = equalTo(node);
  if (literals) {
    const texts = literals.filter((literal) => typeof literal === 'string');
    const found = texts.flatMap((text) => numbers.get(text) ?? []);
    if (wanted) return sql(`${column} = ANY (?::int[])`, found);
    // Texts that Postgres cannot store share a number with others.
    return texts.some((text) => text.includes('\uFFFD') || toText(text) !== text)
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

/** A text column, in which some characters are replaced (database.ts). */
export function textPredicate(node: PathAtom, column: string): Predicate {
  const literals = equalTo(node);
  if (literals) return sql(`${column} = ANY (?::text[])`, textsOf(literals));
  if (node.kind === 'text' && isPlainText(node.text)) return TEXT_CONDITIONS[node.test](column, node.text);
  return sql(`${column} IS NOT NULL`);
}

export function sourcePredicate(node: PathAtom, table: string, envId: number): Predicate {
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

export function idPredicate(node: PathAtom, column: string): Predicate {
  const literals = equalTo(node);
  if (literals) {
    const ids = literals.filter((literal) => typeof literal === 'string' && ID_PATTERN.test(literal)) as string[];
    return sql(`${column} = ANY (?::uuid[])`, ids.map(toUuid));
  }
  if (node.kind !== 'text' || node.test !== 'startsWith') return undefined;
  const range = idRange(node.text);
  return range ? sql(`${column} BETWEEN ?::uuid AND ?::uuid`, toUuid(range.first), toUuid(range.last)) : NOTHING;
}

const STATUSES = new Map<Literal, number>(Object.entries(STATUS_NUMBERS));

export function statusPredicate(node: PathAtom, wanted: boolean): Predicate {
  const literals = equalTo(node);
  if (!literals) return undefined;
  const numbers = literals.flatMap((literal) => STATUSES.get(literal) ?? []);
  return sql(wanted ? 'status = ANY (?::smallint[])' : 'status <> ALL (?::smallint[])', numbers);
}

export function errorPredicate(node: PathAtom): Predicate {
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

export function wholeMilliseconds(node: PathAtom, wanted: boolean, column: string): Predicate {
  if (node.kind === 'in') {
    if (!wanted) return undefined;
    return sql(
      `${column} = ANY (?::bigint[])`,
      node.literals.filter((literal) => typeof literal === 'number' && Number.isSafeInteger(literal)),
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
export function timePredicate(node: PathAtom, column: string, isJsonb: string, at: string): Predicate {
  const predicate = wholeMilliseconds(node, true, `coalesce((${column}::jsonb ->> 'ts')::numeric, ${at})`);
  return predicate && sql(`CASE WHEN ${isJsonb} THEN ${predicate.text} ELSE true END`, ...predicate.values);
}

/** The literals, one of which the text must equal. */
function equalTo(node: PathAtom): readonly Literal[] | undefined {
  if (node.kind === 'compare' && node.comparison === '==') return [node.literal];
  return node.kind === 'in' ? node.literals : undefined;
}

function textsOf(literals: readonly Literal[]): string[] {
  return literals.filter((literal) => typeof literal === 'string').map(toText);
}
