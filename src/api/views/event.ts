/** The API's representation of an event. */
import { z } from 'zod';
import { ServiceError } from '../../errors.ts';
import type { Dialect } from '../../model/apps/app.ts';
import { eventSchema } from '../../model/events/event.ts';
import { uuidOf } from '../../model/values/uuid.ts';
import type { FoundEvent } from '../../store/events/events.ts';
import { apiObject, textOrNull, time } from '../http/validation.ts';
import { gistSchema } from './gist.ts';
import { omittedField } from './incomplete.ts';
import { runSchema } from './run.ts';

const ACCOUNT_ID = uuidOf('installation');

export const storedEventSchema = apiObject('StoredEvent', {
  internal_id: z.string().describe('The ID that the service assigned to the event'),
  id: z
    .string()
    .describe(
      'The deduplication ID that the sender set, else the internal ID, as functions receive it. Always the internal ID in requests with a signing key or an x-inngest header',
    ),
  name: z.string(),
  data: eventSchema.shape.data,
  ts: z.int().describe('Unix milliseconds'),
  user: eventSchema.shape.user,
  v: z.string().optional(),
  meta: eventSchema.shape.meta,
  verified: eventSchema.shape.verified,
  received_at: z.iso.datetime(),
  source: z
    .string()
    .describe(
      'event-key:<id>, or event-key for a key without an ID (from a setting, or any key in dev mode); webhook:<id>; ' +
        'event:<internal id> (that event, sent again); outbox (of an app, by OUTBOX_DATABASE_URL); api; or service',
    ),
  request_id: z.string(),
  duplicates: z.int().describe('How many duplicates of the event were ignored'),
  receivedAt: z.iso.datetime().describe('Same as received_at'),
  environmentID: z.string().describe('A UUID that stands for the environment'),
  accountID: z.string().describe('A UUID that stands for the installation'),
  sourceID: textOrNull.describe('Always null'),
});

export const runBriefSchema = runSchema
  .pick({ run_id: true, function_id: true, status: true })
  .meta({ id: 'RunBrief' });

export const listedEventSchema = storedEventSchema
  .extend({
    data: eventSchema.shape.data.optional().describe('Omitted with exclude=data'),
    ...omittedField,
    gist: gistSchema.optional().describe('The first plain values of the data; only with include=gist'),
    runs: z.array(runBriefSchema).optional().describe('Runs that the event triggered; only with include=runs'),
  })
  .meta({ id: 'ListedEvent' });

export const eventParams = z.object({ id: z.string().describe('Internal ID') });

/** @param env the event's environment
 *  @param dialect for official SDKs, `id` is the internal ID */
export function presentEvent(event: FoundEvent, env: string, dialect: Dialect) {
  const { internal_id, id, name, data, ts, user, v, meta, verified, received_at, source, request_id, duplicates } =
    event;
  const receivedAt = time(received_at) as string;
  return {
    internal_id,
    id: dialect === 'inngest' ? internal_id : (id ?? internal_id),
    name,
    data,
    ts,
    user,
    v,
    meta,
    verified,
    received_at: receivedAt,
    source,
    request_id,
    duplicates,
    receivedAt,
    environmentID: uuidOf(env),
    accountID: ACCOUNT_ID,
    sourceID: null,
  };
}

export function eventNotFound(id: string): ServiceError {
  return new ServiceError('not_found', { detail: `there is no event with the internal ID "${id}"` });
}
