/** The API's representation of a destination. */
import { z } from 'zod';
import { DESTINATION_BODIES } from '../../model/apps/destination.ts';
import type { DestinationFunction } from '../../store/apps/destinations.ts';
import { apiObject, textOrNull, time, timeOrNull } from '../http/validation.ts';
import { inputOf } from './destination-input.ts';

export const destinationSchema = apiObject('Destination', {
  name: z.string(),
  function_id: z
    .string()
    .describe('Its function, as in `function_id` of runs: runs, errors, metrics and limits are found by it'),
  url: z.url(),
  events: z.array(z.string()).nullable().describe('null: it gets the events of a webhook'),
  webhook: textOrNull.describe('ID of a webhook; null: it gets events by their names'),
  filter: textOrNull,
  body: z.enum(DESTINATION_BODIES),
  headers: z.array(z.string()).describe('Names of headers that each request gets; their values are never shown'),
  forward_headers: z.array(z.string()),
  timeout_seconds: z.number(),
  retries: z.int(),
  flow: z.record(z.string(), z.unknown()).describe('Flow control, as in the configuration of a function'),
  paused_at: timeOrNull.describe('null: not paused'),
  queued_runs: z
    .enum(['run', 'hold'])
    .nullable()
    .describe('What queued runs do while it is paused; null: it is not paused'),
  signing_secrets: z
    .array(z.object({ added_at: z.iso.datetime(), until: timeOrNull }))
    .describe('Newest first; requests are signed with each'),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
});

export const destinationWithSecretSchema = destinationSchema
  .extend({ secret: z.string().describe('`whsec_…` of Standard Webhooks. Shown only now') })
  .meta({ id: 'DestinationWithSecret' });

export function presentDestination(fn: DestinationFunction, nowMs: number) {
  const { id, name, pausedAt, held, destination } = fn;
  const { headers, secrets, createdAt, updatedAt } = destination;
  return {
    name,
    function_id: id,
    ...inputOf(fn),
    headers: headers?.names ?? [],
    paused_at: time(pausedAt),
    queued_runs: pausedAt === undefined ? null : held ? ('hold' as const) : ('run' as const),
    signing_secrets: secrets
      .filter(({ until = Number.POSITIVE_INFINITY }) => until > nowMs)
      .map(({ addedAt, until }) => ({ added_at: time(addedAt) as string, until: time(until) })),
    created_at: time(createdAt) as string,
    updated_at: time(updatedAt) as string,
  };
}
