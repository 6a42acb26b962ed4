/** Result of verifying a request, and the context of verifiers. */
import type { ProviderRequest } from '../provider-request.ts';

/** The part that did not match. */
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
  /** Message for users: what was expected, what was received, and what to do. It never contains a secret or a correct signature. */
  message: string;
}

/** An ID that is valid with one body only, for as long as its signature. */
export interface Transmission {
  id: string;
  forMs: number;
}

/** `secretIndex`: the matching secret. `transmission`: set if the signature does not bind the ID to the body. */
export type VerificationResult = { result: 'verified'; secretIndex: number; transmission?: Transmission } | Failure;

/** Fetches a provider's document, such as a certificate or a key set: bounded in size and time, only over `https:` from public addresses.
 *  @throws Error */
export type FetchDocument = (url: string) => Promise<string>;

export interface VerifyOptions {
  /** Unix milliseconds. */
  nowMs: number;
  /** Time of receipt, Unix milliseconds, at which a logged request's age is checked. Default: `nowMs`. */
  receivedAtMs?: number | undefined;
  fetchDocument: FetchDocument;
}

/** Verifies requests of one webhook. Created once for its secrets, so that requests cost little. */
export type Verifier = (
  request: ProviderRequest,
  options: VerifyOptions,
) => VerificationResult | Promise<VerificationResult>;

export function failed(reason: FailureReason, message: string): Failure {
  return { result: 'failed', reason, message };
}
