/** The API's representation of live updates. */
import { z } from 'zod';
import { RUN_STATUSES } from '../../model/runs/run.ts';
import { ISSUE_KINDS, ISSUE_STATES } from '../../model/webhooks/issue.ts';
import type { LiveUpdate, LiveUpdateOf } from '../../store/telemetry/live-updates.ts';
import { LOG_OUTCOMES } from '../../store/webhooks/webhook-log.ts';

/** The data of each kind of message. */
export const liveSchemas = {
  hello: z
    .object({})
    .meta({ description: 'Sent first, and again whenever updates may have been lost: reload what is shown' }),
  events: z
    .object({
      count: z.int().meta({ description: 'Number of events ingested since the previous message' }),
      events: z.array(
        z.object({
          internal_id: z.string(),
          name: z.string(),
          received_at: z.iso.datetime(),
          source: z.string(),
        }),
      ),
    })
    .meta({ description: 'Ingested events, oldest first; at most the last 100' }),
  runs: z
    .object({
      count: z
        .int()
        .meta({ description: 'Number of runs that changed since the previous message; at most 100 are listed' }),
      runs: z.array(
        z.object({
          run_id: z.string(),
          function_id: z.string(),
          event_id: z.string(),
          status: z.enum(RUN_STATUSES),
        }),
      ),
    })
    .meta({ description: 'Runs that were created, were called, finished a step, or ended' }),
  'webhook-requests': z
    .object({
      requests: z.array(z.object({ webhook_id: z.string(), id: z.string(), outcome: z.enum(LOG_OUTCOMES) })),
    })
    .meta({ description: 'Requests that were added to the request log of any webhook' }),
  'held-events': z.object({ count: z.int() }).meta({ description: 'Number of events added to the holding page' }),
  'webhook-issues': z
    .object({
      issues: z.array(
        z.object({
          id: z.string(),
          webhook_id: z.string(),
          kind: z.enum(ISSUE_KINDS),
          state: z.enum(ISSUE_STATES),
        }),
      ),
    })
    .meta({ description: 'Issues of webhooks that were opened, got failures, or changed their state' }),
} as const;

export type LiveKind = keyof typeof liveSchemas;

/** The data of the message for an update. */
export function presentLiveUpdate({ kind, count, items }: LiveUpdate): object {
  switch (kind) {
    case 'events':
      return { count, events: (items as LiveUpdateOf['events'][]).map(presentEvent) };
    case 'runs':
      return { count, runs: (items as LiveUpdateOf['runs'][]).map(presentRun) };
    case 'webhook-requests':
      return { requests: (items as LiveUpdateOf['webhook-requests'][]).map(presentRequest) };
    case 'held-events':
      return { count };
    case 'webhook-issues':
      return { issues: (items as LiveUpdateOf['webhook-issues'][]).map(presentIssue) };
  }
}

function presentEvent({ id, name, receivedAt, source }: LiveUpdateOf['events']) {
  return { internal_id: id, name, received_at: new Date(receivedAt).toISOString(), source };
}

function presentRun({ id, functionId, eventId, status }: LiveUpdateOf['runs']) {
  return { run_id: id, function_id: functionId, event_id: eventId, status };
}

function presentRequest({ id, webhookId, outcome }: LiveUpdateOf['webhook-requests']) {
  return { webhook_id: webhookId, id, outcome };
}

function presentIssue({ id, webhookId, kind, state }: LiveUpdateOf['webhook-issues']) {
  return { id, webhook_id: webhookId, kind, state };
}
