/** Stage of lanes: the events of a lane run one after another. An event that finds its lane idle has its run at once;
 *  any other waits without one, until a timer takes it from the lane (jobs/timers/lanes.ts). */
import type { Decision } from '../../model/flow-control/decision.ts';
import { flowOptionsOf } from '../../model/flow-control/function-options.ts';
import type { FlowOptions, Order } from '../../model/flow-control/options.ts';
import { orderIdOf, takesOrderOfWebhook, webhookOrderId } from '../../model/flow-control/order-id.ts';
import { orderTextOf } from '../../model/flow-control/order-text.ts';
import type { PartitionedIds } from '../../model/partitions/partitioned-ids.ts';
import { Composed } from '../../model/values/composed.ts';
import type { EventOrder } from '../../model/webhooks/webhook-order.ts';
import { type LaneResult, type Lanes, laneIdOf, laneValues } from '../../store/flow-control/lanes.ts';
import type { Candidate, FlowStage, StageResult } from './candidate.ts';
import { type FlowKeys, sourceOf } from './flow-keys.ts';
import { decisionOn } from './keyed-candidates.ts';
import { type LaneOrders, laneRunId } from './lane-orders.ts';
import type { TimerChecks } from './timer-checks.ts';

export interface LaneStageDeps {
  ids: PartitionedIds;
  laneOrders: LaneOrders;
  lanes: Pick<Lanes, 'add'>;
  flowKeys: FlowKeys;
  timerChecks: TimerChecks;
}

/** A candidate in its lane. */
interface Ordered {
  candidate: Candidate;
  orderId: string;
  laneId: string;
  values: [string, string];
}

export class LaneStage extends Composed<LaneStageDeps> implements FlowStage {
  appliesTo({ order }: FlowOptions, { cause, event, fn }: Candidate): boolean {
    return cause === 'event' && (order !== undefined || (event.order !== undefined && takesOrderOfWebhook(fn)));
  }

  async apply(candidates: readonly Candidate[]): Promise<StageResult> {
    const admitted: Candidate[] = [];
    const decisions: Decision[] = [];
    const ordered = candidates.filter(({ fn }) => !orderOf(fn)).map(orderedByWebhook);
    const own = candidates.filter(({ fn }) => orderOf(fn));
    const texts = await this.deps.flowKeys.textsOf(own, ({ fn }) => orderOf(fn)?.key);
    for (const [i, candidate] of own.entries()) {
      const key = texts[i];
      if (key === undefined) admitted.push(candidate);
      else ordered.push(this.#ordered(candidate, key));
    }
    const groups = Map.groupBy(ordered, ({ candidate: { event }, orderId }) => JSON.stringify([event.env, orderId]));
    for (const ofOrder of groups.values()) {
      const results = await this.#add(ofOrder);
      for (const [i, { candidate, orderId, laneId }] of ofOrder.entries()) {
        const result = results[i] as LaneResult;
        if (result.outcome === 'starts') admitted.push(inLane(candidate, orderId, laneId));
        else decisions.push(decisionBy(this.deps.ids, candidate, result));
      }
    }
    return { admitted, decisions };
  }

  #ordered(candidate: Candidate, key: string): Ordered {
    const { fn, event } = candidate;
    const order = orderOf(fn) as Order;
    const orderId = orderIdOf(fn, order);
    const by = order.by === undefined ? undefined : this.deps.flowKeys.valueOf(order.by, sourceOf(candidate));
    const values = laneValues(orderTextOf(by), fn.id, key);
    return { candidate, orderId, laneId: laneIdOf(event.env, orderId, key), values };
  }

  async #add(ofOrder: readonly Ordered[]): Promise<LaneResult[]> {
    const { laneOrders, lanes, timerChecks } = this.deps;
    const [{ candidate, orderId }] = ofOrder as [Ordered];
    const { env } = candidate.event;
    const options = await laneOrders.of(env, orderId);
    const events = ofOrder.map(({ candidate: { event, repeated = false }, laneId, values }) => {
      return { key: laneId, eventId: event.internalId, values, repeated };
    });
    const { added, timerChecks: wanted } = await lanes.add(env, orderId, options, events, candidate.beganAt ?? 0);
    await timerChecks.set('lane', env, orderId, wanted);
    return added;
  }
}

function orderedByWebhook(candidate: Candidate): Ordered {
  const { fn, event } = candidate;
  const { webhookId, key, by } = event.order as EventOrder;
  const orderId = webhookOrderId(fn.id, webhookId);
  return { candidate, orderId, laneId: laneIdOf(event.env, orderId, key), values: laneValues(by, fn.id, key) };
}

/** @param number of the run in its lane */
export function inLane(candidate: Candidate, order: string, id: string, number = 0): Candidate {
  return { ...candidate, keys: { values: {}, ...candidate.keys, lane: { id, order, number } } };
}

function orderOf(fn: Candidate['fn']): Order | undefined {
  return flowOptionsOf(fn)?.order;
}

function decisionBy(ids: PartitionedIds, candidate: Candidate, result: LaneResult): Decision {
  switch (result.outcome) {
    case 'parked':
      return decisionOn(candidate, 'parked', { runId: laneRunId(ids, result, result.number) });
    case 'superseded':
      return decisionOn(candidate, 'superseded', { runId: laneRunId(ids, result, 0) });
    default:
      return decisionOn(candidate, 'in_lane', {});
  }
}
