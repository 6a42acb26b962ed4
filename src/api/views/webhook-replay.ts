/** The API's representation of replays of webhook requests. */
import { z } from 'zod';
import { type Event, eventSchema } from '../../model/events/event.ts';
import { LOG_OUTCOMES } from '../../model/webhooks/request-log.ts';
import type { WebhookReplay, WebhookReplayResult } from '../../store/webhooks/webhook-replay.ts';
import { apiObject, principal, textOrNull, time, timeOrNull } from '../http/validation.ts';
import { CHANGES, type Comparison, type Made } from '../replays/dry-run.ts';
import type { StartedReplay } from '../replays/start-replay.ts';
import { stoppedEarlySchema } from './incomplete.ts';
import { present } from './present.ts';

/** Maximum characters of the JSON of a request's events, and of the body of its response. */
const SHOWN_MAX_LENGTH = 16_384;

const REPLAY_STATES = ['running', 'paused', 'done', 'cancelled'] as const;
const count = z.int().min(0);
const RATE_MAX = 100;
const DEFAULT_RATE = 10;

export const webhookReplaySchema = apiObject('WebhookReplay', {
  id: z.string(),
  webhook_id: z.string(),
  state: z.enum(REPLAY_STATES),
  waiting_for: textOrNull.describe(
    'Error code of the reason why the replay waits, such as `backlog_full`; null: it does not wait',
  ),
  from: timeOrNull,
  to: z.iso.datetime(),
  outcomes: z.array(z.enum(LOG_OUTCOMES)).nullable(),
  reasons: z.array(z.string()).nullable(),
  request_ids: z.array(z.string()).nullable(),
  with_draft: z.boolean().describe('Whether the replay uses a draft of the transform, the filter, or both'),
  rate: z.int(),
  total: count.describe('Number of requests when the replay began'),
  total_is_exact: z.boolean().describe('false: there are more'),
  done: count.describe('Requests that made an event'),
  failed: count,
  skipped: count,
  position: textOrNull.describe('ID of the last request that has a result'),
  created_at: z.iso.datetime(),
  ended_at: timeOrNull,
  started_by: principal.nullable().describe('As in the audit log; null: an earlier version of the service started it'),
});

const madeSchema = z.object({
  outcome: z.enum(LOG_OUTCOMES),
  event_name: textOrNull,
  event: eventSchema.nullable().describe('The first event; null: there is none, or it has more than 16 KiB'),
  events: z.array(eventSchema).describe('The first events, at most 16 KiB in total'),
  event_count: count,
  response: z
    .object({ status: z.int(), headers: z.record(z.string(), z.string()), body: textOrNull })
    .nullable()
    .describe('null: the usual response. A body of more than 16,384 characters is null'),
  reason: textOrNull,
  message: textOrNull,
});

export const webhookReplayDryRunSchema = apiObject('WebhookReplayDryRun', {
  total: count,
  total_is_exact: z.boolean().describe('false: there are more'),
  sample: z
    .array(
      z.object({
        request_id: z.string(),
        received_at: z.iso.datetime(),
        logged: z.object({
          outcome: z.enum(LOG_OUTCOMES),
          event_name: textOrNull,
          reason: textOrNull,
        }),
        before: madeSchema.nullable().describe("The webhook's result for the request; null: there is no draft"),
        after: madeSchema.describe("The draft's result for the request; without a draft, the webhook's"),
        change: z.enum(CHANGES),
      }),
    )
    .describe('The newest requests'),
  stopped_early: stoppedEarlySchema.nullable().describe('Why the sample is incomplete; null: it is complete'),
});

export const startedReplaySchema = z.object({
  replay: webhookReplaySchema.nullable().describe('null: this is a dry run'),
  dry_run: webhookReplayDryRunSchema.nullable().describe('null: this is not a dry run'),
});

export const replayRateSchema = z.int().min(1).max(RATE_MAX).default(DEFAULT_RATE).describe('Requests per second');

export const webhookReplayResultSchema = apiObject('WebhookReplayResult', {
  request_id: z.string(),
  event_id: textOrNull.describe('Internal ID of the event; for a duplicate, of the earlier event'),
  reason: textOrNull.describe('Error code, or why the request made no event'),
  message: textOrNull,
});

export function presentWebhookReplay({ id, definition, status, waiting, position, counts, doneAt }: WebhookReplay) {
  const { hasDraft, total } = definition;
  return present(
    webhookReplaySchema,
    { ...definition, id, withDraft: hasDraft, endedAt: doneAt },
    {
      state: status as (typeof REPLAY_STATES)[number],
      waiting_for: status === 'running' ? (waiting ?? null) : null,
      total: total.count,
      total_is_exact: total.isExact,
      done: counts.done ?? 0,
      failed: counts.failed ?? 0,
      skipped: counts.skipped ?? 0,
      position: position.last || null,
    },
  );
}

export function presentStarted(started: StartedReplay): z.input<typeof startedReplaySchema> {
  if ('replay' in started) return { replay: presentWebhookReplay(started.replay), dry_run: null };
  const { total, sample, stoppedEarly } = started.dryRun;
  const shown = { total: total.count, total_is_exact: total.isExact, sample: sample.map(presentComparison) };
  return { replay: null, dry_run: { ...shown, stopped_early: stoppedEarly ?? null } };
}

function presentComparison({ summary, before, after, change }: Comparison) {
  return {
    request_id: summary.id,
    received_at: time(summary.receivedAt) as string,
    logged: { outcome: summary.outcome, event_name: summary.eventName ?? null, reason: summary.reason ?? null },
    before: before ? presentMade(before) : null,
    after: presentMade(after),
    change,
  };
}

function presentMade({ outcome, events, response, eventName, reason, message }: Made) {
  const shown = shownEvents(events);
  return {
    outcome,
    event_name: eventName ?? null,
    event: shown[0] ?? null,
    events: shown,
    event_count: events.length,
    response: response ? { ...response, body: response.body.length <= SHOWN_MAX_LENGTH ? response.body : null } : null,
    reason: reason ?? null,
    message: message ?? null,
  };
}

/** The events before the one at which the text becomes too long. */
function shownEvents(events: readonly Event[]): Event[] {
  let length = 0;
  const end = events.findIndex((event) => {
    length += JSON.stringify(event).length;
    return length > SHOWN_MAX_LENGTH;
  });
  return end === -1 ? [...events] : events.slice(0, end);
}

export function presentWebhookReplayResult(result: WebhookReplayResult) {
  return present(webhookReplayResultSchema, result);
}
