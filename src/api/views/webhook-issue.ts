/** The API's representation of issues of webhooks. */
import { z } from 'zod';
import { PRINCIPAL_KINDS } from '../../model/auth/access.ts';
import { ISSUE_KINDS, ISSUE_STATES } from '../../model/webhooks/issue.ts';
import type { WebhookIssue } from '../../store/webhooks/webhook-issues.ts';
import { apiObject } from '../http/validation.ts';
import { time } from './time.ts';

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
      request_id: z.string().nullable().describe('null: the issue is a silence'),
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
  replay_id: z.string().nullable().describe("The last replay of the issue's requests since it was opened"),
});

export function presentIssue(issue: WebhookIssue, webhookName: string): z.input<typeof webhookIssueSchema> {
  const { id, webhookId, kind, state, count, reasons, sample, reopened, stateChangedBy, replayId } = issue;
  return {
    id,
    webhook_id: webhookId,
    webhook_name: webhookName,
    kind,
    state,
    first_seen: time(issue.firstSeen) as string,
    last_seen: time(issue.lastSeen) as string,
    count,
    reasons,
    sample: {
      request_id: sample.requestId,
      reason: sample.reason,
      message: sample.message,
      at: time(sample.at) as string,
    },
    opened_at: time(issue.openedAt) as string,
    times_reopened: reopened,
    state_changed_at: time(issue.stateChangedAt) as string,
    state_changed_by: stateChangedBy ?? null,
    replay_id: replayId ?? null,
  };
}
