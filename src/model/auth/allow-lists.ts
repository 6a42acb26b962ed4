/** Lists that allow or deny: names of events, and addresses of senders (docs/events.md#allow-and-deny-lists). */
import { z } from 'zod';
import { isWithin, parseAddress, parseRange, type Range } from '../network/address.ts';

const MAX_ITEMS = 200;

const mode = z
  .enum(['allow', 'deny'])
  .meta({ description: 'allow: only what is listed; deny: all but what is listed' });

export const nameListSchema = z
  .strictObject({
    mode,
    items: z
      .array(
        z
          .string()
          .min(1)
          .max(256)
          .regex(/^[^*]*\*?$/, 'an event name, or the beginning of one and a "*" at its end'),
      )
      .min(1)
      .max(MAX_ITEMS)
      .meta({
        description: 'Event names; a "*" at the end stands for anything',
        examples: [['order/*', 'user.created']],
      }),
  })
  .meta({ id: 'NameList', description: 'Which event names are taken' });

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
  .meta({ id: 'AddressList', description: 'Which senders are let in' });

export interface Lists {
  eventNames?: z.infer<typeof nameListSchema> | undefined;
  ipAddresses?: z.infer<typeof addressListSchema> | undefined;
}

/** Lists made ready to be asked. */
export interface AllowList {
  takesName(name: string): boolean;
  /** What is no address is let in only where there is no list. */
  takesAddress(address: string): boolean;
}

export function allowListOf({ eventNames, ipAddresses }: Lists): AllowList {
  const ranges = ipAddresses?.items.map((item) => parseRange(item) as Range);
  const matchesName = eventNames && nameMatcher(eventNames.items);
  return {
    takesName: (name) => !matchesName || matchesName(name) === (eventNames.mode === 'allow'),
    takesAddress(text) {
      if (!ranges) return true;
      const address = parseAddress(text);
      if (!address) return false;
      return ranges.some((range) => isWithin(address, range)) === (ipAddresses?.mode === 'allow');
    },
  };
}

/** A batch has 500 names, and a list 200 patterns: each name is compared with a few of them, not with all. */
function nameMatcher(items: readonly string[]): (name: string) => boolean {
  const exact = new Set(items.filter((item) => !item.endsWith('*')));
  const beginnings = shortest(items.filter((item) => item.endsWith('*')).map((item) => item.slice(0, -1)));
  return (name) => exact.has(name) || beginsWithOne(name, beginnings);
}

/** Sorted, without those that begin with another of them. */
function shortest(beginnings: string[]): string[] {
  const kept: string[] = [];
  for (const one of beginnings.sort(byCodeUnits)) {
    const last = kept.at(-1);
    if (last === undefined || !one.startsWith(last)) kept.push(one);
  }
  return kept;
}

/** Between a beginning of the name and the name itself stands, in the order of code units, only what begins with that beginning too: so
 *  it is the last one that does not come after the name, or none. */
function beginsWithOne(name: string, beginnings: readonly string[]): boolean {
  let [from, to] = [0, beginnings.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if ((beginnings[middle] as string) <= name) from = middle + 1;
    else to = middle;
  }
  return from > 0 && name.startsWith(beginnings[from - 1] as string);
}

function byCodeUnits(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
