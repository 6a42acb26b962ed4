/** Which addresses belong to hosts of the open internet. All others (loopback, private, link-local and so on) lead into the network
 *  that the service stands in, and to what trusts it there. */
import { type Address, isWithin, parseAddress, type Range } from './address.ts';

const GLOBAL_UNICAST: Range = { base: parseAddress('2000::') as Address, bits: 3 };

/** Looks public, and is the metadata service of every machine in Azure. */
const AZURE = '168.63.129.16';

/** @returns what kind of address it is instead, for a message; undefined when it is public */
export function whyNotPublic(text: string): string | undefined {
  const address = parseAddress(text);
  if (!address) return 'not an address';
  const range = address.range();
  if (range !== 'unicast') return range.replace(/[A-Z]/g, (capital) => `-${capital.toLowerCase()}`);
  if (address.kind() === 'ipv6' && !isWithin(address, GLOBAL_UNICAST)) return 'reserved';
  return address.toString() === AZURE ? 'metadata' : undefined;
}
