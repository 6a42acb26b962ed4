/** IDs of orders. An order is what lanes belong to: a function, or functions of an app that share its name. */
import type { AppFunction } from '../apps/app.ts';
import type { TriggerTable } from '../events/triggers.ts';
import { flowOptionsOf } from './function-options.ts';
import type { Order } from './options.ts';

/** IDs of functions do not begin with it. */
const SHARED = '=';

export function orderIdOf({ id, app }: AppFunction, { name }: Order): string {
  return name === undefined ? id : `${SHARED}${app}/${name}`;
}

/** Whether functions share the order by its name. */
export function isShared(orderId: string): boolean {
  return orderId.startsWith(SHARED);
}

/** The functions that take part in an order, and their options. */
export function takingPart(table: TriggerTable, orderId: string): { fn: AppFunction; order: Order }[] {
  const ids = isShared(orderId) ? table.idsOf(orderId.slice(1, orderId.indexOf('/'))) : [orderId];
  return ids.flatMap((id) => {
    const fn = table.find(id);
    const order = fn && !fn.archived ? flowOptionsOf(fn)?.order : undefined;
    return fn && order && orderIdOf(fn, order) === orderId ? [{ fn, order }] : [];
  });
}
