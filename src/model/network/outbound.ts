/** Address rules for calls to apps. They apply to the address of the connection, never to a name. Link-local and cloud metadata addresses
 *  are always blocked, because services there hand out credentials. */
import type { OutboundSettings } from '../../config.ts';
import {
  type Address,
  isWithin,
  nonPublicKind,
  parseAddress,
  parseRange,
  type Range,
  translatedIpv4,
} from './address.ts';

/** An entry in a list of CIDRs that means all non-public addresses. */
const PRIVATE = 'private';

const LINK_LOCAL = ranges(['169.254.0.0/16', 'fe80::/10']);
/** Alibaba, Azure, Oracle, AWS, Google. Services at 169.254.169.254 are covered by the link-local range. */
const METADATA = ranges(['100.100.100.200', '168.63.129.16', '192.0.0.192', 'fd00:ec2::/32', 'fd20:ce::254']);

const LOOPBACK = ['127.0.0.1', '::1'].map((text) => parseAddress(text) as Address);

export interface OutboundRules {
  /** @returns why the address is blocked, phrased to follow "resolves to"; undefined if it is allowed */
  refusal(address: string): string | undefined;
}

/** @param branch for apps of a branch environment */
export function outboundRules(settings: OutboundSettings, branch: boolean): OutboundRules {
  const denied = parseList('OUTBOUND_DENY_CIDRS', settings.deny);
  const deniedToBranches = branch ? parseList('OUTBOUND_BRANCH_DENY_CIDRS', settings.branchDeny) : [];
  const allowed = parseList('OUTBOUND_ALLOW_CIDRS', settings.allow);
  return {
    refusal(text) {
      const kind = nonPublicKind(text);
      const address = parseAddress(text);
      if (!address) return `${text}, which is not an address`;
      const forms = [address, ...translatedIpv4(address), ...loopbackIfUnspecified(address)];
      const matching = (rules: readonly ListedRange[]) =>
        rules.find((rule) => forms.some((form) => rule.has(form, kind)));
      const isAllowed = allowed.some((rule) => rule.has(address, kind));
      if (settings.blockPrivate && kind !== undefined && !isAllowed) {
        return `${text}, which is not a public address (${kind}), and BLOCK_PRIVATE_ADDRESSES is on`;
      }
      const blockedKind = alwaysBlocked(forms);
      if (blockedKind)
        return `${text}, a ${blockedKind} address; the service never calls link-local or metadata addresses`;
      // General exceptions do not apply to the branch deny list.
      const rule = matching(deniedToBranches) ?? (isAllowed ? undefined : matching(denied));
      return rule && `${text}, which ${rule.setting} denies (${rule.text})`;
    },
  };
}

/** Describes the rules for the start-up log. */
export function describeOutbound({ blockPrivate, deny, allow, branchDeny }: OutboundSettings): string {
  const blocked = [...(blockPrivate ? ['private addresses'] : []), ...deny.map(named)];
  const open = blockPrivate || deny.includes(PRIVATE) ? 'public addresses' : 'public and private addresses';
  return [
    `Apps may run at ${open}`,
    ...(blocked.length > 0 ? [`not at ${blocked.join(', ')}`] : []),
    ...(allow.length > 0 && blocked.length > 0 ? [`except at ${allow.map(named).join(', ')}`] : []),
    ...(branchDeny.length > 0 ? [`apps of branch environments not at ${branchDeny.map(named).join(', ')}`] : []),
    'never at link-local or metadata addresses',
  ].join('; ');
}

function named(item: string): string {
  return item === PRIVATE ? 'private addresses' : item;
}

interface ListedRange {
  setting: string;
  text: string;
  /** @param kind why the original address is not public; undefined if it is public */
  has(address: Address, kind: string | undefined): boolean;
}

function parseList(setting: string, texts: readonly string[]): ListedRange[] {
  return texts.map((text) => {
    if (text === PRIVATE) return { setting, text, has: (_, kind) => kind !== undefined };
    const range = rangeOf(text);
    return { setting, text, has: (address) => isWithin(address, range) };
  });
}

/** A connection to the unspecified address reaches this machine. */
function loopbackIfUnspecified(address: Address): Address[] {
  return address.range() === 'unspecified' ? LOOPBACK : [];
}

function alwaysBlocked(forms: readonly Address[]): 'link-local' | 'metadata' | undefined {
  const isIn = (all: readonly Range[]) => forms.some((form) => all.some((range) => isWithin(form, range)));
  if (isIn(LINK_LOCAL)) return 'link-local';
  return isIn(METADATA) ? 'metadata' : undefined;
}

function ranges(texts: readonly string[]): Range[] {
  return texts.map(rangeOf);
}

function rangeOf(text: string): Range {
  const range = parseRange(text);
  if (!range) throw new Error(`${text} is not a CIDR range`);
  return range;
}
