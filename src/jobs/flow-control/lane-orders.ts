/** The current options of orders, and the IDs of runs in lanes. */
import type { TriggerTable } from '../../model/events/triggers.ts';
import { takingPart } from '../../model/flow-control/order-id.ts';
import type { PartitionedIds } from '../../model/partitions/partitioned-ids.ts';
import { runIdOf } from '../../model/runs/run.ts';
import type { LaneEntry, OrderOptions } from '../../store/flow-control/lanes.ts';

/** Functions that share an order have the longest of their windows. */
export function orderOptions(table: TriggerTable, orderId: string): OrderOptions {
  const all = takingPart(table, orderId);
  return {
    windowMs: Math.max(0, ...all.map(({ order }) => order.windowMs)),
    functions: all.map(({ fn: { id }, order: { onStale } }) => ({ id, onStale })),
  };
}

/** @param number of the run in its lane: after a failure, the event runs again */
export function laneRunId(ids: PartitionedIds, { eventId, functionId }: LaneEntry, number: number): string {
  if (number === 0) return runIdOf(ids, eventId, functionId);
  return ids.derived(eventId, 'lane', functionId, String(number));
}
