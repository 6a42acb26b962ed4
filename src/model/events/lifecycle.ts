/** Events that the service itself sends about runs (docs/events.md#events-of-the-service). */
import type { AppFunction } from '../apps/app.ts';
import { FUNCTION_FAILED, FUNCTION_INVOKED } from './function-events.ts';

export const FUNCTION_FINISHED = 'inngest/function.finished';
export const FUNCTION_CANCELLED = 'inngest/function.cancelled';
/** Inngest has no such event. */
export const RUN_PAUSED = 'tidegate/run.paused';

export { FUNCTION_FAILED, FUNCTION_INVOKED };

const ENDS_AND_PAUSES: ReadonlySet<string> = new Set([
  FUNCTION_FAILED,
  FUNCTION_FINISHED,
  FUNCTION_CANCELLED,
  RUN_PAUSED,
]);

/** Whether a function runs only when other functions fail. Clients register one for each function with a failure handler. */
export function isFailureHandler({ triggers }: Pick<AppFunction, 'triggers'>): boolean {
  return triggers.length > 0 && triggers.every(({ event }) => event === FUNCTION_FAILED);
}

/** Whether the event reports the end or the pause of a run. If such an event triggered a run, neither of that run is reported: handlers would
 *  trigger each other forever. */
export function reportsEndOrPause(eventName: string): boolean {
  return ENDS_AND_PAUSES.has(eventName);
}

/** Identifies the step that invoked a run: `_inngest.correlation_id` in the invocation, `correlation_id` in the event about the run's
 *  end. */
export function correlationId({ runId, stepId }: { runId: string; stepId: string }): string {
  return `${runId}.${stepId}`;
}
