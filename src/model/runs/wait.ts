/** Waits of a run for an event, by name and expression. The event resumes or cancels the run. */
import { compileWait, type Expression, tryCompile } from '../expressions/expression.ts';
import { stepKey } from './step-key.ts';

export interface Wait {
  runId: string;
  functionId: string;
  /** The event that triggered the run, `event` in the expression. It never matches waits of its own run. */
  eventId: string;
  /** The waiting step; undefined: the event cancels the run. */
  stepId?: string;
  /** CEL over `event` (the event that triggered the run) and `async` (the received event). */
  expression?: string;
  /** The part of `event` that the expression reads; undefined: read the event. */
  caused?: unknown;
  /** Ignores events received before, Unix milliseconds; undefined: no lower limit. */
  since?: number;
  /** Ignores events after this time, Unix milliseconds. */
  until?: number;
}

interface ReceivedEvent {
  id: string;
  /** Unix milliseconds. */
  receivedAt: number;
}

/** @param ordinal distinguishes the cancel triggers of a run */
export function waitKey({ runId, stepId }: Pick<Wait, 'runId' | 'stepId'>, ordinal = 0): string {
  return `${runId}/${stepId === undefined ? `cancel-${ordinal}` : stepKey(stepId)}`;
}

export function runOfWait(key: string): string {
  return key.slice(0, key.indexOf('/'));
}

/** Whether the event can match the wait, without regard to the expression. */
export function canMatch(wait: Wait, event: ReceivedEvent, nowMs: number): boolean {
  return event.id !== wait.eventId && !isTooOld(wait, event) && (wait.until === undefined || nowMs <= wait.until);
}

/** Events of the same millisecond are ordered by ID: if each of two events could cancel the other's run, only one does. */
function isTooOld({ since, eventId }: Wait, { id, receivedAt }: ReceivedEvent): boolean {
  return since !== undefined && (receivedAt < since || (receivedAt === since && id < eventId));
}

/** undefined: an earlier version accepted an expression that this version rejects. */
export function expressionOf({ expression }: Wait): Expression | undefined {
  return expression ? tryCompile(expression, compileWait) : undefined;
}
