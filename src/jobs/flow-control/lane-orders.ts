/** The current options of orders, and the IDs of runs in lanes. */
import { LRUCache } from 'lru-cache';
import type { TriggerTable } from '../../model/events/triggers.ts';
import type { Order } from '../../model/flow-control/options.ts';
import { takesOrderOfWebhook, takingPart, webhookOf } from '../../model/flow-control/order-id.ts';
import type { PartitionedIds } from '../../model/partitions/partitioned-ids.ts';
import { runIdOf } from '../../model/runs/run.ts';
import { Composed } from '../../model/values/composed.ts';
import type { WebhookOrder } from '../../model/webhooks/webhook-order.ts';
import type { LaneEntry, OrderOptions } from '../../store/flow-control/lanes.ts';
import type { Webhooks } from '../../store/webhooks/webhooks.ts';
import type { FunctionTables } from '../functions/function-tables.ts';

/** How old a webhook in memory may be. */
const RECENT_MS = 1_000;
/** Maximum number of webhooks in memory. */
const KEPT_MAX = 1_000;

export interface CurrentOrder extends OrderOptions {
  functions: readonly ({ id: string } & Pick<Order, 'onStale' | 'onFailure'>)[];
}

export class LaneOrders extends Composed<{
  functions: Pick<FunctionTables, 'recent'>;
  webhooks: Pick<Webhooks, 'read'>;
}> {
  readonly #ofWebhooks = new LRUCache<string, { order: WebhookOrder | undefined }>({ max: KEPT_MAX, ttl: RECENT_MS });

  /** Returns the options of an order. Functions that share it have the longest of their windows. If no function takes part, events run
   *  without it.
   *  @param table the current functions; default: the functions of at most a second ago */
  async of(env: string, orderId: string, table?: TriggerTable): Promise<CurrentOrder> {
    const functions = table ?? (await this.deps.functions.recent(env));
    const ofWebhook = webhookOf(orderId);
    if (ofWebhook) {
      const fn = functions.find(ofWebhook.functionId);
      const order = await this.#orderOf(ofWebhook.webhookId, table !== undefined);
      if (!fn || fn.archived || !order || !takesOrderOfWebhook(fn)) return { windowMs: 0, functions: [] };
      const { windowMs, onStale, onFailure } = order;
      return { windowMs, functions: [{ id: fn.id, onStale, onFailure }] };
    }
    const all = takingPart(functions, orderId);
    return {
      windowMs: Math.max(0, ...all.map(({ order }) => order.windowMs)),
      functions: all.map(({ fn: { id }, order: { onStale, onFailure } }) => ({ id, onStale, onFailure })),
    };
  }

  async #orderOf(webhookId: string, isCurrent: boolean): Promise<WebhookOrder | undefined> {
    const kept = isCurrent ? undefined : this.#ofWebhooks.get(webhookId);
    if (kept) return kept.order;
    const order = (await this.deps.webhooks.read(webhookId))?.order;
    this.#ofWebhooks.set(webhookId, { order });
    return order;
  }
}

/** @param number number of the run in its lane: after a failure, the event runs again */
export function laneRunId(ids: PartitionedIds, { eventId, functionId }: LaneEntry, number: number): string {
  if (number === 0) return runIdOf(ids, eventId, functionId);
  return ids.derived(eventId, 'lane', functionId, String(number));
}
