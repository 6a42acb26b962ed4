/** Detects triggers that no event can ever meet, by looking at the trigger alone. */
import {
  ALERT_OPENED,
  ALERT_RESOLVED,
  FUNCTION_DEFERRED,
  FUNCTION_FAILED,
  FUNCTION_INVOKED,
  RESERVED_PREFIXES,
  WEBHOOK_FAILING,
  WEBHOOK_RECOVERED,
} from '../events/event.ts';
import { FUNCTION_CANCELLED, FUNCTION_FINISHED, RUN_PAUSED } from '../events/lifecycle.ts';
import { listensTo } from '../events/triggers.ts';
import type { Expression } from '../expressions/expression.ts';

/** Reserved event names that the service sends. */
const SENT_BY_SERVICE: readonly string[] = [
  FUNCTION_FAILED,
  FUNCTION_FINISHED,
  FUNCTION_CANCELLED,
  FUNCTION_INVOKED,
  FUNCTION_DEFERRED,
  RUN_PAUSED,
  WEBHOOK_FAILING,
  WEBHOOK_RECOVERED,
  ALERT_OPENED,
  ALERT_RESOLVED,
];

/** Fuel for one expression: enough for a comparison, because a registration may have thousands of them. */
const UNITS = 1_000;
const WILDCARD_ELSEWHERE = /\*./s;
const WILDCARD_ALONE = /(?:^|[^/.])\*$/;

/** Explains why no event can have a name that the trigger matches; undefined if events can. */
export function unmatchedName(event: string): string | undefined {
  if (RESERVED_PREFIXES.some((prefix) => event.startsWith(prefix))) {
    return SENT_BY_SERVICE.some((name) => listensTo(event, name))
      ? undefined
      : `only the service sends events of this kind, and it sends none that ${JSON.stringify(event)} is for`;
  }
  return WILDCARD_ELSEWHERE.test(event) || WILDCARD_ALONE.test(event)
    ? `* stands for other text only at the end, after / or .: no event but one named ${JSON.stringify(event)} meets it`
    : undefined;
}

/** Whether an expression that reads neither the event nor the time evaluates to false. */
export function isNeverMet(source: string, { evaluate }: Pick<Expression, 'evaluate'>): boolean {
  return !/\b(?:event|async|now)\b/.test(source) && evaluate({}, UNITS).result === 'not_met';
}
