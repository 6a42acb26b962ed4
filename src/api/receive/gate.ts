/** What lists refuse of a request. */
import type { Context } from 'koa';
import { ServiceError } from '../../errors.ts';
import type { Event } from '../../model/event.ts';
import { describe } from '../../model/json.ts';
import type { Gate } from '../../model/lists.ts';

/** The sender's address: of the connection, or as far up X-Forwarded-For as TRUST_PROXY allows. Some proxies add the port. */
export function clientAddress(ctx: Context): string {
  const [, bracketed, v4] = /^(?:\[(.+)\](?::\d+)?|([\d.]+):\d+)$/.exec(ctx.ip) ?? [];
  return bracketed ?? v4 ?? ctx.ip;
}

/** @throws ServiceError ip_refused */
export function refuseAddress(gate: Gate, address: string): void {
  if (gate.takesAddress(address)) return;
  throw new ServiceError('ip_refused', { detail: `got ${describe(address)}` });
}

/** One event with a name that is not taken refuses them all.
 *  @throws ServiceError event_refused, naming the event */
export function refuseNames(gate: Gate, events: readonly Event[]): void {
  const index = events.findIndex(({ name }) => !gate.takesName(name));
  if (index === -1) return;
  const name = (events[index] as Event).name;
  throw new ServiceError('event_refused', {
    detail: `event ${index}, ${describe(name)}; none of the request was accepted`,
    facts: { index, name },
  });
}
