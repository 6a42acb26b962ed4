/** The order of a webhook's events: it applies to each function that they start and that has no order of its own. */
import type { Order } from '../flow-control/options.ts';

/** `key` and `by` are CEL over `event`, which the transform made, and `request`. */
export type WebhookOrder = Omit<Order, 'name'>;

/** An event's position in the order of its webhook, evaluated at receipt. */
export interface EventOrder {
  webhookId: string;
  /** Value of the key. */
  key: string;
  /** Text of the order (flow-control/order-text.ts). */
  by?: string;
}

/** Key of an event's order on its way from a webhook: a symbol, because senders post objects. */
export const EVENT_ORDER = Symbol('order');
