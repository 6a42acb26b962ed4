/** What a run waits for: an event by its name and an expression, to go on with or to be cancelled by. */
import { compileWait } from './expression.ts';

export interface Wait {
  runId: string;
  /** The event that caused the run: `event` in the expression. It never meets its own run's wait. */
  eventId: string;
  /** The step that goes on with the event; none: the event cancels the run. */
  stepId?: string;
  /** CEL over `event`, which caused the run, and `async`, which arrived. */
  expression?: string;
  /** After this it is met by nothing, Unix milliseconds. */
  until?: number;
}

/** A trigger's wait is told from others of its run by this. */
export function waitKey({ runId, stepId }: Wait, ordinal = 0): string {
  return `${runId}/${stepId ?? `cancel-${ordinal}`}`;
}

/** @param caused gives the event that caused the run; called only where an expression asks for it */
export function meets(
  wait: Wait,
  arrival: { id: string; read: () => unknown },
  caused: unknown,
  nowMs: number,
): boolean {
  if (arrival.id === wait.eventId || (wait.until !== undefined && nowMs > wait.until)) return false;
  if (!wait.expression) return true;
  try {
    return compileWait(wait.expression)({ event: caused, async: arrival.read() });
  } catch {
    return false;
  }
}
