/** Which addresses the service connects to when it calls apps. Decided on the very address that is connected to, never on a name.
 *  Link-local and cloud metadata addresses are refused whatever the settings say: what answers there hands out credentials. */
import type { OutboundSettings } from '../../config.ts';
import { type Address, isWithin, parseAddress, parseRange, type Range, translatedIpv4 } from './address.ts';
import { whyNotPublic } from './public-address.ts';

/** Word in a list of CIDRs for every address that is not public. */
const PRIVATE = 'private';

const LINK_LOCAL = ranges(['169.254.0.0/16', 'fe80::/10']);
/** Alibaba, Azure, Oracle, AWS, Google. Those at 169.254.169.254 are link-local. */
const METADATA = ranges(['100.100.100.200', '168.63.129.16', '192.0.0.192', 'fd00:ec2::/32', 'fd20:ce::254']);

const LOOPBACK = ['127.0.0.1', '::1'].map((text) => parseAddress(text) as Address);

export interface OutboundRules {
  /** @returns why no connection is made to the address, to follow "leads to"; undefined: it may be called */
  refusal(address: string): string | undefined;
}

/** @param branch for apps of a branch environment */
export function outboundRules(settings: OutboundSettings, branch: boolean): OutboundRules {
  const denied = listed('OUTBOUND_DENY_CIDRS', settings.deny);
  const deniedToBranches = branch ? listed('OUTBOUND_BRANCH_DENY_CIDRS', settings.branchDeny) : [];
  const allowed = listed('OUTBOUND_ALLOW_CIDRS', settings.allow);
  return {
    refusal(text) {
      const kind = whyNotPublic(text);
      const address = parseAddress(text);
      if (!address) return `${text}, which is no address`;
      const forms = [address, ...translatedIpv4(address), ...meantByUnspecified(address)];
      const meant = (rules: readonly Listed[]) => rules.find((rule) => forms.some((form) => rule.has(form, kind)));
      const isAllowed = allowed.some((rule) => rule.has(address, kind));
      if (settings.blockPrivate && kind !== undefined && !isAllowed) {
        return `${text}, which is no public address (${kind}), and BLOCK_PRIVATE_ADDRESSES is on`;
      }
      const never = neverCalled(forms);
      if (never) return `${text}, a ${never} address; the service never calls link-local or metadata addresses`;
      // What branches are denied, no exception for all gives back to them.
      const rule = meant(deniedToBranches) ?? (isAllowed ? undefined : meant(denied));
      return rule && `${text}, which ${rule.setting} denies (${rule.text})`;
    },
  };
}

/** For the first lines of the log: which addresses are open. */
export function describeOutbound({ blockPrivate, deny, allow, branchDeny }: OutboundSettings): string {
  const refused = [...(blockPrivate ? ['private addresses'] : []), ...deny.map(named)];
  const open = blockPrivate || deny.includes(PRIVATE) ? 'public addresses' : 'public and private addresses';
  return [
    `Apps may run at ${open}`,
    ...(refused.length > 0 ? [`not at ${refused.join(', ')}`] : []),
    ...(allow.length > 0 && refused.length > 0 ? [`except at ${allow.map(named).join(', ')}`] : []),
    ...(branchDeny.length > 0 ? [`apps of branch environments not at ${branchDeny.map(named).join(', ')}`] : []),
    'never at link-local or metadata addresses',
  ].join('; ');
}

function named(item: string): string {
  return item === PRIVATE ? 'private addresses' : item;
}

interface Listed {
  setting: string;
  text: string;
  /** @param kind why the address as it was given is not public; undefined: it is */
  has(address: Address, kind: string | undefined): boolean;
}

function listed(setting: string, texts: readonly string[]): Listed[] {
  return texts.map((text) => {
    if (text === PRIVATE) return { setting, text, has: (_, kind) => kind !== undefined };
    const range = rangeOf(text);
    return { setting, text, has: (address) => isWithin(address, range) };
  });
}

/** Connected to, the address of nowhere leads to this machine. */
function meantByUnspecified(address: Address): Address[] {
  return address.range() === 'unspecified' ? LOOPBACK : [];
}

function neverCalled(forms: readonly Address[]): 'link-local' | 'metadata' | undefined {
  const isIn = (all: readonly Range[]) => forms.some((form) => all.some((range) => isWithin(form, range)));
  if (isIn(LINK_LOCAL)) return 'link-local';
  return isIn(METADATA) ? 'metadata' : undefined;
}

function ranges(texts: readonly string[]): Range[] {
  return texts.map(rangeOf);
}

function rangeOf(text: string): Range {
  const range = parseRange(text);
  if (!range) throw new Error(`${text} is no CIDR range`);
  return range;
}
