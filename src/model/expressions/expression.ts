/** CEL expressions: over `event` in triggers; in waits, over `event` (the event that triggered the run) and `async` (the received event);
 *  in filters of webhooks, over `method`, `headers`, `query` and `body` of the request;
 *  in orders of webhooks, over `event` and that `request`. Apps write them, and shared processes evaluate
 *  them, so their size and cost are bounded (docs/decisions/0014-expression-fuel.md). */
import type { ASTNode } from '@marcbachmann/cel-js';
import { LRUCache } from 'lru-cache';
import { Language } from './language.ts';

/** Fuel of one evaluation: about 5 ms, at most 20 ms; enough to read a field of each of 10,000 list elements. */
export const EVALUATION_UNITS = 60_000;

/** `too_costly`: the evaluation was stopped without a result. */
export type EvaluationResult = 'met' | 'not_met' | 'too_costly';

export interface Evaluation {
  result: EvaluationResult;
  /** Units spent. */
  cost: number;
}

export type Scope = Record<string, unknown>;

/** The value of an expression; `value` is undefined if evaluation failed. */
export interface EvaluatedValue {
  value: unknown;
  result: 'evaluated' | 'not_evaluable' | 'too_costly';
  cost: number;
}

export interface Expression {
  ast: ASTNode;
  /** Evaluates the expression. If it cannot be evaluated (a text is compared with a number, for example), it is not met. Never throws.
   *  @param units fuel limit
   *  @param nowMs the time that `now()` returns, Unix milliseconds */
  evaluate(scope: Scope, units?: number, nowMs?: number): Evaluation;
  /** Like `evaluate`, for an expression whose value is needed, such as the key of a limit. Never throws. */
  valueOf(scope: Scope, units?: number, nowMs?: number): EvaluatedValue;
}

const CACHED_MAX = 1_000;

/** @throws Error with the value found and the value allowed */
type Compile = (source: string) => Expression;

export const compile = compilerOver('event');
export const compileWait = compilerOver('event', 'async');
/** Compiles an expression over a request of a webhook. */
export const compileFilter = compilerOver('method', 'headers', 'query', 'body');
/** Compiles an expression over an event of a webhook and its request. */
export const compileOrder = compilerOver('event', 'request');

/** @returns undefined if an earlier version of the service accepted the expression, and this one rejects it */
export function tryCompile(source: string, compiler = compile): Expression | undefined {
  try {
    return compiler(source);
  } catch {
    return undefined;
  }
}

/** @returns why the expression is not valid; undefined if it is */
export function compileProblem(source: string, compiler = compile): string | undefined {
  try {
    compiler(source);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

/** The compiler caches, because functions share expressions, and each change of an environment reloads them. */
function compilerOver(...variables: string[]): Compile {
  const language = new Language(variables);
  const compiled = new LRUCache<string, Expression>({ max: CACHED_MAX });
  return (source) => {
    const cached = compiled.get(source);
    if (cached) return cached;
    const expression = compileIn(language, source);
    compiled.set(source, expression);
    return expression;
  };
}

function compileIn(language: Language, source: string): Expression {
  const { fuel, time } = language;
  const { ast, evaluate } = language.compile(source);
  const evaluateValue: Expression['valueOf'] = (scope, units = EVALUATION_UNITS, nowMs = Date.now()) => {
    fuel.refill(units);
    time.nowMs = nowMs;
    let value: unknown;
    try {
      value = evaluate(scope);
    } catch {}
    const result = fuel.exhausted ? 'too_costly' : value === undefined ? 'not_evaluable' : 'evaluated';
    return { value: fuel.exhausted ? undefined : value, result, cost: fuel.spent };
  };
  return {
    ast,
    evaluate(scope, units, nowMs) {
      const { value, result, cost } = evaluateValue(scope, units, nowMs);
      return { result: result === 'too_costly' ? result : value === true ? 'met' : 'not_met', cost };
    },
    valueOf: evaluateValue,
  };
}
