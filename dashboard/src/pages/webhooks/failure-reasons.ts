/** Why a request was not verified, in plain words, and what to do. */
import type { FailureReason, LoggedRequest } from '../../api/types.ts';

interface Explanation {
  /** After "Not verified:". */
  label: string;
  remedy: string;
}

const EXPLANATIONS: Record<FailureReason, Explanation> = {
  secret_missing: {
    label: 'the webhook has no secret',
    remedy: 'Paste the provider’s secret, then verify the request again.',
  },
  secret_unreadable: {
    label: 'the secret cannot be read',
    remedy: 'Paste the secret again: the service cannot open or use the one that it has.',
  },
  signature_missing: {
    label: 'the request has no signature',
    remedy:
      'Turn on signing at the provider. If it signs already, check that it is the provider of this webhook, and that no proxy removes headers.',
  },
  signature_malformed: {
    label: 'the signature is malformed',
    remedy: 'Check that it is the provider of this webhook, and for your own verification its encoding and prefix.',
  },
  signature_mismatch: {
    label: 'the signature does not match',
    remedy:
      'Copy the secret of exactly this webhook from the provider: test and live mode have different ones. If it is right, a proxy may have changed the body.',
  },
  timestamp_missing: {
    label: 'the request has no timestamp',
    remedy: 'Check that it is the provider of this webhook, and that no proxy removes headers.',
  },
  timestamp_malformed: {
    label: 'the timestamp is malformed',
    remedy: 'Check the unit of the timestamp: seconds, milliseconds or ISO 8601.',
  },
  timestamp_too_old: {
    label: 'the request is too old',
    remedy: 'Someone may have repeated an old request. If all are too old, correct the clock of the service.',
  },
  timestamp_in_future: {
    label: 'the request is from the future',
    remedy: 'Correct the clock of the service.',
  },
  transmission_repeated: {
    label: 'another body came with the same transmission ID before',
    remedy:
      'PayPal sends one body with an ID: somebody may repeat a request with changes. Resend the event at PayPal if you miss it.',
  },
  body_malformed: {
    label: 'a part that is signed is missing',
    remedy: 'Check that it is the provider of this webhook, and that it sends the body in the format that it signs.',
  },
  certificate_untrusted: {
    label: 'the certificate is not the provider’s',
    remedy: 'Someone else may have sent the request. The provider’s own have a certificate from its own domain.',
  },
  certificate_unavailable: {
    label: 'the certificate could not be fetched',
    remedy: 'The service must reach the provider over HTTPS. The provider sends the request again.',
  },
  confirmation_untrusted: {
    label: 'the URL to confirm is not the provider’s',
    remedy: 'Someone else may have sent the request. The provider’s own names a URL of its own domain.',
  },
  confirmation_unavailable: {
    label: 'the provider could not be reached to confirm the URL',
    remedy: 'The service must reach the provider over HTTPS. Then have it send the request again.',
  },
};

export function explanationOf(reason: string | null | undefined): Explanation | undefined {
  return Object.hasOwn(EXPLANATIONS, reason ?? '') ? EXPLANATIONS[reason as FailureReason] : undefined;
}

/** "not verified: the signature does not match" */
export function failureLabel(verification: LoggedRequest['verification']): string | undefined {
  if (verification?.result !== 'failed') return undefined;
  const { label = verification.reason } = explanationOf(verification.reason) ?? {};
  return label ? `not verified: ${label}` : 'not verified';
}
