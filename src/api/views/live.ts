/** The API's representation of live updates. */
import { z } from 'zod';
import { RUN_STATUSES } from '../../model/runs/run.ts';
import { iso } from '../../model/values/time.ts';
import { ISSUE_KINDS, ISSUE_STATES } from '../../model/webhooks/issue.ts';
import { LOG_OUTCOMES } from '../../model/webhooks/request-log.ts';
import type { LiveUpdate, LiveUpdateOf } from '../../store/telemetry/live-updates.ts';
import { gistSchema } from './gist.ts';
import { present } from './present.ts';
import { presentRunState, runStateSchema } from './run-state.ts';

const liveRunSchema = z.object({
  run_id: z.string(),
  function_id: z.string(),
  event_id: z.string(),
  status: z.enum(RUN_STATUSES),
  state: runStateSchema
    .optional()
    .describe('State of the run when the message is sent; absent if the run has ended or its state cannot be read'),
  queued_at: z.iso.datetime().optional(),
  run_started_at: z.iso.datetime().optional(),
  ended_at: z.iso.datetime().optional(),
  error: z
    .string()
    .nullable()
    .optional()
    .describe(
      'The beginning of the error of the last failed attempt; null: no attempt failed, or a later one succeeded',
    ),
  replay_id: z.string().optional(),
  created: z.literal(true).optional().describe('The run was created since the previous message'),
  event_name: z.string().optional().describe('For a run that was created'),
  event_gist: gistSchema.optional().describe('For a run that was created: as in lists of runs'),
});

/** The data of each kind of message. */
export const liveSchemas = {
  hello: z.object({}).describe('Sent first, and again whenever updates may have been lost: reload what is shown'),
  events: z
    .object({
      count: z.int().describe('Number of events ingested since the previous message'),
      events: z.array(
        z.object({
          internal_id: z.string(),
          name: z.string(),
          received_at: z.iso.datetime(),
          source: z.string(),
          gist: gistSchema,
        }),
      ),
    })
    .describe('Ingested events, oldest first; at most the last 200'),
  runs: z
    .object({
      count: z.int().describe('Number of changes of runs since the previous message; at most 200 runs are listed'),
      created: z.int().describe('Number of runs that were created since the previous message'),
      runs: z.array(liveRunSchema),
    })
    .describe('Runs that were created, were called, finished a step, or ended'),
  'webhook-requests': z
    .object({
      requests: z.array(z.object({ webhook_id: z.string(), id: z.string(), outcome: z.enum(LOG_OUTCOMES) })),
    })
    .describe('Requests that were added to the request log of any webhook'),
  'held-events': z.object({ count: z.int() }).describe('Number of events added to the holding page'),
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
    .describe('Issues of webhooks that were opened, had new failures, or changed state'),
} as const;

export type LiveKind = keyof typeof liveSchemas;

/** The data of the message for an update. */
export function presentLiveUpdate({ kind, count, created, items }: LiveUpdate): object {
  switch (kind) {
    case 'events':
      return { count, events: (items as LiveUpdateOf['events'][]).map(presentEvent) };
    case 'runs':
      return { count, created, runs: (items as LiveUpdateOf['runs'][]).map(presentRun) };
    case 'webhook-requests':
      return { requests: (items as LiveUpdateOf['webhook-requests'][]).map(presentRequest) };
    case 'held-events':
      return { count };
    case 'webhook-issues':
      return { issues: (items as LiveUpdateOf['webhook-issues'][]).map(presentIssue) };
  }
}

function presentEvent({ id, name, receivedAt, source, gist = '' }: LiveUpdateOf['events']) {
  return { internal_id: id, name, received_at: iso(receivedAt), source, gist };
}

function presentRun(update: LiveUpdateOf['runs']) {
  const { id: runId, state, startedAt: runStartedAt, gist: eventGist } = update;
  return present(
    liveRunSchema,
    { ...update, runId, runStartedAt, eventGist },
    { state: state && presentRunState(state) },
  );
}

function presentRequest({ id, webhookId, outcome }: LiveUpdateOf['webhook-requests']) {
  return { webhook_id: webhookId, id, outcome };
}

function presentIssue({ id, webhookId, kind, state }: LiveUpdateOf['webhook-issues']) {
  return { id, webhook_id: webhookId, kind, state };
}
