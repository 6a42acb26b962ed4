/** `/v1/runs/bulk`: cancels, re-runs, retries, resumes or moves runs that are selected by a filter or by ID. */
import { z } from 'zod';
import { invalidField, ServiceError } from '../../errors.ts';
import { isOpen } from '../../model/bulk/bulk-operation.ts';
import { newId } from '../../model/ids.ts';
import { RATE_DEFAULT, RATE_MAX } from '../../model/replays/replay.ts';
import {
  BULK_ACTIONS,
  BULK_STATUSES,
  type BulkAction,
  type BulkResult,
  RERUN_FROM,
} from '../../model/runs/bulk-action.ts';
import { describe } from '../../model/values/json.ts';
import { textUpTo } from '../http/validation.ts';
import type { ApiParts } from '../parts.ts';
import { countPosition, listQuery, namePosition, nextPage, pageOfNewest, pageQuery } from '../rest/lists.ts';
import { type Route, routesOf } from '../rest/route.ts';
import { runSelectionSchema, selectionOf } from '../rest/run-selection.ts';
import {
  bulkActionSchema,
  bulkDryRunSchema,
  bulkResultSchema,
  presentBulkAction,
  presentBulkDryRun,
  presentBulkResult,
} from '../views/bulk-action.ts';
import { operationRoutes } from './bulk-operation.ts';

const bodySchema = z.object({
  action: z.enum(BULK_ACTIONS),
  filter: runSelectionSchema.default({}),
  from: z
    .enum(RERUN_FROM)
    .default('start')
    .describe(
      'For `retry`. failed_step: the new run keeps the results of the steps that finished before the failed step; a run without a failed step is skipped',
    ),
  include_already_rerun: z
    .boolean()
    .default(false)
    .describe(
      'For `retry`. true: also re-runs runs that have been re-run already: a later run of the function on the event has completed',
    ),
  version: textUpTo(256)
    .nullish()
    .describe('For `move`: the version of their app on which the runs end; null: they continue with the active one'),
  all: z.boolean().default(false).describe('true: the filter may be empty'),
  rate: z.int().min(1).max(RATE_MAX).default(RATE_DEFAULT).describe('Re-runs, retries or resumed runs per second'),
  dry_run: z.boolean().default(false).describe('true: counts the runs and changes nothing'),
});

const params = z.object({ id: z.string().max(64) });

const routes = routesOf({ tag: 'Runs', scope: 'environment' });

export function bulkActionRoutes({ bulkActions, selectedRuns, environments }: ApiParts): Route[] {
  async function existing(env: string, id: string) {
    const bulk = await bulkActions.read(env, id);
    if (bulk) return bulk;
    throw new ServiceError('not_found', { detail: `there is no bulk action with the ID ${describe(id)}` });
  }

  const of = operationRoutes({
    routes,
    path: '/v1/runs/bulk/:id',
    params,
    name: 'BulkAction',
    noun: 'bulk action on runs',
    plural: 'bulk actions on runs',
    data: bulkActionSchema,
    present: presentBulkAction,
    store: bulkActions,
    read: (env, { id }) => existing(env, id),
  });

  return [
    routes.post('/v1/runs/bulk', {
      operationId: 'createBulkAction',
      summary: 'Cancel, re-run, retry, resume or move many runs',
      description:
        'Cancels the active runs that the filter selects, re-runs the ended ones as `POST /v1/runs/:id/retry` does, starts the delayed attempts as ' +
        '`POST /v1/runs/:id/retry-now` does, resumes the paused ones as `POST /v1/runs/:id/resume` does, or moves active ones to another version of their app as `POST /v1/runs/:id/move` does, in the background, from the newest to the oldest. Re-runs call the app as it is now; a run is left out if a later run of its function on its event has completed or is active. Runs that are queued after the request are not affected. The runs are counted first, for at most 5 s. With `dry_run`, the response has status ' +
        '200 and the counts, and nothing changes.',
      body: bodySchema,
      status: 201,
      dryRunStatus: 200,
      data: z.union([bulkActionSchema, bulkDryRunSchema]),
      errors: [
        'not_found',
        'environment_archived',
        'quota_exceeded',
        'searches_full',
        'archive_unavailable',
        'started_runs_unknown',
      ],
      async handle({ env, body }) {
        const { action, filter, from, version, all, rate, dry_run } = body;
        const now = Date.now();
        if ((action === 'move') !== (version !== undefined)) {
          throw invalidField('version', 'it is needed by "move", and belongs to no other action');
        }
        if (Object.keys(filter).length === 0 && !all)
          throw invalidField('filter', 'empty; to select all runs, set "all" to true');
        const selection = selectionOf(env, action, filter, now);
        const source = selection.startedBy === undefined ? undefined : await existing(env, selection.startedBy);
        if (source) rejectActive(source);
        const notListed = source ? await selectedRuns.notListed(source) : 0;
        if (source && notListed > 0) rejectUnknown(source, notListed);
        if (!dry_run && (await environments.read(env))?.archivedAt !== undefined) {
          throw new ServiceError('environment_archived');
        }
        const leavesOut = action === 'retry' && !body.include_already_rerun;
        const counted = await selectedRuns.count(selection, { leavesOut: leavesOut && dry_run });
        const counts = { ...counted, isExact: counted.isExact && notListed === 0, notListed };
        if (dry_run) return { status: 200, audited: false, data: presentBulkDryRun(action, selection, counts) };
        const { count, isExact } = counts;
        const matched = { count, isExact, ...(notListed > 0 && { notListed }) };
        const ofRerun = action === 'retry' && {
          ...(from !== 'start' && { from }),
          ...(!leavesOut && { includeAlreadyRerun: true as const }),
        };
        const ofMove = version != null && { version };
        const definition = { id: newId(now), action, selection, ...ofRerun, ...ofMove, rate, matched, createdAt: now };
        const id = await bulkActions.add(env, definition, { position: null });
        return { data: presentBulkAction(await existing(env, id)) };
      },
    }),
    of.list({
      description: 'Newest first. At most 200 are kept, for `RETENTION_DAYS`.',
      query: z.object({
        status: listQuery(BULK_STATUSES).describe('One or more, separated by commas or repeated'),
        ...pageQuery(namePosition),
      }),
      async find({ env, query: { status: statuses, ...query } }) {
        return pageOfNewest(await bulkActions.list(env, { statuses }), ({ id }) => id, query);
      },
    }),
    of.get(),
    routes.get('/v1/runs/bulk/:id/results', {
      operationId: 'listBulkActionResults',
      summary: 'List what a bulk action did with each run',
      description:
        'In the order of processing. The first 150,000 results are kept, including at most 50,000 skipped ones, for 7 days.',
      params,
      query: z.object(pageQuery(countPosition)),
      data: z.array(bulkResultSchema),
      async handle({ env, params: { id }, query: { limit, cursor = 0 } }) {
        await existing(env, id);
        const found = await bulkActions.results<BulkResult>({ env, id }, { from: cursor, limit: limit + 1 });
        const data = found.slice(0, limit).map(presentBulkResult);
        return { data, metadata: nextPage(found.length > limit ? cursor + limit : undefined) };
      },
    }),
    ...of.changes({
      pause: 'The action changes no more runs until it is resumed.',
      resume: 'An action that is not paused stays unchanged.',
      cancel: 'The action changes no more runs. Changes that it made stay. An action that is done stays done.',
    }),
  ];
}

/** While the action is starting runs, their list is incomplete.
 *  @throws ServiceError input_invalid */
function rejectActive(bulk: BulkAction): void {
  if (isOpen(bulk)) throw invalidField('filter.started_by', `the bulk action is ${bulk.status}; cancel it first`);
}

/** @throws ServiceError started_runs_unknown: none of the runs that the action started is known */
function rejectUnknown({ id, counts, definition }: BulkAction, notListed: number): void {
  const { done: started = 0 } = counts;
  if (notListed < started) return;
  const since = new Date(definition.createdAt).toISOString();
  throw new ServiceError('started_runs_unknown', {
    detail: `the IDs of the ${started} runs that ${id} started were kept for 7 days. "function_id" and "queued_after": "${since}" select these runs, and others that were queued since then`,
  });
}
