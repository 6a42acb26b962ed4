/** Shared by reads of webhook requests: the keys by which they are counted (outcome and verification result), and
 *  the conditions that hide them. */
import type { VerificationResult } from '../model/webhooks/request-log.ts';

/** Condition with the webhook's ID: requests of a deleted webhook are not found. */
export const NOT_REMOVED = 'NOT EXISTS (SELECT FROM removed_webhooks m WHERE m.webhook_id = ?)';

const PREFIX = 'verification:';

/** Key in the column `outcome` of the counts. */
export function verificationCount(result: VerificationResult): string {
  return PREFIX + result;
}

export function isVerification(outcome: string): boolean {
  return outcome.startsWith(PREFIX);
}
