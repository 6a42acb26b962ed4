/** What a run waits for: an event by its name and an expression, to go on with or to be cancelled by. */
import { compileWait, type Expression } from '../expressions/expression.ts';

export interface Wait {
  runId: string;
  functionId: string;
  /** The event that caused the run: `event` in the expression. It never meets its own run's wait. */
  eventId: string;
  /** The step that goes on with the event; none: the event cancels the run. */
  stepId?: string;
  /** CEL over `event`, which caused the run, and `async`, which arrived. */
  expression?: string;
  /** As much of `event` as the expression reads; none: the event has to be read. */
  caused?: unknown;
  /** Nothing that was received before meets it, Unix milliseconds; none: whatever comes. */
  since?: number;
  /** After this it is met by nothing, Unix milliseconds. */
  until?: number;
}

/** What of an event tells whether it may meet a wait. */
interface Received {
  id: string;
  /** Unix milliseconds. */
  receivedAt: number;
}

/** A trigger's wait is told from others of its run by this. */
export function waitKey({ runId, stepId }: Pick<Wait, 'runId' | 'stepId'>, ordinal = 0): string {
  return `${runId}/${stepId ?? `cancel-${ordinal}`}`;
}

/** The run that a wait with this key is of. */
export function runOfWait(key: string): string {
  return key.slice(0, key.indexOf('/'));
}

/** Whether the event may meet the wait: what is left to be asked is the expression. */
export function isOpenTo(wait: Wait, arrival: Received, nowMs: number): boolean {
  return arrival.id !== wait.eventId && !isTooOld(wait, arrival) && (wait.until === undefined || nowMs <= wait.until);
}

/** Events of one millisecond are in the order of their IDs: of two events that may each cancel the other's run, one does. */
function isTooOld({ since, eventId }: Wait, { id, receivedAt }: Received): boolean {
  return since !== undefined && (receivedAt < since || (receivedAt === since && id < eventId));
}

/** undefined: it was stored by a version that took what is refused today. */
export function expressionOf({ expression }: Wait): Expression | undefined {
  try {
    return expression ? compileWait(expression) : undefined;
  } catch {
    return undefined;
  }
}
