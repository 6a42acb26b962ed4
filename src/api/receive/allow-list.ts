/** What lists refuse of a request. */
import { ServiceError } from '../../errors.ts';
import type { AccessListMatcher } from '../../model/auth/allow-lists.ts';
import type { Event } from '../../model/events/event.ts';
import { describe } from '../../model/values/json.ts';

/** @throws ServiceError ip_refused */
export function refuseAddress(gate: AccessListMatcher, address: string): void {
  if (gate.allowsAddress(address)) return;
  throw new ServiceError('ip_refused', { detail: `got ${describe(address)}` });
}

/** One event with a name that is not taken refuses them all.
 *  @throws ServiceError event_refused, naming the event */
export function refuseNames(gate: AccessListMatcher, events: readonly Event[]): void {
  const index = events.findIndex(({ name }) => !gate.allowsName(name));
  if (index === -1) return;
  const name = (events[index] as Event).name;
  throw new ServiceError('event_refused', {
    detail: `event ${index}, ${describe(name)}; none of the request was accepted`,
    facts: { index, name },
  });
}
