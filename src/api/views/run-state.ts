/** The API's representation of the state of a run. */
import { z } from 'zod';
import { RUN_STATES, type RunState } from '../../model/runs/run-state.ts';
import { apiObject } from '../http/validation.ts';
import { limitNameSchema, presentLimitName } from './limits.ts';
import { time } from './time.ts';

/** Fields that do not apply are absent, because a list has many states. */
export const runStateSchema = apiObject('RunState', {
  kind: z
    .enum(RUN_STATES)
    .describe(
      'queued: waits for its first call; held: a limit, or the pause of its function, holds it back; running: it is called, or will be at once; ' +
        'retrying: waits for the next attempt; sleeping; waiting_for_event; waiting_for_signal; invoking: waits for the run of another function; ' +
        'requesting: the service makes the request of a step; completed, failed, cancelled: as the status',
    ),
  until: z.iso
    .datetime()
    .optional()
    .describe(
      'When it ends at the latest: the sleep, the timeout of a wait or an invocation; of retrying, when the next attempt is due; of queued, when the run of a future event is',
    ),
  name: z.string().optional().describe('Name of the event or signal that it waits for'),
  step: z
    .object({ id: z.string().describe('Hashed'), name: z.string() })
    .optional()
    .describe('The step that it is in'),
  attempt: z.int().optional().describe('Of retrying: number of the next attempt, from 1'),
  max_attempts: z.int().optional(),
  function_id: z.string().optional().describe('Of invoking: the function'),
  run_id: z.string().optional().describe('Of invoking: its run'),
  limit: limitNameSchema.optional().describe('Of held: the limit; absent where only the calls before it hold it back'),
  position: z.int().optional().describe('Of held: place in line among the calls with the same limits'),
  others: z
    .int()
    .optional()
    .describe('A run may wait for several things. The one that ends first is named; this is the number of others'),
});

export function presentRunState(state: RunState): z.infer<typeof runStateSchema> {
  const { kind, until, name, step, attempt, invoked, limit, position, others } = state;
  return {
    kind,
    ...(until !== undefined && { until: time(until) as string }),
    ...(name !== undefined && { name }),
    ...(step && { step }),
    ...(attempt && { attempt: attempt.next, max_attempts: attempt.max }),
    ...(invoked && { run_id: invoked.runId, ...(invoked.functionId && { function_id: invoked.functionId }) }),
    ...(limit && { limit: presentLimitName(limit) }),
    ...(position !== undefined && { position }),
    ...(others !== undefined && { others }),
  };
}
