/** The result of verifying a request, and what a verifier needs. */
import type { ProviderRequest } from '../provider-request.ts';

/** Which part did not match. */
export const FAILURES = [
  'secret_missing',
  'secret_unreadable',
  'signature_missing',
  'signature_malformed',
  'signature_mismatch',
  'timestamp_missing',
  'timestamp_malformed',
  'timestamp_too_old',
  'timestamp_in_future',
  'transmission_repeated',
  'body_malformed',
  'certificate_untrusted',
  'certificate_unavailable',
  'confirmation_untrusted',
  'confirmation_unavailable',
] as const;
export type FailureReason = (typeof FAILURES)[number];

export interface Failure {
  result: 'failed';
  reason: FailureReason;
  /** For people: what was expected, what came, what to do. Never a secret, and no signature that would have been right. */
  message: string;
}

/** An ID that may come with one body only, for as long as its signature counts. */
export interface Transmission {
  id: string;
  forMs: number;
}

/** `secretIndex` is the secret that matched. `transmission` is there where the signature does not tie the ID to the body well. */
export type VerificationResult = { result: 'verified'; secretIndex: number; transmission?: Transmission } | Failure;

/** Fetches a document of the provider's, such as a certificate or a key set: bounded in size and time, `https:` only, public addresses only.
 *  @throws Error */
export type FetchDocument = (url: string) => Promise<string>;

export interface VerifyOptions {
  /** Unix milliseconds. */
  nowMs: number;
  /** When the request came, Unix milliseconds: a logged one is verified again later, and its age then does not count. Default: `nowMs`. */
  receivedAtMs?: number | undefined;
  fetchDocument: FetchDocument;
}

/** Verifies requests of one webhook. Made once for its secrets; it does no needless work for each request. */
export type Verifier = (
  request: ProviderRequest,
  options: VerifyOptions,
) => VerificationResult | Promise<VerificationResult>;

export function failed(reason: FailureReason, message: string): Failure {
  return { result: 'failed', reason, message };
}
