/** `/v1/runs/bulk`: cancels or retries the runs that a filter selects. */
import { z } from 'zod';
import { ServiceError } from '../../errors.ts';
import type { SelectedRuns } from '../../jobs/bulk/selected-runs.ts';
import { newId } from '../../model/ids.ts';
import { RATE_DEFAULT, RATE_MAX } from '../../model/replays/replay.ts';
import {
  BULK_ACTIONS,
  type BulkActionKind,
  DEFAULT_STATUSES,
  type RunSelection,
  STATUSES_OF_ACTION,
} from '../../model/runs/bulk-action.ts';
import { RUN_STATUSES, type RunStatus } from '../../model/runs/run-status.ts';
import { LENGTH_MAX } from '../../model/search/parse.ts';
import { describe } from '../../model/values/json.ts';
import type { Environments } from '../../store/environments/environments.ts';
import type { BulkActions } from '../../store/runs/bulk-actions.ts';
import { listQuery, namePosition, pageOfNewest, pageQuery } from '../rest/list-query.ts';
import { listReply } from '../rest/list-response.ts';
import { type Route, route } from '../rest/route.ts';
import { fingerprintSchema, idPrefixSchema, searchOf } from '../rest/search-query.ts';
import { bulkActionSchema, bulkDryRunSchema, presentBulkAction, presentBulkDryRun } from '../views/bulk-action.ts';

const timestamp = z.iso.datetime({ offset: true }).transform((text) => Date.parse(text));

/** As `GET /v1/runs` takes them. */
const filterSchema = z.strictObject({
  status: listQuery(RUN_STATUSES).meta({
    description:
      'Of `cancel`: Queued, Running, or both, the default. Of `retry`: Failed and Cancelled, the default, or Completed too',
  }),
  function_id: z
    .string()
    .min(1)
    .max(512)
    .optional()
    .meta({ description: 'The ID of a function, or the beginning of several: `shop-*`' }),
  app: z.string().min(1).max(128).optional(),
  event_id: z.string().min(1).max(64).optional().meta({ description: 'Internal ID of an event' }),
  id_prefix: idPrefixSchema.optional().meta({ description: 'The beginning of run IDs' }),
  error: z
    .string()
    .min(1)
    .max(1_000)
    .optional()
    .meta({ description: 'A text in the name or the message of the error' }),
  fingerprint: fingerprintSchema
    .optional()
    .meta({ description: 'Of an error group: the failed runs that have its error' }),
  search: z.string().min(1).max(LENGTH_MAX).optional().meta({ description: 'A condition, as in `GET /v1/runs`' }),
  queued_after: timestamp.optional().meta({ description: 'Inclusive' }),
  queued_before: timestamp.optional().meta({ description: 'Exclusive; default now' }),
});

const bodySchema = z.object({
  action: z.enum(BULK_ACTIONS),
  filter: filterSchema.default({}),
  all: z.boolean().default(false).meta({ description: 'true: the filter may be empty' }),
  rate: z.int().min(1).max(RATE_MAX).default(RATE_DEFAULT).meta({ description: 'Re-runs per second' }),
  dry_run: z.boolean().default(false).meta({ description: 'true: changes nothing, and counts the runs' }),
});

export interface BulkActionRouteDeps {
  bulkActions: BulkActions;
  selectedRuns: SelectedRuns;
  environments: Environments;
}

const params = z.object({ id: z.string().max(64) });

export function bulkActionRoutes({ bulkActions, selectedRuns, environments }: BulkActionRouteDeps): Route[] {
  const common = { tag: 'Runs', scope: 'environment' } as const;

  async function existing(env: string, id: string) {
    const bulk = await bulkActions.read(env, id);
    if (bulk) return bulk;
    throw new ServiceError('not_found', { detail: `there is no bulk action with the ID ${describe(id)}` });
  }

  return [
    route({
      ...common,
      method: 'post',
      path: '/v1/runs/bulk',
      access: 'write',
      operationId: 'createBulkAction',
      summary: 'Cancel or retry runs by filter',
      description:
        'Cancels the active runs that the filter selects, or re-runs the ended ones as `POST /v1/runs/:id/retry` does, in the background, from the newest to the ' +
        'oldest. Runs that are queued after the request are left alone. They are counted first, for 5 s at most. With `dry_run`, the response has status ' +
        '200 and the count, and nothing changes.',
      body: bodySchema,
      status: 201,
      dryRunStatus: 200,
      data: z.union([bulkActionSchema, bulkDryRunSchema]),
      errors: ['environment_archived', 'quota_exceeded', 'searches_full', 'archive_unavailable'],
      async handle({ env, body: { action, filter, all, rate, dry_run } }) {
        const now = Date.now();
        if (Object.keys(filter).length === 0 && !all)
          throw invalid('filter', 'empty; to select all runs, set "all" to true');
        const selection = selectionOf(env, action, filter, now);
        if (!dry_run && (await environments.read(env))?.archivedAt !== undefined) {
          throw new ServiceError('environment_archived');
        }
        const counts = await selectedRuns.count(selection);
        if (dry_run) return { status: 200, audited: false, data: presentBulkDryRun(action, selection, counts) };
        const { count, stoppedAt } = counts;
        const matched = { count, isExact: stoppedAt === undefined };
        const progress = { status: 'running', done: 0, skipped: {} } as const;
        const bulk = { id: newId(now), action, selection, rate, matched, createdAt: now, ...progress };
        await bulkActions.add(bulk);
        return { data: presentBulkAction(bulk) };
      },
    }),
    route({
      ...common,
      method: 'get',
      path: '/v1/runs/bulk',
      access: 'read',
      operationId: 'listBulkActions',
      summary: 'List bulk actions on runs',
      description: 'Newest first. They are kept for `RETENTION_DAYS`, and 200 of them at most.',
      query: z.object(pageQuery(namePosition)),
      data: z.array(bulkActionSchema),
      errors: [],
      async handle({ env, query }) {
        const { page, next } = pageOfNewest(await bulkActions.all(env), ({ id }) => id, query);
        return listReply(page, { present: presentBulkAction, positionOf: ({ id }) => id, next });
      },
    }),
    route({
      ...common,
      method: 'get',
      path: '/v1/runs/bulk/:id',
      access: 'read',
      operationId: 'getBulkAction',
      summary: 'Get a bulk action on runs',
      params,
      data: bulkActionSchema,
      errors: ['not_found'],
      async handle({ env, params: { id } }) {
        return { data: presentBulkAction(await existing(env, id)) };
      },
    }),
    route({
      ...common,
      method: 'post',
      path: '/v1/runs/bulk/:id/cancel',
      access: 'write',
      operationId: 'cancelBulkAction',
      summary: 'Cancel a bulk action on runs',
      description: 'It changes no more runs. What it has done stays. One that is done stays so.',
      params,
      status: 200,
      data: bulkActionSchema,
      errors: ['not_found'],
      async handle({ env, params: { id } }) {
        const changed = await bulkActions.change(env, id, (bulk) =>
          bulk.status === 'running' ? { ...bulk, status: 'cancelled', doneAt: Date.now() } : undefined,
        );
        const data = presentBulkAction(changed ?? (await existing(env, id)));
        return { data, ...(!changed && { audited: false as const }) };
      },
    }),
  ];
}

/** @throws ServiceError input_invalid */
function selectionOf(
  env: string,
  action: BulkActionKind,
  filter: z.output<typeof filterSchema>,
  nowMs: number,
): RunSelection {
  const {
    status = DEFAULT_STATUSES[action],
    function_id,
    app,
    event_id,
    id_prefix,
    error,
    fingerprint,
    search,
  } = filter;
  const possible: readonly RunStatus[] = STATUSES_OF_ACTION[action];
  const impossible = status.find((one) => !possible.includes(one));
  if (impossible !== undefined) {
    throw invalid('filter.status', `got "${impossible}"; "${action}" is for runs that are ${possible.join(', ')}`);
  }
  const after = filter.queued_after;
  const before = Math.min(filter.queued_before ?? nowMs, nowMs);
  if (after !== undefined && after >= before) throw invalid('filter.queued_after', 'not before queued_before and now');
  if (search !== undefined) searchOf(search, 'runs', 'field "filter.search"');
  return {
    env,
    statuses: status,
    ...(function_id !== undefined && { functionId: function_id }),
    ...(app !== undefined && { app }),
    ...(event_id !== undefined && { eventId: event_id }),
    ...(id_prefix !== undefined && { idPrefix: id_prefix }),
    ...(error !== undefined && { error }),
    ...(fingerprint !== undefined && { fingerprint }),
    ...(search !== undefined && { search }),
    ...(after !== undefined && { after }),
    before,
  };
}

function invalid(field: string, detail: string): ServiceError {
  return new ServiceError('input_invalid', { detail: `field "${field}": ${detail}`, facts: { field } });
}
