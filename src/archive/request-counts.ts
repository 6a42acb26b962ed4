/** Keys under which webhook requests are counted: their outcome, and the result of their verification. */
import type { VerificationResult } from '../model/webhooks/request-log.ts';

const PREFIX = 'verification:';

/** Key in the column `outcome` of the counts. */
export function verificationCount(result: VerificationResult): string {
  return PREFIX + result;
}

export function isVerification(outcome: string): boolean {
  return outcome.startsWith(PREFIX);
}
