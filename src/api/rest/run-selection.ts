/** The runs that a request selects, by the filters of `GET /v1/runs` or by ID. */
import { z } from 'zod';
import { invalidField } from '../../errors.ts';
import { ID_PATTERN } from '../../model/ids.ts';
import {
  type BulkActionKind,
  DEFAULT_STATUSES,
  RUN_IDS_MAX,
  type RunSelection,
  STATUSES_OF_ACTION,
} from '../../model/runs/bulk-action.ts';
import { EXCLUDABLE, LISTED_FUNCTIONS_MAX } from '../../model/runs/excluded-functions.ts';
import { RUN_STATES } from '../../model/runs/run-state.ts';
import { RUN_STATUSES, type RunStatus } from '../../model/runs/run-status.ts';
import { listUpTo, textUpTo, timeSchema } from '../http/validation.ts';
import { listQuery } from './lists.ts';
import { fingerprintSchema, idPrefixSchema, searchOf, searchQuery } from './search-query.ts';

/** Lists, counts and bulk actions share these filters. */
export const runFilters = {
  state: listQuery(RUN_STATES).describe(
    'One or more, separated by commas or repeated: `sleeping,retrying`. With `status`, runs must meet both. A page of a list examines up to 1,000 active runs; ' +
      '`metadata.stopped_early` says that there are more, and the cursor continues from there',
  ),
  function_id: textUpTo(512).optional().describe('The ID of a function, or a prefix with `*`: `shop-*`'),
  app: textUpTo(128).optional().describe('Name of an app, to select runs of its functions'),
  exclude: listQuery(EXCLUDABLE).describe(
    `Leaves out runs of functions that only schedules start, or that handle failures of others; nothing in environments with more than ${LISTED_FUNCTIONS_MAX} other functions`,
  ),
  event_id: textUpTo(64).optional().describe('Internal ID of an event, to select the runs that it triggered'),
  id_prefix: idPrefixSchema.optional().describe('Prefix of run IDs'),
  error: textUpTo(1_000).optional().describe('A text in the name or the message of the error; case does not matter'),
  fingerprint: fingerprintSchema
    .optional()
    .describe(
      'Fingerprint of an error group, to select the failed runs that have its error. `function_id` makes the search faster',
    ),
  app_version: textUpTo(256)
    .optional()
    .describe('The version of its app on which a run ends. Runs that are not pinned have none'),
  ...searchQuery('runs'),
  queued_after: timeSchema.optional().describe('Inclusive'),
  queued_before: timeSchema.optional().describe('Exclusive. For a bulk action: at most now, which is the default'),
};

export const runSelectionSchema = z.strictObject({
  status: listQuery(RUN_STATUSES).describe(
    'For `cancel`, `retry_now`, `resume` and `move`: Queued, Running, or both (default). For `retry`: Failed, Cancelled, Completed; default: Failed and Cancelled',
  ),
  ...runFilters,
  run_ids: listUpTo(RUN_IDS_MAX, z.string().regex(ID_PATTERN))
    .optional()
    .describe(
      'IDs of the runs, whatever their status; runs to which the action does not apply are skipped. Cannot be combined with other filters',
    ),
  started_by: z
    .string()
    .regex(ID_PATTERN)
    .optional()
    .describe(
      'ID of a bulk action that has ended, to select the runs that it started. Only `status` can be combined with it',
    ),
});

type RunFilter = z.output<z.ZodObject<typeof runFilters>>;

/** @throws ServiceError input_invalid */
export function selectionOf(
  env: string,
  action: BulkActionKind,
  filter: z.output<typeof runSelectionSchema>,
  nowMs: number,
): RunSelection {
  const { run_ids, started_by, status, ...filters } = filter;
  rejectMixed(filter);
  if (run_ids) {
    const runIds = [...new Set(run_ids)];
    return { env, statuses: RUN_STATUSES, runIds, runCount: runIds.length, before: nowMs };
  }
  const statuses = status ?? DEFAULT_STATUSES[action];
  const possible: readonly RunStatus[] = STATUSES_OF_ACTION[action];
  const impossible = statuses.find((status) => !possible.includes(status));
  if (impossible !== undefined) {
    throw invalidField('filter.status', `got "${impossible}"; "${action}" is for runs that are ${possible.join(', ')}`);
  }
  if (started_by !== undefined) return { env, statuses, startedBy: started_by, before: nowMs };
  return filteredBy(env, statuses, filters, nowMs);
}

/** @throws ServiceError input_invalid */
export function filteredBy(
  env: string,
  statuses: readonly RunStatus[],
  {
    state,
    function_id,
    app,
    exclude,
    event_id,
    id_prefix,
    error,
    fingerprint,
    app_version,
    search,
    queued_after: after,
    queued_before,
  }: RunFilter,
  nowMs: number,
): RunSelection {
  const before = Math.min(queued_before ?? nowMs, nowMs);
  if (after !== undefined && after >= before)
    throw invalidField('filter.queued_after', 'not before queued_before and now');
  if (search !== undefined) searchOf(search, 'runs', 'field "filter.search"');
  return {
    env,
    statuses,
    ...(state && { states: state }),
    ...(function_id !== undefined && { functionId: function_id }),
    ...(app !== undefined && { app }),
    ...(exclude && { exclude }),
    ...(event_id !== undefined && { eventId: event_id }),
    ...(id_prefix !== undefined && { idPrefix: id_prefix }),
    ...(error !== undefined && { error }),
    ...(fingerprint !== undefined && { fingerprint }),
    ...(app_version !== undefined && { appVersion: app_version }),
    ...(search !== undefined && { search }),
    ...(after !== undefined && { after }),
    before,
  };
}

function rejectMixed({ status, ...filter }: z.output<typeof runSelectionSchema>): void {
  const given = Object.entries(filter).flatMap(([name, value]) => (value === undefined ? [] : [name]));
  for (const alone of ['run_ids', 'started_by']) {
    if (given.includes(alone) && (given.length > 1 || (alone === 'run_ids' && status))) {
      throw invalidField(`filter.${alone}`, 'it selects by itself; remove the other filters');
    }
  }
}
