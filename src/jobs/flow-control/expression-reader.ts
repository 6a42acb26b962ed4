/** Evaluates expressions over a stored event to explain why they were not met. Bounded in cost: an expression beyond the bound counts as
 *  met. */
import type { Trigger } from '../../model/apps/app.ts';
import type { Source } from '../../model/events/event.ts';
import { mayMeet } from '../../model/events/triggers.ts';
import {
  EVALUATION_UNITS,
  type EvaluatedValue,
  type Expression,
  tryCompile,
} from '../../model/expressions/expression.ts';
import { type Read, readsOf } from '../../model/expressions/reads.ts';
import type { FlowOptions } from '../../model/flow-control/options.ts';

/** Fuel for one event: about 25 ms, at most 100 ms. */
const UNITS_MAX = 5 * EVALUATION_UNITS;
const SHOWN_LENGTH = 500;

/** Why the expression was not met: it is false, fails on this event, or is rejected by this version. */
export const RESULTS = ['false', 'failed', 'refused'] as const;

export interface ReadExpression {
  expression: string;
  result: (typeof RESULTS)[number];
  reads: Read[];
}

/** A key of flow control that could not be evaluated. */
export interface UnreadKey {
  /** Option of the function: `concurrency`, `rateLimit`. */
  option: string;
  expression: string;
}

export class ExpressionReader {
  readonly #event: unknown;
  readonly #nowMs: number;
  #unitsLeft = UNITS_MAX;

  /** @param event the event as expressions see it
   *  @param nowMs the time of `now()` */
  constructor(event: unknown, nowMs: number) {
    this.#event = event;
    this.#nowMs = nowMs;
  }

  /** The expressions of triggers for an event with this name and source, if no trigger is met. */
  triggers(triggers: readonly Trigger[], name: string, source: Source): ReadExpression[] | 'met' | 'not_listening' {
    const listening = triggers.filter((trigger) => mayMeet(trigger, name, source));
    if (listening.length === 0) return 'not_listening';
    const found: ReadExpression[] = [];
    for (const { expression: source } of listening) {
      if (source === undefined) return 'met';
      const result = this.#resultOf(source);
      if (result === 'met') return 'met';
      found.push(result);
    }
    return found;
  }

  keysNotEvaluated(options: FlowOptions): UnreadKey[] {
    return [...keysOf(options)]
      .filter(([, source]) => {
        const expression = tryCompile(source);
        return !expression || this.#valueOf(expression).result === 'not_evaluable';
      })
      .map(([option, source]) => ({ option, expression: source.slice(0, SHOWN_LENGTH) }));
  }

  #resultOf(source: string): ReadExpression | 'met' {
    const shown = source.slice(0, SHOWN_LENGTH);
    const expression = tryCompile(source);
    if (!expression) return { expression: shown, result: 'refused', reads: [] };
    const { value, result } = this.#valueOf(expression);
    if (value === true || result === 'too_costly') return 'met';
    const reads = readsOf(expression, this.#event);
    return { expression: shown, result: result === 'evaluated' ? 'false' : 'failed', reads };
  }

  #valueOf(expression: Expression): EvaluatedValue {
    const units = Math.min(EVALUATION_UNITS, this.#unitsLeft);
    const evaluated = expression.valueOf({ event: this.#event }, units, this.#nowMs);
    this.#unitsLeft -= evaluated.cost;
    return evaluated;
  }
}

function* keysOf(options: FlowOptions): Generator<[option: string, source: string]> {
  const { runConcurrency, stepConcurrency, throttle, rateLimit, debounce, batch, singleton } = options;
  for (const { key } of [...runConcurrency, ...stepConcurrency]) if (key) yield ['concurrency', key];
  if (throttle?.key) yield ['throttle', throttle.key];
  if (rateLimit?.key) yield ['rateLimit', rateLimit.key];
  if (debounce?.key) yield ['debounce', debounce.key];
  if (batch?.key) yield ['batchEvents', batch.key];
  if (singleton?.key) yield ['singleton', singleton.key];
  if (options.order) yield ['order', options.order.key];
  if (options.order?.by) yield ['order', options.order.by];
  if (options.priority) yield ['priority', options.priority];
  if (options.idempotency) yield ['idempotency', options.idempotency];
}
