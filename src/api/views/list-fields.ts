/** The fields by which callers see and set the lists of a key or webhook. */
import { type AccessLists, addressListSchema, nameListSchema } from '../../model/auth/allow-lists.ts';

/** null: no list. Left out: as it was. */
export const listFields = {
  event_names: nameListSchema.nullish().meta({ description: 'Which event names are taken; null: all' }),
  ip_addresses: addressListSchema.nullish().meta({ description: 'Which senders are let in; null: all' }),
};

export const shownListFields = { event_names: nameListSchema.nullable(), ip_addresses: addressListSchema.nullable() };

interface Given {
  event_names?: AccessLists['eventNames'] | null;
  ip_addresses?: AccessLists['ipAddresses'] | null;
}

export function listsOf({ event_names, ip_addresses }: Given, before: AccessLists = {}): AccessLists {
  return {
    eventNames: event_names === undefined ? before.eventNames : (event_names ?? undefined),
    ipAddresses: ip_addresses === undefined ? before.ipAddresses : (ip_addresses ?? undefined),
  };
}

export function presentLists({ eventNames, ipAddresses }: AccessLists) {
  return { event_names: eventNames ?? null, ip_addresses: ipAddresses ?? null };
}
