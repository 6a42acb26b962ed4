/** Parts of a request that contain credentials; logs and captures leave them out. */
import { PRESETS } from './catalog.ts';
import type { Location, VerificationScheme } from './preset.ts';

const SPECIAL_SCHEME_LOCATIONS: Record<string, readonly Location[]> = {
  paypal: ['header:paypal-transmission-sig'],
  twilio: ['header:x-twilio-signature'],
};

export interface CredentialNames {
  /** Lower-case names. */
  headers: ReadonlySet<string>;
  parameters: ReadonlySet<string>;
}

/** Names that carry the credentials of any provider. */
export const CREDENTIAL_NAMES: CredentialNames = namesOf(
  PRESETS.flatMap(({ verification }) => (verification ? credentialLocations(verification) : [])),
);

export function credentialLocations(scheme: VerificationScheme): readonly Location[] {
  switch (scheme.scheme) {
    case 'hmac':
    case 'public-key':
      return [scheme.signature.at];
    case 'token':
    case 'jwt':
      return [scheme.token.at];
    case 'basic':
      return ['header:authorization'];
    default:
      return SPECIAL_SCHEME_LOCATIONS[scheme.scheme] ?? [];
  }
}

/** Whether the request contains the secret itself, or a credential that works like the secret for a while. */
export function sendsSecret({ scheme }: VerificationScheme): boolean {
  return scheme === 'token' || scheme === 'basic' || scheme === 'jwt';
}

export function namesOf(locations: readonly Location[]): CredentialNames {
  const namesIn = (prefix: string) =>
    new Set(locations.filter((at) => at.startsWith(prefix)).map((at) => at.slice(prefix.length)));
  return { headers: namesIn('header:'), parameters: namesIn('query:') };
}

/** Names of headers and query parameters whose values are credentials or signatures. */
export const SECRET =
  /^(?:proxy-)?authorization$|cookie|(?:^|[-_])(?:signature|sign|sig|hmac|token|secret|password|passwd|auth|key|apikey|jwt|session)(?:$|[-_])/i;

/** Names that look like names of secrets, but whose values are signatures or IDs. */
const HARMLESS = /(?:^|[-_])(?:signature|sign|sig|hmac)(?:$|[-_])|idempotency-key$/i;

const SCHEMES = PRESETS.flatMap(({ verification }) => verification ?? []);
const TOKENS = namesOf(SCHEMES.filter(sendsSecret).flatMap(credentialLocations));
const SIGNATURES = namesOf(SCHEMES.filter((scheme) => !sendsSecret(scheme)).flatMap(credentialLocations));

/** Whether a header or query parameter of this name holds a password, a token or a cookie, rather than a signature. */
export function mayBeSecret(kind: keyof CredentialNames, name: string): boolean {
  if (TOKENS[kind].has(name)) return true;
  return SECRET.test(name) && !SIGNATURES[kind].has(name) && !HARMLESS.test(name);
}
