/** News of the live stream as the API tells them. */
import { z } from 'zod';
import { RUN_STATUSES } from '../../model/runs/run.ts';
import type { LiveUpdate, LiveUpdateOf } from '../../store/telemetry/live-updates.ts';
import { LOG_OUTCOMES } from '../../store/webhooks/webhook-log.ts';

/** By the name that a message has in the stream: what its data is. */
export const liveSchemas = {
  hello: z.object({}).meta({ description: 'First, and again whenever news may have been missed: read anew' }),
  events: z
    .object({
      count: z.int().meta({ description: 'How many were ingested since the message before' }),
      events: z.array(
        z.object({
          internal_id: z.string(),
          name: z.string(),
          received_at: z.iso.datetime(),
          source: z.string(),
        }),
      ),
    })
    .meta({ description: 'Events that were ingested; at most the last 100 of them, oldest first' }),
  runs: z
    .object({
      count: z.int().meta({ description: 'How many runs have moved since the message before; 100 at most are named' }),
      runs: z.array(
        z.object({
          run_id: z.string(),
          function_id: z.string(),
          event_id: z.string(),
          status: z.enum(RUN_STATUSES),
        }),
      ),
    })
    .meta({ description: 'Runs that were made, were called, took a step, or ended' }),
  'webhook-requests': z
    .object({
      requests: z.array(z.object({ webhook_id: z.string(), id: z.string(), outcome: z.enum(LOG_OUTCOMES) })),
    })
    .meta({ description: 'Requests of any webhook that entered its log' }),
  'held-events': z.object({ count: z.int() }).meta({ description: 'How many events came to the holding page' }),
} as const;

export type LiveKind = keyof typeof liveSchemas;

/** The data of the message that tells them. */
export function presentNews({ kind, count, items }: LiveUpdate): object {
  switch (kind) {
    case 'events':
      return { count, events: (items as LiveUpdateOf['events'][]).map(presentEvent) };
    case 'runs':
      return { count, runs: (items as LiveUpdateOf['runs'][]).map(presentRun) };
    case 'webhook-requests':
      return { requests: (items as LiveUpdateOf['webhook-requests'][]).map(presentRequest) };
    case 'held-events':
      return { count };
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
