/** The API's representation of the state of a run. */
import { z } from 'zod';
import { PAUSE_REASONS } from '../../model/runs/pause.ts';
import { RUN_STATES, type RunState } from '../../model/runs/run-state.ts';
import { apiObject } from '../http/validation.ts';
import { limitNameSchema, presentLimitName } from './limits.ts';
import { present } from './present.ts';

/** Fields that do not apply are absent, because a list has many states. */
export const runStateSchema = apiObject('RunState', {
  kind: z
    .enum(RUN_STATES)
    .describe(
      'queued: the run waits for its first call; held: a limit, or the pause of its function, holds the run back; running: a call is in flight, or starts at once; ' +
        'retrying: the run waits for the next attempt; sleeping; waiting_for_event; waiting_for_signal; invoking: the run waits for a run of another function; ' +
        'requesting: the service makes the request of a step; paused: the run is not called until a user resumes it; completed, failed, cancelled: as the status',
    ),
  until: z.iso
    .datetime()
    .optional()
    .describe(
      'Latest end of the state: the end of the sleep, or the timeout of the wait or invocation; for retrying, when the next attempt is due; for queued, when the run of an event in the future is due',
    ),
  name: z.string().optional().describe('Name of the event or signal that the run waits for'),
  step: z
    .object({ id: z.string().describe('Hashed'), name: z.string() })
    .optional()
    .describe('The present step of the run'),
  attempt: z.int().optional().describe('For retrying: number of the next attempt, from 1'),
  max_attempts: z.int().optional(),
  function_id: z.string().optional().describe('For invoking: the invoked function'),
  run_id: z.string().optional().describe('For invoking: the run of the invoked function'),
  reason: z
    .enum(PAUSE_REASONS)
    .optional()
    .describe(
      'For paused: exhausted: a call had no attempt left, and `error` of the run says why; version_gone: the version of its app cannot be reached',
    ),
  since: z.iso.datetime().optional().describe('For paused: the start of the pause'),
  limit: limitNameSchema
    .optional()
    .describe('For held: the limit; absent if only earlier calls in the queue hold the run back'),
  position: z.int().optional().describe('For held: position among the waiting calls with the same limits'),
  others: z
    .int()
    .optional()
    .describe(
      'A run may wait for several things at once. The state describes the one that ends first; this is the number of the others',
    ),
});

export function presentRunState(state: RunState) {
  const { attempt, invoked, limit } = state;
  return present(
    runStateSchema,
    {
      ...state,
      attempt: attempt?.next,
      maxAttempts: attempt?.max,
      functionId: undefined,
      runId: undefined,
      ...invoked,
    },
    { limit: limit && presentLimitName(limit) },
  );
}
