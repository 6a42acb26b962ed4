/** Expressions in CEL: over `event` in triggers; over `event`, which caused a run, and `async`, which arrived, in waits. They are written
 *  by apps, and judged by processes that all apps share, so both what they are and what they cost is bounded
 *  (docs/decisions/0014-expression-fuel.md). */
import type { ASTNode } from '@marcbachmann/cel-js';
import { LRUCache } from 'lru-cache';
import { Language } from './language.ts';

/** Units that one judgment may spend: about 5 ms, 20 at worst. Enough to look at a field of each of 10,000 elements of a list. */
export const JUDGMENT_UNITS = 60_000;

/** `too_costly`: it was stopped, and nothing is known. */
export type Verdict = 'met' | 'not_met' | 'too_costly';

export interface Judgment {
  verdict: Verdict;
  /** Units that it has spent. */
  cost: number;
}

export interface Scope extends Record<string, unknown> {
  event: unknown;
  async?: unknown;
}

export interface Expression {
  ast: ASTNode;
  /** Whether the events meet the expression. What cannot be evaluated (a field that is not there, say) is not met. Never throws.
   *  @param units that it may spend */
  judge(scope: Scope, units?: number): Judgment;
}

const KEPT_MAX = 1_000;

/** Expressions of one kind. The latest are kept, since functions share them, and are read anew with every change of their environment. */
class Kind {
  readonly #language: Language;
  readonly #compiled = new LRUCache<string, Expression>({ max: KEPT_MAX });

  constructor(variables: readonly string[]) {
    this.#language = new Language(variables);
  }

  compile(source: string): Expression {
    const kept = this.#compiled.get(source);
    if (kept) return kept;
    const compiled = compileIn(this.#language, source);
    this.#compiled.set(source, compiled);
    return compiled;
  }
}

const triggers = new Kind(['event']);
const waits = new Kind(['event', 'async']);

/** @throws Error that says what is wrong with the expression: what was found, and what is allowed */
export function compile(source: string): Expression {
  return triggers.compile(source);
}

/** As `compile`, with `async`. */
export function compileWait(source: string): Expression {
  return waits.compile(source);
}

function compileIn(language: Language, source: string): Expression {
  const { fuel } = language;
  const { ast, evaluate } = language.compile(source);
  return {
    ast,
    judge(scope, units = JUDGMENT_UNITS) {
      fuel.fill(units);
      let met = false;
      try {
        met = evaluate(scope) === true;
      } catch {}
      const verdict = fuel.exhausted ? 'too_costly' : met ? 'met' : 'not_met';
      return { verdict, cost: fuel.spent };
    },
  };
}
