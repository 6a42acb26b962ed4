/** IDs of orders. Lanes belong to an order: of a function, of functions of an app that share a name, or of a function and a webhook with an
 *  order. The ID of a function's own order is the function's ID, unless that would be read as the ID of another order. */
import type { AppFunction } from '../apps/app.ts';
import type { TriggerTable } from '../events/triggers.ts';
import { flowOptionsOf } from './function-options.ts';
import type { Order } from './options.ts';

const MARK = '=';
const FUNCTION_PREFIX = '=f/';
const SHARED = '=n/';
const WEBHOOK_PREFIX = '=w/';

export function orderIdOf({ id, app }: Pick<AppFunction, 'id' | 'app'>, { name }: Pick<Order, 'name'>): string {
  if (name !== undefined) return `${SHARED}${encodeURIComponent(app.toWellFormed())}/${name}`;
  return id.startsWith(MARK) ? FUNCTION_PREFIX + id : id;
}

export function webhookOrderId(functionId: string, webhookId: string): string {
  return `${WEBHOOK_PREFIX}${webhookId}/${functionId}`;
}

/** @returns undefined if it is not the order of a webhook */
export function webhookOf(orderId: string): { functionId: string; webhookId: string } | undefined {
  if (!orderId.startsWith(WEBHOOK_PREFIX)) return undefined;
  const end = orderId.indexOf('/', WEBHOOK_PREFIX.length);
  return { webhookId: orderId.slice(WEBHOOK_PREFIX.length, end), functionId: orderId.slice(end + 1) };
}

/** ID of the function that shares this order with no other. */
export function functionOf(orderId: string): string {
  return orderId.startsWith(FUNCTION_PREFIX) ? orderId.slice(FUNCTION_PREFIX.length) : orderId;
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
  return idsOf(table, orderId).flatMap((id) => {
    const fn = table.find(id);
    const order = fn && !fn.archived ? flowOptionsOf(fn)?.order : undefined;
    return fn && order && orderIdOf(fn, order) === orderId ? [{ fn, order }] : [];
  });
}

function idsOf(table: TriggerTable, orderId: string): readonly string[] {
  if (!isShared(orderId)) return [functionOf(orderId)];
  return table.idsOf(decodeURIComponent(orderId.slice(SHARED.length, orderId.indexOf('/', SHARED.length))));
}
