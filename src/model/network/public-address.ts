/** Recognizes public addresses. All others (loopback, private, link-local and so on) reach the service's own network and services that
 *  trust it. */
import { type Address, isWithin, parseAddress, type Range } from './address.ts';

const GLOBAL_UNICAST: Range = { base: parseAddress('2000::') as Address, bits: 3 };

/** The metadata service of Azure, in a public range. */
const AZURE = '168.63.129.16';

/** @returns the kind of a non-public address, for messages; undefined if it is public */
export function nonPublicKind(text: string): string | undefined {
  const address = parseAddress(text);
  if (!address) return 'not an address';
  const range = address.range();
  if (range !== 'unicast') return range.replace(/[A-Z]/g, (capital) => `-${capital.toLowerCase()}`);
  if (address.kind() === 'ipv6' && !isWithin(address, GLOBAL_UNICAST)) return 'reserved';
  return address.toString() === AZURE ? 'metadata' : undefined;
}
