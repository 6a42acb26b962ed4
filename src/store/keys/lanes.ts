/** Keys of lanes. A lane is in the partition of its order and key value. `<order>`: `orderIdOf` (model/flow-control/order-id.ts). */
import { hash, string, zset } from './key-declaration.ts';

export const LANE_KEYS = {
  lanes: hash(
    'lanes:<env>:<order>',
    'Lane → state, since when (ms), event, function and number of the active run, key value.',
    {
      owner: 'flow-control/lanes.ts',
      ttl: 'none; field deleted when the lane is idle',
      size: '1 field per lane that is not idle, 120 bytes and the key value',
    },
  ),
  laneTimes: zset('lane-times:<env>:<order>', 'Lanes by when their next event is due, less the window (ms).', {
    owner: 'flow-control/lanes.ts',
    ttl: 'none; as the lane',
    size: '1 entry per lane without an active run',
  }),
  laneChecks: zset('lane-checks:<env>:<order>', 'Lanes by when somebody looks at their runs (ms).', {
    owner: 'flow-control/lanes.ts',
    ttl: 'none; as the lane',
    size: '1 entry per lane with an active run, and per parked lane',
  }),
  leavingLanes: hash('leaving-lanes:<env>:<order>', 'Events that have left their lanes, until their runs are stored.', {
    owner: 'flow-control/lanes.ts',
    ttl: 'none; field deleted with the creation of the run',
    size: '1 field per event that leaves',
  }),
  leavingLaneTimes: zset('leaving-lane-times:<env>:<order>', 'The same events by when a worker may take them (ms).', {
    owner: 'flow-control/lanes.ts',
    ttl: 'none; as the event that leaves',
    size: '1 entry per event that leaves',
  }),
  laneTimerCheck: string('lane-look:<env>:<order>', 'Number of timer checks and time of the next (ms).', {
    owner: 'flow-control/lanes.ts',
    ttl: '9 d, renewed',
    size: '20 bytes',
  }),
  laneEvents: zset('lane-events:<env>:<lane>', 'Waiting events: order text, event ID, function ID, in this order.', {
    owner: 'flow-control/lanes.ts',
    ttl: 'none; deleted when no event waits',
    size: '1 entry per waiting event, 70 bytes',
  }),
  laneReceipts: zset('lane-receipts:<env>:<lane>', 'The same events by when they came (ms).', {
    owner: 'flow-control/lanes.ts',
    ttl: 'none; deleted when no event waits',
    size: '1 entry per waiting event, 50 bytes',
  }),
  lastInLane: string('last-in-lane:<env>:<lane>', 'Order text, ID and function of the last event that began.', {
    owner: 'flow-control/lanes.ts',
    ttl: '7 d',
    size: '70 bytes',
  }),
  stoppedLanes: zset('stopped-lanes:<env>:<order>', 'Lanes that a failed run stops, by since when (ms).', {
    owner: 'flow-control/lanes.ts',
    ttl: 'none; entry deleted when the lane goes on',
    size: '1 entry per stopped lane',
  }),
  laneCounts: hash('lane-counts:<env>', 'Order → waiting events; \\x1f and the order → stopped lanes.', {
    owner: 'flow-control/lanes.ts',
    ttl: 'none; field deleted at 0',
    size: '1 field per order with waiting events',
  }),
};
