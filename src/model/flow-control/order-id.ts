/** IDs of orders. An order is what lanes belong to: a function, functions of an app that share a name, or a function and a webhook with an
 *  order. */
import type { AppFunction } from '../apps/app.ts';
import type { TriggerTable } from '../events/triggers.ts';
import { ID_PATTERN } from '../ids.ts';
import { flowOptionsOf } from './function-options.ts';
import type { Order } from './options.ts';

/** IDs of functions do not begin with it. */
const SHARED = '=';
const OF_WEBHOOK = '@';

export function orderIdOf({ id, app }: AppFunction, { name }: Pick<Order, 'name'>): string {
  return name === undefined ? id : `${SHARED}${app}/${name}`;
}

/** ID of the order of a webhook for a function that it starts. */
export function webhookOrderId(functionId: string, webhookId: string): string {
  return functionId + OF_WEBHOOK + webhookId;
}

/** undefined: it is not that of a webhook. */
export function webhookOf(orderId: string): { functionId: string; webhookId: string } | undefined {
  const at = orderId.lastIndexOf(OF_WEBHOOK);
  const webhookId = orderId.slice(at + 1);
  if (at === -1 || isShared(orderId) || !ID_PATTERN.test(webhookId)) return undefined;
  return { functionId: orderId.slice(0, at), webhookId };
}

/** Whether the order of a webhook applies to the function: it has no order of its own, and nothing that an order cannot be combined with. */
export function takesOrderOfWebhook(fn: AppFunction): boolean {
  const { order, batch, debounce, singleton } = flowOptionsOf(fn) ?? {};
  return order === undefined && batch === undefined && debounce === undefined && singleton === undefined;
}

/** Whether functions share the order by its name. */
export function isShared(orderId: string): boolean {
  return orderId.startsWith(SHARED);
}

/** The functions that take part in an order of functions, and their options. */
export function takingPart(table: TriggerTable, orderId: string): { fn: AppFunction; order: Order }[] {
  const ids = isShared(orderId) ? table.idsOf(orderId.slice(1, orderId.indexOf('/'))) : [orderId];
  return ids.flatMap((id) => {
    const fn = table.find(id);
    const order = fn && !fn.archived ? flowOptionsOf(fn)?.order : undefined;
    return fn && order && orderIdOf(fn, order) === orderId ? [{ fn, order }] : [];
  });
}
