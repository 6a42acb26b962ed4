/** IP addresses and CIDR ranges. Treats IPv4-mapped IPv6 addresses (::ffff:10.0.0.1) as IPv4. */
import ipaddr from 'ipaddr.js';

export type Address = ipaddr.IPv4 | ipaddr.IPv6;

export interface Range {
  base: Address;
  bits: number;
}

const MAPPED_BITS = 96;

/** @returns undefined if the text is not an address */
export function parseAddress(text: string): Address | undefined {
  return isAddress(text) ? ipaddr.process(text) : undefined;
}

/** An address, or a CIDR range such as 10.0.0.0/8 or 2001:db8::/32.
 *  @returns undefined if the text is neither */
export function parseRange(text: string): Range | undefined {
  const [address = '', prefixLength, ...rest] = text.split('/');
  if (!isAddress(address) || rest.length > 0) return undefined;
  const written = ipaddr.parse(address);
  const all = written.kind() === 'ipv4' ? 32 : 128;
  if (prefixLength !== undefined && !/^\d{1,3}$/.test(prefixLength)) return undefined;
  const bits = prefixLength === undefined ? all : Number(prefixLength);
  if (bits > all) return undefined;
  const base = ipaddr.process(address);
  if (base.kind() === written.kind()) return { base, bits };
  return bits < MAPPED_BITS ? undefined : { base, bits: bits - MAPPED_BITS };
}

export function isWithin(address: Address, { base, bits }: Range): boolean {
  return address.kind() === base.kind() && address.match(base as never, bits);
}

/** Identifies a host for rate limits: the /64 of an IPv6 address, because one host can use all of it; any other text unchanged. */
export function addressBlock(text: string): string {
  const address = parseAddress(text);
  if (!address) return text;
  if (address.kind() === 'ipv4') return address.toString();
  return `${ipaddr.IPv6.networkAddressFromCIDR(`${address}/64`)}/64`;
}

/** Stricter than the library: no zone, and IPv4 only as four decimal parts. */
function isAddress(text: string): boolean {
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) return true;
  return text.includes(':') && !text.includes('%') && ipaddr.IPv6.isValid(text);
}

/** IPv6 ranges that embed an IPv4 address, which a translator or tunnel extracts: NAT64 (well-known and local), IPv4-translated,
 *  IPv4-compatible, 6to4, Teredo. */
const TRANSLATIONS: [range: string, firstByte: number, flipped?: true][] = [
  ['64:ff9b::/96', 12],
  ['64:ff9b:1::/48', 12],
  ['::ffff:0:0:0/96', 12],
  ['::/96', 12],
  ['2002::/16', 2],
  ['2001::/32', 12, true],
];

/** The IPv4 addresses that an IPv6 address may be translated to. */
export function translatedIpv4(address: Address): Address[] {
  if (address.kind() === 'ipv4') return [];
  const bytes = address.toByteArray();
  return TRANSLATIONS.flatMap(([text, first, flipped]) => {
    if (!isWithin(address, parseRange(text) as Range)) return [];
    const four = bytes.slice(first, first + 4).map((byte) => (flipped ? byte ^ 0xff : byte));
    return [new ipaddr.IPv4(four)];
  });
}

const GLOBAL_UNICAST: Range = { base: parseAddress('2000::') as Address, bits: 3 };

/** The metadata service of Azure, in a public range. */
const AZURE = '168.63.129.16';

/** Loopback, private, link-local and other non-public addresses reach the service's own network and services that trust it.
 *  @returns the kind of a non-public address, for messages; undefined if it is public */
export function nonPublicKind(text: string): string | undefined {
  const address = parseAddress(text);
  if (!address) return 'not an address';
  const range = address.range();
  if (range !== 'unicast') return range.replace(/[A-Z]/g, (capital) => `-${capital.toLowerCase()}`);
  if (address.kind() === 'ipv6' && !isWithin(address, GLOBAL_UNICAST)) return 'reserved';
  return address.toString() === AZURE ? 'metadata' : undefined;
}
