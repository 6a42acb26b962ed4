/** Why an event did not simply start a run of a function that listens to it. Started runs need no decision: the event's list of runs
 *  shows them. */

/** Stored by position, so append only. `expression_false` is not stored but derived from event and function
 *  (jobs/flow-control/explained-decisions.ts). */
export const DECISION_REASONS = [
  'expression_false',
  'not_evaluated',
  'paused',
  'rate_limited',
  'idempotent',
  'debounced',
  'batched',
  'singleton',
  'environment_archived',
  'in_lane',
  'parked',
  'superseded',
] as const;
export type DecisionReason = (typeof DECISION_REASONS)[number];

export interface Decision {
  env: string;
  /** Internal ID of the event. */
  eventId: string;
  functionId: string;
  reason: DecisionReason;
  /** The run that exists instead: that of the batch, the debounce or the singleton, the run with the same idempotency key,
   *  the run that stops the lane, or the later event's run of the same lane. */
  runId?: string;
  /** End of the rate limit, Unix milliseconds. */
  until?: number;
}
