/** The API's representation of the requests that a provider sent: how many were received, and which are missing. */
import { z } from 'zod';
import type { Webhook } from '../../store/webhooks/webhook.ts';
import { apiObject, textOrNull, time, timeOrNull } from '../http/validation.ts';
import type { Completeness } from '../reconciliation/completeness.ts';

const moment = timeOrNull;

export const completenessSchema = apiObject('WebhookCompleteness', {
  webhook_id: z.string(),
  since: moment.describe(
    'Begin of the compared span; later than asked for if earlier requests are not compared. null: none is compared yet',
  ),
  until: moment.describe('End of the compared span'),
  sent: z.int().describe('Requests that the provider sent in this span, each once'),
  received: z.int().describe('Those that came'),
  recovered: z.int().describe('Those that did not come, and were fetched'),
  missing: z.int().describe('Those that did not come, and are not recovered'),
  complete_since: moment.describe('Since then, until `until`, nothing is missing. null: nothing is compared yet'),
  reasons: z.record(z.string(), z.int()).describe('Why the requests of `missing_requests` are missing'),
  missing_requests: z
    .array(
      z.object({
        id: z.string().describe("The provider's ID"),
        sent_at: z.iso.datetime(),
        reason: textOrNull.describe('null: not tried yet'),
        message: textOrNull,
      }),
    )
    .describe('The oldest 100'),
  is_running: z.boolean().describe('Whether a comparison is in progress or asked for'),
  last_outage: z
    .object({ from: z.iso.datetime(), to: z.iso.datetime() })
    .nullable()
    .describe('An outage of the service whose span is not compared yet'),
  problem: z
    .object({ at: z.iso.datetime(), reason: z.string(), message: z.string() })
    .nullable()
    .describe('Why the last comparison could not be completed'),
  last_compared_at: moment,
  next_at: moment.describe('When the next comparison, or its next try, is due. null: the webhook is paused'),
});

export function presentCompleteness(
  { id, pausedAt }: Pick<Webhook, 'id' | 'pausedAt'>,
  { span, completeSince, missingRequests, reasons, state, isRunning, ...counts }: Completeness,
) {
  const { problem, outage, passedAt, dueAt } = state;
  const { sent, received, recovered, missing } = counts;
  return {
    webhook_id: id,
    since: time(span?.from),
    until: time(span?.to),
    ...{ sent, received, recovered, missing },
    complete_since: time(completeSince),
    reasons,
    missing_requests: missingRequests.map(({ id, at, reason = null, message = null }) => ({
      ...{ id, reason, message },
      sent_at: time(at) as string,
    })),
    is_running: isRunning,
    last_outage: outage ? { from: time(outage.from) as string, to: time(outage.to) as string } : null,
    problem: problem ? { ...problem, at: time(problem.at) as string } : null,
    last_compared_at: time(passedAt),
    next_at: pausedAt === undefined ? time(Math.max(dueAt, Date.now())) : null,
  };
}
