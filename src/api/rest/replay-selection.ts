/** The events and functions that a request to replay selects. */
import { z } from 'zod';
import { invalidField, ServiceError } from '../../errors.ts';
import type { FunctionTables } from '../../jobs/functions/function-tables.ts';
import { EVENT_NAME_MAX } from '../../model/events/event.ts';
import { ID_PATTERN } from '../../model/ids.ts';
import {
  EVENT_IDS_MAX,
  FORMER_STATUSES,
  RATE_DEFAULT,
  RATE_MAX,
  type ReplaySelection,
} from '../../model/replays/replay.ts';
import { LENGTH_MAX, parseSearch } from '../../model/search/parse.ts';
import { SearchError } from '../../model/search/search-error.ts';
import { describe } from '../../model/values/json.ts';
import { DAY_MS } from '../../model/values/time.ts';
import type { Store } from '../../store/store.ts';
import { listUpTo, textUpTo, timestampSchema } from '../http/validation.ts';

const FUNCTIONS_MAX = 100;

interface ReplaySelectionDeps extends Pick<Store, 'environments'> {
  functionTables: Pick<FunctionTables, 'of'>;
  retentionMs: number;
}

const filterSchema = z.strictObject({
  name: textUpTo(EVENT_NAME_MAX).nullish().describe('Event name, or a prefix with `*`: `order/*`'),
  source: textUpTo(512)
    .nullish()
    .describe('The source of the events, such as `webhook:<id>`, or `webhook` for all webhooks'),
  search: textUpTo(LENGTH_MAX)
    .nullish()
    .describe('A condition that events must meet, in the language of docs/search.md'),
  id_prefix: z
    .string()
    .regex(/^[0-7][0-9A-HJKMNP-TV-Z]{0,25}$/, 'the beginning of an internal ID')
    .nullish()
    .describe('Prefix of internal IDs'),
  ids: listUpTo(EVENT_IDS_MAX, z.string().regex(ID_PATTERN))
    .nullish()
    .describe('Internal IDs of the events to replay. Cannot be combined with other filters'),
});

export const replayBodySchema = z.object({
  name: textUpTo(128).nullish().describe('A name for users of the dashboard'),
  filter: filterSchema.default({}),
  received_after: timestampSchema.describe('Inclusive'),
  received_before: timestampSchema.describe('Exclusive'),
  functions: listUpTo(FUNCTIONS_MAX, textUpTo(512))
    .nullish()
    .describe('IDs of functions. Default: all functions whose current triggers match the event'),
  statuses: listUpTo(FORMER_STATUSES.length, z.enum(FORMER_STATUSES)).describe(
    'Status of the latest run of the function on the event; none: there was no run',
  ),
  rate: z.int().min(1).max(RATE_MAX).default(RATE_DEFAULT).describe('Runs per second'),
  dry_run: z.boolean().default(false).describe('true: starts no runs, and returns what would start'),
});

/** @throws ServiceError input_invalid, not_found */
export async function replaySelectionOf(
  env: string,
  body: z.output<typeof replayBodySchema>,
  nowMs: number,
  { environments, functionTables, retentionMs }: ReplaySelectionDeps,
): Promise<ReplaySelection> {
  const { filter, received_after, received_before, functions, statuses } = body;
  const { name, source, search, id_prefix, ids } = filter;
  if (ids && (name || source || search || id_prefix))
    throw invalidField('filter.ids', 'it selects by itself; remove the rest');
  if (received_after >= received_before) throw invalidField('received_after', 'not before received_before');
  const days = (await environments.read(env))?.retentionDays;
  const oldest = nowMs - (days === undefined ? retentionMs : days * DAY_MS);
  const after = Math.max(received_after, oldest);
  const before = Math.min(received_before, nowMs);
  if (after >= before) throw invalidField('received_after', 'no event of this time range is stored');
  if (search) rejectInvalid(search);
  const table = await functionTables.of(env);
  const unknown = functions?.find((id) => !table.find(id));
  if (unknown !== undefined) {
    throw new ServiceError('not_found', { detail: `there is no function with the ID ${describe(unknown)}` });
  }
  return {
    env,
    filter: {
      ...(name && { name }),
      ...(source && { source }),
      ...(search && { search }),
      ...(id_prefix && { idPrefix: id_prefix }),
      ...(ids && { ids: [...new Set(ids)] }),
    },
    after,
    before,
    ...(functions && { functionIds: [...new Set(functions)] }),
    statuses: [...new Set(statuses)],
  };
}

/** @throws ServiceError input_invalid */
function rejectInvalid(search: string): void {
  try {
    parseSearch(search, 'events');
  } catch (error) {
    if (!(error instanceof SearchError)) throw error;
    throw invalidField('filter.search', `at character ${error.position + 1}: ${error.message}`);
  }
}
