/** The fields of an event key or webhook that hold its allow and deny lists. */
import { type AccessLists, addressListSchema, nameListSchema } from '../../model/auth/allow-lists.ts';

/** null removes the list; an omitted field leaves it unchanged. */
export const listFields = {
  event_names: nameListSchema.nullish().describe('Event names that are accepted; null: all'),
  ip_addresses: addressListSchema.nullish().describe('Client addresses that are accepted; null: all'),
};

export const shownListFields = { event_names: nameListSchema.nullable(), ip_addresses: addressListSchema.nullable() };

interface ListFields {
  event_names?: AccessLists['eventNames'] | null;
  ip_addresses?: AccessLists['ipAddresses'] | null;
}

export function listsOf({ event_names, ip_addresses }: ListFields, before: AccessLists = {}): AccessLists {
  return {
    eventNames: event_names === undefined ? before.eventNames : (event_names ?? undefined),
    ipAddresses: ip_addresses === undefined ? before.ipAddresses : (ip_addresses ?? undefined),
  };
}

export function presentLists({ eventNames, ipAddresses }: AccessLists) {
  return { event_names: eventNames ?? null, ip_addresses: ipAddresses ?? null };
}
