/** Allow and deny lists for event names and sender addresses (docs/events.md#allow-and-deny-lists). */
import { z } from 'zod';
import { isWithin, parseAddress, parseRange, type Range } from '../network/address.ts';

const MAX_ITEMS = 200;

const mode = z.enum(['allow', 'deny']).describe('allow: accept only listed items; deny: accept all other items');

export const nameListSchema = z
  .strictObject({
    mode,
    items: z
      .array(
        z
          .string()
          .min(1)
          .max(512)
          .regex(/^[^*]*\*?$/, 'an event name, or a prefix followed by "*"'),
      )
      .min(1)
      .max(MAX_ITEMS)
      .meta({
        description: 'Event names; a "*" at the end matches anything',
        examples: [['order/*', 'user.created']],
      }),
  })
  .meta({ id: 'NameList', description: 'Event names to accept' });

export const addressListSchema = z
  .strictObject({
    mode,
    items: z
      .array(
        z
          .string()
          .max(64)
          .refine((text) => parseRange(text) !== undefined, 'an IP address or a CIDR range, IPv4 or IPv6'),
      )
      .min(1)
      .max(MAX_ITEMS)
      .meta({ description: 'IP addresses and CIDR ranges', examples: [['192.0.2.7', '2001:db8::/32']] }),
  })
  .meta({ id: 'AddressList', description: 'Sender addresses to accept' });

export interface AccessLists {
  eventNames?: z.infer<typeof nameListSchema> | undefined;
  ipAddresses?: z.infer<typeof addressListSchema> | undefined;
}

/** Compiled allow and deny lists. */
export interface AccessListMatcher {
  allowsName(name: string): boolean;
  /** Accepts everything if there is no list; with a list, rejects text that is not an address. */
  allowsAddress(address: string): boolean;
}

export function matcherOf({ eventNames, ipAddresses }: AccessLists): AccessListMatcher {
  const ranges = ipAddresses?.items.map((item) => parseRange(item) as Range);
  const matchesName = eventNames && nameMatcher(eventNames.items);
  return {
    allowsName: (name) => !matchesName || matchesName(name) === (eventNames.mode === 'allow'),
    allowsAddress(text) {
      if (!ranges) return true;
      const address = parseAddress(text);
      if (!address) return false;
      return ranges.some((range) => isWithin(address, range)) === (ipAddresses?.mode === 'allow');
    },
  };
}

/** Compares each name with few patterns: a batch may have 500 names and a list 200 patterns. */
function nameMatcher(items: readonly string[]): (name: string) => boolean {
  const exact = new Set(items.filter((item) => !item.endsWith('*')));
  const prefixes = shortestPrefixes(items.filter((item) => item.endsWith('*')).map((item) => item.slice(0, -1)));
  return (name) => exact.has(name) || startsWithAny(name, prefixes);
}

/** Sorted by code units, without prefixes that start with another prefix. */
function shortestPrefixes(prefixes: string[]): string[] {
  const result: string[] = [];
  for (const prefix of prefixes.sort()) {
    const last = result.at(-1);
    if (last === undefined || !prefix.startsWith(last)) result.push(prefix);
  }
  return result;
}

/** Binary search. In code unit order, only texts that start with a prefix lie between that prefix and a name that starts with it. A
 *  matching prefix is therefore the last prefix that is not greater than the name. */
function startsWithAny(name: string, prefixes: readonly string[]): boolean {
  let [from, to] = [0, prefixes.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if ((prefixes[middle] as string) <= name) from = middle + 1;
    else to = middle;
  }
  return from > 0 && name.startsWith(prefixes[from - 1] as string);
}
