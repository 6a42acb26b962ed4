/** `/v1/webhook-issues`: lists issues of webhooks (docs/webhooks.md#issues), and replays failed requests. */

import { z } from 'zod';
import { BACKPRESSURE_ERRORS, notFound, ServiceError } from '../../errors.ts';
import { INSTALLATION, isOpen } from '../../model/bulk/bulk-operation.ts';
import { CODES_OF_KIND, ISSUE_KINDS, ISSUE_STATES, type IssueState } from '../../model/webhooks/issue.ts';
import { isOlder, type Position } from '../../store/redis/pagination.ts';
import type { WebhookIssue } from '../../store/webhooks/webhook-issues.ts';
import type { ApiParts } from '../parts.ts';
import { existingWebhook } from '../receive/existing-webhook.ts';
import { startReplay } from '../replays/start-replay.ts';
import {
  countedReply,
  countPosition,
  listQuery,
  listReply,
  longPageQuery,
  pageQuery,
  timePosition,
} from '../rest/lists.ts';
import { ownerOfIssue, ownerOfWebhook, visible } from '../rest/owners.ts';
import { type AccessTo, type Route, routesOf } from '../rest/route.ts';
import { presentIssue, webhookIssueSchema } from '../views/webhook-issue.ts';
import { presentStarted, replayRateSchema, startedReplaySchema } from '../views/webhook-replay.ts';

const READ_AT_ONCE = 100;
/** Maximum number of issues examined for a filtered page. */
const EXAMINED_MAX = 5_000;

const ACTIONS = [
  [
    'acknowledge',
    'acknowledged',
    'Acknowledge an issue of a webhook',
    'Marks the issue as known. Failures are still counted.',
  ],
  ['resolve', 'resolved', 'Resolve an issue of a webhook', 'The next failure reopens the issue and is announced.'],
  ['ignore', 'ignored', 'Ignore an issue of a webhook', 'Failures are still counted, but never announced.'],
  ['reopen', 'open', 'Reopen an issue of a webhook', 'Undoes the last change of the state.'],
] as const satisfies [string, IssueState, string, string][];

export function webhookIssueRoutes(deps: ApiParts): Route[] {
  const { webhooks, webhookIssues, webhookReplays, telemetry } = deps;
  const routes = routesOf({ tag: 'Webhooks', scope: 'owner', owner: ownerOfIssue(deps) });

  async function existing(id: string): Promise<{ issue: WebhookIssue; webhookName: string }> {
    const issue = await webhookIssues.find(id);
    const webhook = issue && (await webhooks.read(issue.webhookId));
    if (!issue || !webhook) throw notFound('issue', id);
    return { issue, webhookName: webhook.name };
  }

  /** Newest failure first. Issues of deleted and hidden webhooks are left out. */
  async function page(
    {
      limit,
      cursor,
      state = ISSUE_STATES,
      kind,
    }: {
      limit: number;
      cursor?: Position | undefined;
      state?: readonly IssueState[] | undefined;
      kind?: readonly string[] | undefined;
    },
    accessTo: AccessTo,
    nowMs: number,
  ) {
    const names = new Map(visible(await webhooks.all(), accessTo).map(({ id, name }) => [id, name]));
    const found: { issue: WebhookIssue; webhookName: string; position: Position }[] = [];
    let last = cursor;
    for (let examined = 0; examined < EXAMINED_MAX; examined += READ_AT_ONCE) {
      const positions = await webhookIssues.list(state, last, READ_AT_ONCE, nowMs);
      const issues = await webhookIssues.read(positions.map(({ id }) => id));
      for (const [i, position] of positions.entries()) {
        last = position;
        const issue = issues[i];
        const webhookName = issue && names.get(issue.webhookId);
        if (!issue || webhookName === undefined || (kind && !kind.includes(issue.kind))) continue;
        found.push({ issue, webhookName, position });
        if (found.length === limit) return { found, next: position };
      }
      if (positions.length < READ_AT_ONCE) return { found, next: undefined };
    }
    return { found, next: last };
  }

  return [
    routes.get('/v1/webhook-issues', {
      owner: 'each',
      operationId: 'listWebhookIssues',
      summary: 'List issues of webhooks',
      description: 'The issue with the newest failure comes first. An issue is deleted 90 days after its last failure.',
      query: z.object({
        ...pageQuery(timePosition),
        state: listQuery(ISSUE_STATES).describe('Absent: all'),
        kind: listQuery(ISSUE_KINDS).describe('Absent: all'),
        webhook_id: z.string().optional(),
      }),
      data: z.array(webhookIssueSchema),
      errors: ['not_found'],
      async handle({ accessTo, query: { webhook_id: webhookId, ...query } }) {
        if (webhookId !== undefined) {
          const webhook = await existingWebhook(webhooks, webhookId);
          if (visible([webhook], accessTo).length === 0) throw notFound('webhook', webhookId);
          const { name } = webhook;
          const { state, kind, limit, cursor } = query;
          const found = newestFirst(await webhookIssues.ofWebhook(webhookId)).filter(
            (issue) =>
              (!state || state.includes(issue.state)) &&
              (!kind || kind.includes(issue.kind)) &&
              (!cursor || isOlder(positionOf(issue), cursor)),
          );
          const last = found.length > limit ? found[limit - 1] : undefined;
          return listReply(found.slice(0, limit), {
            present: (issue) => presentIssue(issue, name),
            positionOf,
            next: last && positionOf(last),
          });
        }
        const { found, next } = await page(query, accessTo, Date.now());
        const present = ({ issue, webhookName }: (typeof found)[0]) => presentIssue(issue, webhookName);
        return listReply(found, { present, positionOf: ({ position }) => position, next });
      },
    }),
    routes.get('/v1/webhooks/:id/issues', {
      owner: ownerOfWebhook(webhooks),
      operationId: 'listIssuesOfWebhook',
      summary: 'List issues of a webhook',
      description: 'At most one of each kind; the issue with the newest failure comes first.',
      query: z.object(longPageQuery(countPosition)),
      data: z.array(webhookIssueSchema),
      async handle({ params: { id }, query }) {
        const { name } = await existingWebhook(webhooks, id);
        const issues = newestFirst(await webhookIssues.ofWebhook(id));
        return countedReply(issues, query, (issue) => presentIssue(issue, name));
      },
    }),
    routes.get('/v1/webhook-issues/:issue', {
      operationId: 'getWebhookIssue',
      summary: 'Get an issue of a webhook',
      data: webhookIssueSchema,
      async handle({ params: { issue: id } }) {
        const { issue, webhookName } = await existing(id);
        return { data: presentIssue(issue, webhookName) };
      },
    }),
    ...ACTIONS.map(([action, to, summary, description]) =>
      routes.post(`/v1/webhook-issues/:issue/${action}`, {
        operationId: `${action}WebhookIssue`,
        summary,
        description,
        data: webhookIssueSchema,
        async handle({ params: { issue: id }, principal: { kind, id: principalId, name } }) {
          await existing(id);
          const changed = await webhookIssues.change(id, { to, by: { kind, id: principalId, name } }, Date.now());
          const { issue, webhookName } = await existing(id);
          if (changed) telemetry.publishWebhookIssue(issue);
          return { data: presentIssue(issue, webhookName), ...(!changed && { audited: false }) };
        },
      }),
    ),
    routes.post('/v1/webhook-issues/:issue/replay', {
      operationId: 'replayWebhookIssue',
      summary: 'Replay the failed requests of an issue',
      description:
        "Replays the webhook's requests that failed in this way since the issue was opened or reopened. Requests that failed verification are " +
        'verified again. While a replay of the issue is in progress or paused, the response has that replay.',
      body: z.object({
        dry_run: z.boolean().default(true),
        since: z
          .enum(['opened_at', 'first_seen'])
          .default('opened_at')
          .describe('`first_seen`: also requests that failed before the issue was last resolved'),
        rate: replayRateSchema,
      }),
      data: startedReplaySchema,
      errors: ['not_found', 'input_invalid', 'quota_exceeded', 'archive_unavailable', ...BACKPRESSURE_ERRORS],
      async handle({ principal, params: { issue: id }, body: { dry_run, since, rate } }) {
        const { issue } = await existing(id);
        const { webhookId, kind, replayId } = issue;
        const reasons = CODES_OF_KIND[kind];
        if (reasons.length === 0) throw new ServiceError('input_invalid', { detail: 'a silence has no requests' });
        if (!dry_run && replayId !== undefined) {
          const replay = await webhookReplays.read(INSTALLATION, replayId);
          if (replay && isOpen(replay)) {
            return { data: presentStarted({ replay }), audited: false };
          }
        }
        const from = since === 'opened_at' ? issue.openedAt : issue.firstSeen;
        const input = { from, outcomes: ['rejected' as const], reasons: [...reasons], dry_run, rate };
        const started = await startReplay(webhookId, input, principal, deps);
        if ('replay' in started) {
          await webhookIssues.noteReplay(id, started.replay.id);
          telemetry.publishWebhookIssue(issue);
        }
        return { data: presentStarted(started), ...(dry_run && { audited: false as const }) };
      },
    }),
  ];
}

function positionOf({ lastSeen, id }: WebhookIssue): Position {
  return { at: lastSeen, id };
}

function newestFirst(issues: readonly WebhookIssue[]): WebhookIssue[] {
  return issues.toSorted((a, b) => b.lastSeen - a.lastSeen || (a.id < b.id ? 1 : -1));
}
