/** The API's representation of issues of webhooks. */
import { z } from 'zod';
import { PRINCIPAL_KINDS } from '../../model/auth/access.ts';
import { ISSUE_KINDS, ISSUE_STATES } from '../../model/webhooks/issue.ts';
import type { WebhookIssue } from '../../store/webhooks/webhook-issues.ts';
import { apiObject, textOrNull } from '../http/validation.ts';
import { present } from './present.ts';

export const webhookIssueSchema = apiObject('WebhookIssue', {
  id: z.string(),
  webhook_id: z.string(),
  webhook_name: z.string(),
  kind: z
    .enum(ISSUE_KINDS)
    .describe(
      '`verification`: requests could not be verified; `transform`: the transform or the filter failed; `quarantine`: the transform was in ' +
        'quarantine; `silence`: requests have stopped',
    ),
  state: z.enum(ISSUE_STATES),
  first_seen: z.iso.datetime(),
  last_seen: z.iso.datetime(),
  count: z.int().describe('Number of failed requests; for a silence, number of silences'),
  reasons: z
    .record(z.string(), z.int())
    .describe('Failures by reason; beyond 19 reasons, the rest are counted as `other`'),
  sample: z
    .object({
      request_id: textOrNull.describe('null: the issue is a silence'),
      reason: z.string(),
      message: z.string(),
      at: z.iso.datetime(),
    })
    .describe('The last failure'),
  opened_at: z.iso.datetime().describe('The first failure since the issue was opened or reopened'),
  times_reopened: z.int().describe('How often a failure reopened the issue'),
  state_changed_at: z.iso.datetime(),
  state_changed_by: z
    .object({ kind: z.enum([...PRINCIPAL_KINDS, 'traffic']), id: z.string(), name: z.string() })
    .nullable()
    .describe('Who last changed the state; null: a failure opened the issue; `traffic`: requests came again'),
  replay_id: textOrNull.describe("The last replay of the issue's requests since it was opened"),
});

export function presentIssue(issue: WebhookIssue, webhookName: string) {
  return present(webhookIssueSchema, { ...issue, webhookName, timesReopened: issue.reopened });
}
