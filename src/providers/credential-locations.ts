/** Parts of a request that contain credentials; logs and captures leave them out. */
import { PRESETS } from './catalog.ts';
import type { Location, VerificationScheme } from './preset.ts';

const OF_SPECIAL_SCHEMES: Record<string, readonly Location[]> = {
  paypal: ['header:paypal-transmission-sig'],
  twilio: ['header:x-twilio-signature'],
};

export interface CredentialNames {
  /** In lower case. */
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
      return OF_SPECIAL_SCHEMES[scheme.scheme] ?? [];
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
