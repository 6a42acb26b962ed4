/** Stage of lanes: the events of a lane run one after another. An event that finds its lane idle has its run immediately; any other waits
 *  without one, until a timer takes it from the lane (jobs/timers/lanes.ts). */
import type { Decision } from '../../model/flow-control/decision.ts';
import { flowOptionsOf } from '../../model/flow-control/function-options.ts';
import type { FlowOptions, Order } from '../../model/flow-control/options.ts';
import { orderIdOf, takesOrderOfWebhook, webhookOrderId } from '../../model/flow-control/order-id.ts';
import { orderTextOf } from '../../model/flow-control/order-text.ts';
import type { PartitionedIds } from '../../model/partitions/partitioned-ids.ts';
import { Composed } from '../../model/values/composed.ts';
import type { EventOrder } from '../../model/webhooks/webhook-order.ts';
import { type LaneResult, type Lanes, laneIdOf, laneValues } from '../../store/flow-control/lanes.ts';
import { type FlowKeys, sourceOf } from './flow-keys.ts';
import { decisionOn } from './keyed-proposals.ts';
import { type LaneOrders, laneRunId } from './lane-orders.ts';
import type { FlowStage, RunProposal, StageResult } from './run-proposal.ts';
import type { TimerChecks } from './timer-checks.ts';

interface Ordered {
  proposal: RunProposal;
  orderId: string;
  laneId: string;
  values: [string, string];
}

export class LaneStage
  extends Composed<{
    ids: PartitionedIds;
    laneOrders: LaneOrders;
    lanes: Pick<Lanes, 'add'>;
    flowKeys: FlowKeys;
    timerChecks: TimerChecks;
  }>
  implements FlowStage
{
  appliesTo({ order }: FlowOptions, { cause, event, fn }: RunProposal): boolean {
    return cause === 'event' && (order !== undefined || (event.order !== undefined && takesOrderOfWebhook(fn)));
  }

  async apply(proposals: readonly RunProposal[]): Promise<StageResult> {
    const admitted: RunProposal[] = [];
    const decisions: Decision[] = [];
    const ordered = proposals.filter(({ fn }) => !orderOf(fn)).map(orderedByWebhook);
    const own = proposals.filter(({ fn }) => orderOf(fn));
    const texts = await this.deps.flowKeys.textsOf(own, ({ fn }) => orderOf(fn)?.key);
    for (const [i, proposal] of own.entries()) {
      const key = texts[i];
      if (key === undefined) admitted.push(proposal);
      else ordered.push(this.#ordered(proposal, key));
    }
    const groups = Map.groupBy(ordered, ({ proposal: { event }, orderId }) => JSON.stringify([event.env, orderId]));
    for (const ofOrder of groups.values()) {
      const results = await this.#add(ofOrder);
      for (const [i, { proposal, orderId, laneId }] of ofOrder.entries()) {
        const result = results[i] as LaneResult;
        if (result.outcome === 'starts') admitted.push(inLane(proposal, orderId, laneId));
        else decisions.push(decisionBy(this.deps.ids, proposal, result));
      }
    }
    return { admitted, decisions };
  }

  #ordered(proposal: RunProposal, key: string): Ordered {
    const { fn, event } = proposal;
    const order = orderOf(fn) as Order;
    const orderId = orderIdOf(fn, order);
    const by = order.by === undefined ? undefined : this.deps.flowKeys.valueOf(order.by, sourceOf(proposal));
    const values = laneValues(orderTextOf(by), fn.id, key);
    return { proposal, orderId, laneId: laneIdOf(event.env, orderId, key), values };
  }

  async #add(ofOrder: readonly Ordered[]): Promise<LaneResult[]> {
    const { laneOrders, lanes, timerChecks } = this.deps;
    const [{ proposal, orderId }] = ofOrder as [Ordered];
    const { env } = proposal.event;
    const options = await laneOrders.of(env, orderId);
    const events = ofOrder.map(({ proposal: { event, repeated = false }, laneId, values }) => {
      return { key: laneId, eventId: event.internalId, values, repeated };
    });
    const { added, timerChecks: wanted } = await lanes.add(env, orderId, options, events, proposal.beganAt ?? 0);
    await timerChecks.set('lane', env, orderId, wanted);
    return added;
  }
}

function orderedByWebhook(proposal: RunProposal): Ordered {
  const { fn, event } = proposal;
  const { webhookId, key, by } = event.order as EventOrder;
  const orderId = webhookOrderId(fn.id, webhookId);
  return { proposal, orderId, laneId: laneIdOf(event.env, orderId, key), values: laneValues(by, fn.id, key) };
}

/** @param number number of the run in its lane */
export function inLane(proposal: RunProposal, order: string, id: string, number = 0): RunProposal {
  return { ...proposal, keys: { values: {}, ...proposal.keys, lane: { id, order, number } } };
}

function orderOf(fn: RunProposal['fn']): Order | undefined {
  return flowOptionsOf(fn)?.order;
}

function decisionBy(ids: PartitionedIds, proposal: RunProposal, result: LaneResult): Decision {
  switch (result.outcome) {
    case 'parked':
      return decisionOn(proposal, 'parked', { runId: laneRunId(ids, result, result.number) });
    case 'superseded':
      return decisionOn(proposal, 'superseded', { runId: laneRunId(ids, result, 0) });
    default:
      return decisionOn(proposal, 'in_lane', {});
  }
}
