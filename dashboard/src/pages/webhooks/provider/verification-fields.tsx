import type { CustomVerification, ProviderDetails, Webhook } from '../../../api/types.ts';
import { HmacFields } from './hmac-fields.tsx';
import { JwtFields } from './jwt-fields.tsx';
import { LocationFields } from './location-fields.tsx';

const DEFAULTS: Record<NonNullable<ProviderDetails['custom_scheme']>, CustomVerification> = {
  hmac: {
    scheme: 'hmac',
    algorithm: 'sha256',
    encoding: 'hex',
    signature: { at: 'header:x-signature' },
    signed: '{body}',
  },
  token: { scheme: 'token', token: { at: 'header:x-api-key' } },
  jwt: { scheme: 'jwt', token: { at: 'header:authorization', prefix: 'Bearer ' }, algorithms: ['HS256'] },
};

/** The user's verification of a generic provider, or an initial one. undefined: the provider has its own verification. */
export function customVerificationOf(
  { custom_scheme: scheme }: ProviderDetails,
  saved: Webhook['verification'] = null,
): CustomVerification | undefined {
  if (!scheme) return undefined;
  return saved?.scheme === scheme ? (saved as CustomVerification) : DEFAULTS[scheme];
}

interface VerificationFieldsProps {
  value: CustomVerification;
  onChange(value: CustomVerification): void;
  disabled?: boolean;
}

/** Verification of a provider without its own preset. */
export function VerificationFields({ value, onChange, disabled = false }: VerificationFieldsProps) {
  switch (value.scheme) {
    case 'hmac':
      return <HmacFields value={value} disabled={disabled} onChange={onChange} />;
    case 'jwt':
      return <JwtFields value={value} disabled={disabled} onChange={onChange} />;
    case 'token':
      return (
        <LocationFields
          label="Key"
          value={value.token}
          disabled={disabled}
          prefixHint="Before the key, such as Bearer and a space"
          onChange={(token) => onChange({ ...value, token })}
        />
      );
    default:
      return null;
  }
}
