/** What reads of webhook requests share: keys under which they are counted (their outcome, and the result of their
 *  verification), and which are not found. */
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
