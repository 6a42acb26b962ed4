/** The API's representation of a lane. */
import { z } from 'zod';
import type { FunctionLane } from '../../jobs/flow-control/function-lanes.ts';
import { LANE_STATES, type LaneEntry } from '../../store/flow-control/lanes.ts';
import { apiObject, textOrNull, time, timeOrNull } from '../http/validation.ts';
import { present } from './present.ts';

export const laneSchema = apiObject('Lane', {
  id: z.string(),
  key: z.string().describe("Value of the order's key"),
  state: z
    .enum(LANE_STATES)
    .describe(
      'waiting: for earlier events, until next_at; running: a run is active; blocked: its event runs again at next_at, because the run failed; ' +
        'parked: it waits for a person, because the run failed',
    ),
  since: z.iso.datetime().describe('Time since which it has this state'),
  event_id: textOrNull.describe('The event whose run is active or has failed'),
  function_id: textOrNull.describe('The function of that run'),
  run_id: textOrNull,
  waiting: z.int().describe('Events that wait for their turn'),
  waiting_since: timeOrNull.describe('Time at which the first of them came'),
  next_at: timeOrNull,
});

export const detailedLaneSchema = apiObject('DetailedLane', {
  ...laneSchema.shape,
  events: z
    .array(z.object({ event_id: z.string(), function_id: z.string() }))
    .describe('The first 100 events that wait, in their order'),
});

export function presentLane(lane: FunctionLane) {
  const { current, firstAt } = lane;
  return present(laneSchema, lane, {
    event_id: current?.eventId ?? null,
    function_id: current?.functionId ?? null,
    waiting_since: time(firstAt),
  });
}

export function presentDetailedLane({ events, ...lane }: FunctionLane & { events: LaneEntry[] }) {
  return {
    ...presentLane(lane),
    events: events.map(({ eventId, functionId }) => ({ event_id: eventId, function_id: functionId })),
  };
}
