/** Why an event did not simply start a run of a function that listens to it. A run that it did start needs no decision: its list of runs tells. */

/** Stored by their position: append only. `expression_false` is not stored: event and function tell (jobs/flow-control/explained-decisions.ts). */
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
] as const;
export type DecisionReason = (typeof DECISION_REASONS)[number];

export interface Decision {
  env: string;
  /** Internal ID of the event. */
  eventId: string;
  functionId: string;
  reason: DecisionReason;
  /** The run that stands for this one: of the batch, of the debounce, of the singleton, or with the same idempotency key. */
  runId?: string;
  /** Until when further events are rate-limited, Unix milliseconds. */
  until?: number;
}
