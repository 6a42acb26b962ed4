/** PayPal signs the ID and the time of a transmission, the ID of the webhook and the CRC-32 of the body, with a certificate that it names
 *  (https://developer.paypal.com/api/rest/webhooks/rest/). Anybody with one genuine request can craft other bodies with the same CRC-32,
 *  so only the first body of a transmission counts. */
import { verify } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { DAY_MS } from '../../../model/values/time.ts';
import type { ProviderRequest } from '../../provider-request.ts';
import { type Roots, trustedKeyOf, trustedRoots } from '../certificate-chain.ts';
import { Documents, isFailure, perFetcher } from '../documents.ts';
import { bytesOf } from '../encodings.ts';
import { FetchBudget } from '../fetch-budget.ts';
import { checkTimestamp } from '../timestamps.ts';
import { type Failure, failed, type VerificationResult, type Verifier, type VerifyOptions } from '../verification.ts';

const HOST = /^([a-z0-9-]{1,40}\.){1,3}paypal\.com$/;
const CERTIFICATE_URL = /^https:\/\/([a-z0-9-]{1,40}\.){1,3}paypal\.com\/v1\/notifications\/certs\/[\w-]{1,100}$/;
const CERTIFICATE_MAX_AGE_MS = DAY_MS;
/** The same time as for deduplication IDs (docs/events.md#deduplication). */
const TOLERANCE_SECONDS = 86_400;
const TIMESTAMP = { at: 'header:paypal-transmission-time', unit: 'iso', tolerance: TOLERANCE_SECONDS } as const;
/** The time may also be ahead by the tolerance. */
const TRANSMISSION_MS = 2 * TOLERANCE_SECONDS * 1_000;
const ALGORITHM = 'SHA256withRSA';
const RSA_BYTES = { min: 256, max: 1_024 };

interface SignedTransmission {
  id: string;
  content: string;
  signature: Buffer;
  certificateUrl: string;
}

const documentsFor = (roots: () => Roots) =>
  perFetcher(() => new Documents((text) => trustedKeyOf(text, roots(), (name) => HOST.test(name))));
const publicCertificates = documentsFor(trustedRoots);

/** @param testRoots roots for tests instead of the public ones; no setting reaches this */
export function paypalVerifier(
  { webhook_id: webhookId }: Readonly<Record<string, string>>,
  testRoots?: Roots,
): Verifier {
  const budget = new FetchBudget();
  const certificates = testRoots ? documentsFor(() => testRoots) : publicCertificates;
  return (request, options) => {
    if (!webhookId) return failed('secret_missing', 'the webhook has no setting webhook_id yet');
    const transmission = transmissionOf(request, webhookId);
    if ('result' in transmission) return transmission;
    const age = checkTimestamp(request, TIMESTAMP, options);
    if ('result' in age) return age;
    return verified(transmission, options, () =>
      certificates(options.fetchDocument).get(transmission.certificateUrl, CERTIFICATE_MAX_AGE_MS, options, budget),
    );
  };
}

async function verified(
  { id, content, signature, certificateUrl }: SignedTransmission,
  { nowMs, receivedAtMs = nowMs }: VerifyOptions,
  certificateOf: () => ReturnType<ReturnType<typeof publicCertificates>['get']>,
): Promise<VerificationResult> {
  const certificate = await certificateOf();
  if (isFailure(certificate)) return certificate;
  if (receivedAtMs < certificate.from || receivedAtMs > certificate.until) {
    return failed('certificate_untrusted', `the certificate ${certificateUrl} is not valid at this time`);
  }
  if (verify('sha256', Buffer.from(content), certificate.key, signature)) {
    return { result: 'verified', secretIndex: 0, transmission: { id, forMs: TRANSMISSION_MS } };
  }
  return failed(
    'signature_mismatch',
    'the signature in the header paypal-transmission-sig does not fit the body and the webhook ID. Compare the setting webhook_id with that of the Developer Dashboard',
  );
}

/** Checks everything that is cheap before fetching. */
function transmissionOf(request: ProviderRequest, webhookId: string): SignedTransmission | Failure {
  const header = (name: string) => request.valueAt(`header:paypal-${name}`);
  const text = header('transmission-sig');
  if (!text) return failed('signature_missing', 'the header paypal-transmission-sig has no signature');
  const signature = bytesOf(text, 'base64');
  if (!signature || signature.length < RSA_BYTES.min || signature.length > RSA_BYTES.max) {
    return failed(
      'signature_malformed',
      'the signature in the header paypal-transmission-sig is not one of RSA in base64',
    );
  }
  if ((header('auth-algo') ?? ALGORITHM) !== ALGORITHM) {
    return failed('signature_malformed', `the header paypal-auth-algo names another algorithm than ${ALGORITHM}`);
  }
  const id = header('transmission-id') ?? '';
  const time = header('transmission-time') ?? '';
  if (!/^[\w-]{1,100}$/.test(id))
    return failed('signature_malformed', 'the header paypal-transmission-id is not an ID');
  if (time !== '' && !/^[\w:.+-]{1,40}$/.test(time)) {
    return failed('timestamp_malformed', 'the timestamp in the header paypal-transmission-time is not a time');
  }
  const certificateUrl = header('cert-url') ?? '';
  if (!CERTIFICATE_URL.test(certificateUrl)) {
    return failed('certificate_untrusted', 'the header paypal-cert-url is not the URL of a certificate of PayPal');
  }
  const content = `${id}|${time}|${webhookId}|${crc32(request.body)}`;
  return { id, content, signature, certificateUrl };
}
