/** Predicates on a JSON text in Postgres that are never false where a search's condition is true: most compare a
 *  fragment of the text, at a tenth of the cost of parsing it as jsonb. Callers test the results exactly (model/search/evaluate.ts). */
import type { Comparison, Literal, TextTest } from '../model/search/syntax.ts';

/** A condition with a question mark for each value. */
export interface Sql {
  text: string;
  values: readonly unknown[];
}

/** A condition; `undefined`: no predicate is possible, so everything passes. */
export type Predicate = Sql | undefined;

export const NOTHING: Sql = { text: 'false', values: [] };

export function sql(text: string, ...values: readonly unknown[]): Sql {
  return { text, values };
}

/** Conjunction of the defined predicates. */
export function every(predicates: readonly Predicate[]): Predicate {
  const defined = predicates.filter((predicate) => predicate !== undefined);
  return defined.length === 0 ? undefined : joined(defined, ' AND ');
}

export function some(predicates: readonly Predicate[]): Predicate {
  if (predicates.length === 0) return NOTHING;
  const defined = predicates.filter((predicate) => predicate !== undefined);
  return defined.length < predicates.length ? undefined : joined(defined, ' OR ');
}

function joined(predicates: readonly Sql[], operator: string): Sql {
  return {
    text: predicates.map(({ text }) => `(${text})`).join(operator),
    values: predicates.flatMap(({ values }) => values),
  };
}

/** Maximum number of literals searched one by one. */
const FEW = 5;

/** Whether Postgres can store the text and finds it wherever JavaScript does. */
export function isPlainText(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}

export interface JsonColumn {
  column: string;
  /** Fields before the search's first key. */
  within: readonly string[];
  /** Column that tells whether the text can be parsed as jsonb; undefined if there is no such column. */
  isJsonb?: string;
  /** Whether JSON.stringify wrote the text: then equal keys and values have equal spellings. */
  isCanonical: boolean;
}

export class JsonPredicates {
  readonly #json: JsonColumn;
  readonly #keys: readonly (string | number)[];

  constructor(json: JsonColumn, keys: readonly (string | number)[]) {
    this.#json = json;
    this.#keys = [...json.within, ...keys];
  }

  compare(comparison: Comparison, literal: Literal): Predicate {
    if (comparison === '==') return this.#equals(literal);
    const document = this.#document();
    if (comparison === '!=') {
      const differs = typeof literal === 'string' && isPlainText(literal);
      return this.#afterKey(
        document &&
          (differs ? sql(`${document.text} <> to_jsonb(?::text)`, ...document.values, literal) : present(document)),
      );
    }
    // In jsonb's order, lists, objects, true and false are above all numbers, and texts and null below.
    return this.#afterKey(typeof literal === 'number' ? document && ordered(document, comparison, literal) : undefined);
  }

  text(test: TextTest, text: string): Predicate {
    if (!text.isWellFormed()) return this.#afterKey(undefined);
    const quoted = JSON.stringify(text);
    if (test === 'startsWith') return this.#spelled(quoted.slice(0, -1), true);
    return every([this.#key(), this.#spelled(test === 'endsWith' ? quoted.slice(1) : quoted.slice(1, -1), false)]);
  }

  in(literals: readonly Literal[]): Predicate {
    if (literals.length <= FEW) return some(literals.map((literal) => this.#equals(literal)));
    const document = this.#document();
    const texts = literals.filter((literal) => typeof literal === 'string');
    const areTexts = texts.length === literals.length && texts.every(isPlainText);
    return this.#afterKey(
      document && areTexts
        ? sql(`${document.text} = ANY (SELECT to_jsonb(t) FROM unnest(?::text[]) t)`, ...document.values, texts)
        : undefined,
    );
  }

  element(literal: Literal): Predicate {
    return every([
      this.#key('['),
      typeof literal === 'number' ? undefined : this.#spelled(JSON.stringify(literal), false),
    ]);
  }

  has(): Predicate {
    const document = this.#document();
    return this.#afterKey(document && present(document));
  }

  #equals(literal: Literal): Predicate {
    const document = this.#document();
    if (typeof literal === 'number') return this.#afterKey(document && nearly(document, literal));
    const spelled = this.#spelled(JSON.stringify(literal), true);
    const isExact = typeof literal === 'string' && isPlainText(literal) && document;
    return isExact
      ? this.#guarded(spelled, sql(`${document.text} = to_jsonb(?::text)`, ...document.values, literal))
      : spelled;
  }

  /** Text of the last key, and what follows it. */
  #key(next = ''): Predicate {
    const key = this.#keys.findLast((part) => typeof part === 'string');
    if (key === undefined) return undefined;
    const isLast = key === this.#keys.at(-1);
    return this.#contains(
      this.#json.isCanonical ? `${JSON.stringify(key)}:${isLast ? next : '['}` : JSON.stringify(key),
    );
  }

  /** The value in its JSON spelling.
   *  @param isStart whether the fragment begins there */
  #spelled(text: string, isStart: boolean): Predicate {
    const last = this.#keys.at(-1);
    if (!isStart || !this.#json.isCanonical || typeof last !== 'string') {
      return every([isStart ? this.#key() : undefined, this.#contains(text)]);
    }
    return this.#contains(`${JSON.stringify(last)}:${text}`);
  }

  #contains(text: string): Predicate {
    const { column, isCanonical } = this.#json;
    if (isCanonical) return sql(`strpos(${column}, ?) > 0`, text);
    // Another program may have escaped characters that JSON.stringify does not, but never without a backslash.
    return text.includes('\\') ? undefined : sql(`strpos(${column}, ?) > 0 OR strpos(${column}, ?) > 0`, text, '\\');
  }

  #afterKey(predicate: Predicate): Predicate {
    return this.#guarded(this.#key(), predicate);
  }

  /** Parses the text as jsonb only if the first predicate is true. */
  #guarded(first: Predicate, then: Predicate): Predicate {
    const { isJsonb } = this.#json;
    if (!then || !isJsonb) return first;
    const [before, values] = first ? [`WHEN NOT (${first.text}) THEN false `, first.values] : ['', []];
    return sql(`CASE ${before}WHEN ${isJsonb} THEN ${then.text} ELSE true END`, ...values, ...then.values);
  }

  #document(): Predicate {
    const { column, isJsonb } = this.#json;
    if (!isJsonb || !this.#keys.every((key) => typeof key === 'number' || isPlainText(key))) return undefined;
    return sql(`(${column}::jsonb #> ?::text[])`, this.#keys.map(String));
  }
}

function present({ text, values }: Sql): Sql {
  return sql(`${text} IS NOT NULL`, ...values);
}

/** JSON numbers count as the nearest double, and rounding preserves order. */
function ordered({ text, values }: Sql, comparison: '<' | '<=' | '>' | '>=', literal: number): Predicate {
  const bound = comparison === '<=' ? neighbor(literal, 1) : comparison === '>=' ? neighbor(literal, -1) : literal;
  if (!Number.isFinite(bound)) return undefined;
  return sql(`${text} ${comparison} to_jsonb(?::numeric)`, ...values, String(bound));
}

function nearly({ text, values }: Sql, literal: number): Predicate {
  const [below, above] = [neighbor(literal, -1), neighbor(literal, 1)];
  return every([
    Number.isFinite(below) ? sql(`${text} > to_jsonb(?::numeric)`, ...values, String(below)) : undefined,
    Number.isFinite(above) ? sql(`${text} < to_jsonb(?::numeric)`, ...values, String(above)) : undefined,
  ]);
}

/** The next double in this direction. */
function neighbor(value: number, direction: 1 | -1): number {
  if (value === 0) return direction * Number.MIN_VALUE;
  const bits = new BigInt64Array(new Float64Array([value]).buffer);
  bits[0] = (bits[0] as bigint) + BigInt(value > 0 ? direction : -direction);
  return new Float64Array(bits.buffer)[0] as number;
}
