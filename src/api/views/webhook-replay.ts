/** The API's representation of replays of webhook requests. */
import { z } from 'zod';
import { eventSchema } from '../../model/events/event.ts';
import { LOG_OUTCOMES } from '../../store/webhooks/webhook-log.ts';
import { REPLAY_STATES, type ReplayResult, type WebhookReplay } from '../../store/webhooks/webhook-replays.ts';
import { CHANGES, type Comparison, type Made, shown } from '../replays/dry-run.ts';
import { stoppedEarlySchema } from '../rest/list-response.ts';
import { time } from './time.ts';

const count = z.int().min(0);

export const replaySchema = z
  .object({
    id: z.string(),
    webhook_id: z.string(),
    state: z.enum(REPLAY_STATES),
    waiting_for: z
      .string()
      .nullable()
      .meta({ description: 'Error code of what it waits for, such as `backlog_full`; null: nothing' }),
    from: z.iso.datetime().nullable(),
    to: z.iso.datetime(),
    outcomes: z.array(z.enum(LOG_OUTCOMES)).nullable(),
    request_ids: z.array(z.string()).nullable(),
    with_draft: z.boolean(),
    rate: z.int(),
    total: count.meta({ description: 'Number of requests when it began' }),
    total_is_exact: z.boolean().meta({ description: 'false: there are more' }),
    done: count.meta({ description: 'Requests that made an event' }),
    failed: count,
    skipped: count,
    position: z.string().nullable().meta({ description: 'ID of the last request that has a result' }),
    created_at: z.iso.datetime(),
    ended_at: z.iso.datetime().nullable(),
  })
  .meta({ id: 'WebhookReplay' });

const madeSchema = z.object({
  outcome: z.enum(LOG_OUTCOMES),
  event_name: z.string().nullable(),
  event: eventSchema.nullable().meta({ description: 'null: none, or one of more than 16 KiB' }),
  reason: z.string().nullable(),
  message: z.string().nullable(),
});

export const dryRunSchema = z
  .object({
    total: count,
    total_is_exact: z.boolean().meta({ description: 'false: there are more' }),
    sample: z
      .array(
        z.object({
          request_id: z.string(),
          received_at: z.iso.datetime(),
          logged: z.object({
            outcome: z.enum(LOG_OUTCOMES),
            event_name: z.string().nullable(),
            reason: z.string().nullable(),
          }),
          before: madeSchema
            .nullable()
            .meta({ description: "What the webhook's transform makes of the request; null: there is no draft" }),
          after: madeSchema.meta({ description: "What the draft makes of it, or without one the webhook's transform" }),
          change: z.enum(CHANGES),
        }),
      )
      .meta({ description: 'The newest requests' }),
    stopped_early: stoppedEarlySchema.nullable().meta({
      description: 'Why the sample has fewer requests than it could; null: it is complete',
    }),
  })
  .meta({ id: 'WebhookReplayDryRun' });

export const replayResultSchema = z
  .object({
    request_id: z.string(),
    event_id: z
      .string()
      .nullable()
      .meta({ description: 'Internal ID of the event; for a duplicate, of the earlier one' }),
    reason: z.string().nullable().meta({ description: 'Error code, or why the request made no event' }),
    message: z.string().nullable(),
  })
  .meta({ id: 'WebhookReplayResult' });

export function presentReplay(replay: WebhookReplay): z.output<typeof replaySchema> {
  const { id, webhookId, state, waiting, from, to, outcomes, requestIds, hasDraft, rate, total, counts } = replay;
  return {
    id,
    webhook_id: webhookId,
    state,
    waiting_for: state === 'running' ? (waiting ?? null) : null,
    from: time(from),
    to: time(to) as string,
    outcomes: outcomes ?? null,
    request_ids: requestIds ?? null,
    with_draft: hasDraft,
    rate,
    total: total.count,
    total_is_exact: total.isExact,
    ...counts,
    position: replay.position || null,
    created_at: time(replay.createdAt) as string,
    ended_at: time(replay.endedAt),
  };
}

export function presentComparison({ summary, before, after, change }: Comparison) {
  return {
    request_id: summary.id,
    received_at: time(summary.receivedAt) as string,
    logged: { outcome: summary.outcome, event_name: summary.eventName ?? null, reason: summary.reason ?? null },
    before: before ? presentMade(before) : null,
    after: presentMade(after),
    change,
  };
}

function presentMade({ outcome, event, eventName, reason, message }: Made) {
  return {
    outcome,
    event_name: eventName ?? null,
    event: (event && shown(event)) ?? null,
    reason: reason ?? null,
    message: message ?? null,
  };
}

export function presentResult({ requestId, eventId, reason, message }: ReplayResult) {
  return {
    request_id: requestId,
    event_id: eventId ?? null,
    reason: reason ?? null,
    message: message ?? null,
  };
}
