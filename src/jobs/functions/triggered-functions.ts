/** Finds the functions that an event triggers, by name and expression. */
import type { AppFunction } from '../../model/apps/app.ts';
import type { TriggerExpression, TriggerTable } from '../../model/events/triggers.ts';
import type { ExpressionEvaluator } from './expression-evaluator.ts';

export interface TriggeringEvent {
  env: string;
  name: string;
  receivedAt: number;
  /** The event as expressions see it; called only if one needs it. */
  read: () => unknown;
}

/** Gives the event loop to other work in between. Afterwards, call `reportSkipped`. */
export async function* triggeredFunctions(
  table: TriggerTable,
  { env, name, receivedAt, read }: TriggeringEvent,
  evaluator: ExpressionEvaluator,
): AsyncGenerator<AppFunction> {
  const isMet = ({ fn, source, expression }: TriggerExpression, event: unknown) =>
    evaluator.matches({ env, functionId: fn.id, source, expression }, { event }, receivedAt);
  evaluator.startTurn();
  for (const fn of table.match(name, read, isMet)) {
    if (fn) yield fn;
    if (evaluator.shouldYield) await evaluator.yieldTurn();
  }
}
