/** Creates the verifier of a webhook from its scheme and secrets. */
import type { VerificationScheme } from '../preset.ts';
import { adyenVerifier } from './schemes/adyen.ts';
import { awsSnsVerifier } from './schemes/aws-sns.ts';
import { braintreeVerifier } from './schemes/braintree.ts';
import { hmacVerifier } from './schemes/hmac.ts';
import { jwtVerifier } from './schemes/jwt.ts';
import { paypalVerifier } from './schemes/paypal.ts';
import { publicKeyVerifier } from './schemes/public-key.ts';
import { basicVerifier, tokenVerifier } from './schemes/token.ts';
import { twilioVerifier } from './schemes/twilio.ts';
import { failed, type Verifier } from './verification.ts';

/** Schemes without secrets: their certificates are public. */
const BY_CERTIFICATE: ReadonlySet<string> = new Set(['aws-sns', 'paypal']);

/** @param secrets newest first; without any, every request fails
 *  @param settings webhook settings, by the preset's names
 *  @throws Error for a secret that does not fit the scheme */
export function createVerifier(
  scheme: VerificationScheme,
  secrets: readonly string[],
  settings: Readonly<Record<string, string>> = {},
): Verifier {
  if (secrets.length === 0 && !BY_CERTIFICATE.has(scheme.scheme)) {
    return () =>
      failed(
        'secret_missing',
        'the webhook has no secret yet: save it with PATCH /v1/webhooks/:id or in the dashboard',
      );
  }
  switch (scheme.scheme) {
    case 'hmac':
      return hmacVerifier(scheme, secrets);
    case 'token':
      return tokenVerifier(scheme, secrets);
    case 'basic':
      return basicVerifier(secrets);
    case 'public-key':
      return publicKeyVerifier(scheme, secrets);
    case 'twilio':
      return twilioVerifier(secrets);
    case 'adyen':
      return adyenVerifier(secrets);
    case 'braintree':
      return braintreeVerifier(secrets);
    case 'jwt':
      return jwtVerifier(scheme, secrets);
    case 'aws-sns':
      return awsSnsVerifier(settings);
    case 'paypal':
      return paypalVerifier(settings);
  }
}
