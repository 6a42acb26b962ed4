/** Reports which requests the provider has sent since a given time, which of them were received, and which are
 *  missing and why. */

import type {
  CheckedSpan,
  MissingRequest,
  ReconciliationState,
  SentCounts,
} from '../../store/webhooks/reconciliation-state.ts';
import type { WebhookInUse } from '../../store/webhooks/webhook-in-use.ts';
import type { WebhookReconciliations } from '../../store/webhooks/webhook-reconciliations.ts';
import { isAsked } from './reconcile-webhook.ts';

const LISTED_MAX = 100;

export interface Completeness extends SentCounts {
  /** The compared part of the requested span; undefined: nothing of it is compared yet. */
  span: CheckedSpan | undefined;
  /** The time since which nothing is missing; undefined: nothing is compared yet. */
  completeSince: number | undefined;
  missingRequests: MissingRequest[];
  reasons: Record<string, number>;
  state: ReconciliationState;
  isRunning: boolean;
}

/** @param since Unix milliseconds; undefined: since the comparison began */
export async function completenessOf(
  { id }: Pick<WebhookInUse, 'id'>,
  since: number | undefined,
  { webhookReconciliations }: { webhookReconciliations: WebhookReconciliations },
): Promise<Completeness> {
  const state = await webhookReconciliations.state(id);
  const { checked } = state;
  const isRunning = state.pass !== undefined || isAsked(state);
  const from = Math.max(since ?? 0, checked?.from ?? 0);
  if (!checked || from > checked.to) {
    const none = { sent: 0, received: 0, recovered: 0, missing: 0 };
    return { ...none, span: undefined, completeSince: undefined, missingRequests: [], reasons: {}, state, isRunning };
  }
  const span = { from, to: checked.to };
  const [counts, lastMissingAt, missingRequests] = await Promise.all([
    webhookReconciliations.counts(id, span),
    webhookReconciliations.lastMissingAt(id, checked.to),
    webhookReconciliations.missing(id, { ...span, limit: LISTED_MAX }),
  ]);
  const reasons: Record<string, number> = {};
  for (const { reason = 'not_tried' } of missingRequests) reasons[reason] = (reasons[reason] ?? 0) + 1;
  const completeSince = lastMissingAt === undefined ? checked.from : Math.max(checked.from, lastMissingAt + 1);
  return { ...counts, span, completeSince, missingRequests, reasons, state, isRunning };
}
