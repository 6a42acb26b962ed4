/** Evaluates expressions of functions on events, each within its budget (model/expressions/fuel-budgets.ts).
 *  An event whose evaluation exceeds the budget does not match: the function is not triggered, the wait continues.
 *  That is recorded for the function's page, logged and counted (docs/decisions/0014-expression-fuel.md). */
import { setImmediate } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { Logger } from '../../log.ts';
import type { MetricsRecorder } from '../../metrics/recorder.ts';
import type { EvaluationResult, Expression, Scope } from '../../model/expressions/expression.ts';
import { type FuelBudget, FuelBudgets } from '../../model/expressions/fuel-budgets.ts';
import { Composed } from '../../model/values/composed.ts';
import { iso } from '../../model/values/time.ts';
import type { ExpressionProblems, ProblemReason, SkippedEvents } from '../../store/apps/expression-problems.ts';

/** How long consecutive evaluations may occupy the event loop. */
const TURN_MS = 10;
/** Maximum length of an expression in the log and on the page. */
const SHOWN_LENGTH = 500;
/** At most one log line per function in this time. */
const LOG_EVERY_MS = 60_000;
const REJECTED = 'this version of Tidegate does not accept the expression; correct it and register the app again';

export interface ExpressionOfFunction {
  env: string;
  functionId: string;
  source: string;
  /** undefined if this version rejects the source. */
  expression: Expression | undefined;
}

type SkippedInEnvironment = SkippedEvents & { env: string };

export class ExpressionEvaluator extends Composed<{
  problems: ExpressionProblems;
  log: Logger;
  recorder: MetricsRecorder;
}> {
  readonly #budgets = new FuelBudgets();
  #skipped = new Map<string, SkippedInEnvironment>();
  readonly #logged = new LRUCache<string, true>({ max: 1_000, ttl: LOG_EVERY_MS });
  #turnStartedAt = 0;

  /** @param nowMs the time that `now()` returns: the event's, so that a repeated job has the same result */
  matches(evaluated: ExpressionOfFunction, scope: Scope, nowMs: number): boolean {
    return this.evaluate(evaluated, scope, nowMs) === 'met';
  }

  /** Like `matches`. `too_costly`: it was stopped, which a later evaluation may not be. */
  evaluate(evaluated: ExpressionOfFunction, scope: Scope, nowMs: number): EvaluationResult {
    const { env, functionId, source, expression } = evaluated;
    const now = Date.now();
    if (!expression) {
      this.#skip(evaluated, 'refused', REJECTED, now);
      return 'not_met';
    }
    const owner = { env, expression: `${env}\n${functionId}\n${source}` };
    const budget = this.#budgets.budgetOf(owner, now);
    const result = expression.evaluate(scope, budget.units, nowMs);
    this.#budgets.record(owner, result, budget, now);
    if (result.result === 'too_costly') {
      this.#skip(evaluated, budget.quarantine ? 'quarantined' : 'too_costly', messageOf(budget), now);
    }
    return result.result;
  }

  /** The value of an expression: undefined if it cannot be evaluated. Exceeding the budget is reported as for `matches`. */
  override valueOf(evaluated: ExpressionOfFunction, scope: Scope, nowMs: number): unknown {
    const { env, functionId, source, expression } = evaluated;
    if (!expression) return undefined;
    const now = Date.now();
    const owner = { env, expression: `${env}\n${functionId}\n${source}` };
    const budget = this.#budgets.budgetOf(owner, now);
    const { value, result, cost } = expression.valueOf(scope, budget.units, nowMs);
    this.#budgets.record(owner, { result: result === 'too_costly' ? result : 'met', cost }, budget, now);
    if (result === 'too_costly') {
      this.#skip(evaluated, budget.quarantine ? 'quarantined' : 'too_costly', messageOf(budget), now);
    }
    return value;
  }

  /** Call when other work has just had the event loop. */
  startTurn(): void {
    this.#turnStartedAt = performance.now();
  }

  /** Check between two evaluations: whether other work has waited long enough. */
  get shouldYield(): boolean {
    return performance.now() - this.#turnStartedAt > TURN_MS;
  }

  /** Gives the event loop to other work. */
  async yieldTurn(): Promise<void> {
    await setImmediate();
    this.startTurn();
  }

  /** Logs and stores which events were skipped. Never throws. */
  async reportSkipped(): Promise<void> {
    if (this.#skipped.size === 0) return;
    const skipped = [...this.#skipped.values()];
    this.#skipped = new Map();
    for (const problem of skipped) this.#logSkipped(problem);
    try {
      for (const [env, ofEnv] of Map.groupBy(skipped, (problem) => problem.env))
        await this.deps.problems.add(env, ofEnv);
    } catch (error) {
      this.deps.log.warn({ err: (error as Error).message }, 'problems of expressions were not stored');
    }
  }

  #logSkipped({ env, functionId, events, reason, message, expression }: SkippedInEnvironment): void {
    const key = `${env}\n${functionId}`;
    if (this.#logged.has(key)) return;
    this.#logged.set(key, true);
    this.deps.log.warn({ env, function_id: functionId, events, reason, expression }, `events were skipped: ${message}`);
  }

  #skip({ env, functionId, source }: ExpressionOfFunction, reason: ProblemReason, message: string, at: number): void {
    this.deps.recorder.expressionSkipped(reason);
    const key = `${env}\n${functionId}`;
    const events = (this.#skipped.get(key)?.events ?? 0) + 1;
    const expression = source.slice(0, SHOWN_LENGTH);
    this.#skipped.set(key, { env, functionId, reason, message, expression, at, events });
  }
}

function messageOf({ quarantine, until }: FuelBudget): string {
  if (quarantine === undefined) return 'evaluating an event costs more than an expression may';
  const end = iso(until ?? 0);
  if (quarantine === 'share')
    return `the expressions of the environment have used their share of CPU; costly ones are quarantined until ${end}`;
  return `the expression was stopped too often; until ${end} its allowance is minimal`;
}
