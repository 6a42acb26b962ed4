/** Under what the requests of a webhook are counted: their outcome, and the result of their verification. */
import type { VerificationResult } from '../store/webhooks/webhook-log.ts';

const PREFIX = 'verification:';

/** In the column `outcome` of the counts. */
export function verificationCount(result: VerificationResult): string {
  return PREFIX + result;
}

export function isVerification(outcome: string): boolean {
  return outcome.startsWith(PREFIX);
}
