/** Judges events by expressions of functions, each within what it is allowed (model/expressions/fuel-budgets.ts). An event that an expression could
 *  not afford to judge does not meet it: the function is not triggered, the wait goes on. That is written down, for the function's page and
 *  in the log, and counted (docs/decisions/0014-expression-fuel.md). */
import { setImmediate } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { Logger } from '../../log.ts';
import type { MetricsRecorder } from '../../metrics/recorder.ts';
import type { Expression, Scope } from '../../model/expressions/expression.ts';
import { type FuelBudget, FuelBudgets } from '../../model/expressions/fuel-budgets.ts';
import type { ExpressionProblems, ProblemReason, SkippedEvents } from '../../store/apps/expression-problems.ts';

/** How long others wait while expressions are judged one after the other. */
const TURN_MS = 10;
/** Of an expression that is shown or logged. */
const SHOWN_LENGTH = 500;
/** A function's problems are logged no oftener. */
const LOG_EVERY_MS = 60_000;
const REFUSED = 'this version of the service does not take the expression; correct it and register the app again';

export interface Evaluated {
  env: string;
  functionId: string;
  source: string;
  /** undefined: it is refused today. */
  expression: Expression | undefined;
}

type SkippedIn = SkippedEvents & { env: string };

export class ExpressionEvaluator {
  readonly #problems: ExpressionProblems;
  readonly #log: Logger;
  readonly #meter: MetricsRecorder;
  readonly #allowances = new FuelBudgets();
  #skipped = new Map<string, SkippedIn>();
  readonly #logged = new LRUCache<string, true>({ max: 1_000, ttl: LOG_EVERY_MS });
  #turnBegan = 0;

  constructor(problems: ExpressionProblems, log: Logger, meter: MetricsRecorder) {
    this.#problems = problems;
    this.#log = log;
    this.#meter = meter;
  }

  isMet(judged: Evaluated, scope: Scope): boolean {
    const { env, functionId, source, expression } = judged;
    const now = Date.now();
    if (!expression) return this.#skip(judged, 'refused', REFUSED, now);
    const owner = { env, expression: `${env}\n${functionId}\n${source}` };
    const allowance = this.#allowances.budgetOf(owner, now);
    const judgment = expression.evaluate(scope, allowance.units);
    this.#allowances.record(owner, judgment, allowance, now);
    if (judgment.result !== 'too_costly') return judgment.result === 'met';
    const reason = allowance.quarantine ? 'quarantined' : 'too_costly';
    return this.#skip(judged, reason, messageOf(allowance), now);
  }

  /** Others have just had their turn. */
  begin(): void {
    this.#turnBegan = performance.now();
  }

  /** Between two judgments: others have waited for long enough. */
  get mustRest(): boolean {
    return performance.now() - this.#turnBegan > TURN_MS;
  }

  /** Lets others have their turn. */
  async rest(): Promise<void> {
    await setImmediate();
    this.begin();
  }

  /** Writes down what was skipped. Never fails the work. */
  async tell(): Promise<void> {
    if (this.#skipped.size === 0) return;
    const skipped = [...this.#skipped.values()];
    this.#skipped = new Map();
    for (const problem of skipped) this.#logOne(problem);
    try {
      for (const [env, ofEnv] of Map.groupBy(skipped, (problem) => problem.env)) await this.#problems.add(env, ofEnv);
    } catch (error) {
      this.#log.warn({ err: (error as Error).message }, 'problems of expressions were not written down');
    }
  }

  #logOne({ env, functionId, events, reason, message, expression }: SkippedIn): void {
    const key = `${env}\n${functionId}`;
    if (this.#logged.has(key)) return;
    this.#logged.set(key, true);
    this.#log.warn({ env, function_id: functionId, events, reason, expression }, `events were not judged: ${message}`);
  }

  #skip({ env, functionId, source }: Evaluated, reason: ProblemReason, message: string, at: number): false {
    this.#meter.expressionSkipped(reason);
    const key = `${env}\n${functionId}`;
    const events = (this.#skipped.get(key)?.events ?? 0) + 1;
    const expression = source.slice(0, SHOWN_LENGTH);
    this.#skipped.set(key, { env, functionId, reason, message, expression, at, events });
    return false;
  }
}

function messageOf({ quarantine, until }: FuelBudget): string {
  if (quarantine === undefined) return 'judging an event costs more than an expression may';
  const end = new Date(until ?? 0).toISOString();
  if (quarantine === 'share')
    return `the expressions of the environment have used their share of CPU; costly ones rest until ${end}`;
  return `the expression was stopped too often; until ${end} it may cost next to nothing`;
}
