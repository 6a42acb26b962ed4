/** The API's representation of bulk actions on runs. */
import { z } from 'zod';
import type { RunCounts } from '../../jobs/bulk/selected-runs.ts';
import { countsBy } from '../../model/bulk/bulk-operation.ts';
import {
  BULK_ACTIONS,
  BULK_SKIP_REASONS,
  BULK_STATUSES,
  BULK_WAITING_REASONS,
  type BulkAction,
  type BulkActionKind,
  type BulkResult,
  type BulkWaitingReason,
  RERUN_FROM,
  type RunSelection,
  SKIPPED,
} from '../../model/runs/bulk-action.ts';
import { EXCLUDABLE } from '../../model/runs/excluded-functions.ts';
import { RUN_STATES } from '../../model/runs/run-state.ts';
import { RUN_STATUSES } from '../../model/runs/run-status.ts';
import { apiObject, textOrNull, time, timeOrNull, wholeOrNull } from '../http/validation.ts';
import { present } from './present.ts';

const filterSchema = z.object({
  status: z.array(z.enum(RUN_STATUSES)),
  state: z.array(z.enum(RUN_STATES)).nullable(),
  function_id: textOrNull,
  app: textOrNull,
  exclude: z.array(z.enum(EXCLUDABLE)).nullable(),
  event_id: textOrNull,
  id_prefix: textOrNull,
  error: textOrNull,
  fingerprint: textOrNull,
  app_version: textOrNull,
  search: textOrNull,
  queued_after: timeOrNull,
  queued_before: z.iso.datetime().describe('No later than the request'),
  run_count: wholeOrNull.describe('Number of runs selected by ID; null: the request has no IDs'),
  started_by: textOrNull.describe('The bulk action whose runs are selected'),
});

const notListed = z
  .int()
  .describe(
    'With `started_by`: runs that the action started besides, and whose IDs are not kept. They are not selected; a filter of time and function selects them',
  );

const selectionShape = {
  action: z.enum(BULK_ACTIONS),
  filter: filterSchema,
};

export const bulkActionSchema = apiObject('BulkAction', {
  id: z.string(),
  ...selectionShape,
  from: z.enum(RERUN_FROM).nullable().describe('Where re-runs begin; null: the action starts no re-runs'),
  include_already_rerun: z.boolean().describe('Whether it also re-runs runs that have been re-run already'),
  version: textOrNull.describe(
    'Where the action moves runs; null: it moves none, or so that they continue with the active version',
  ),
  rate: z.int().describe('Re-runs, retries or resumed runs per second'),
  status: z.enum(BULK_STATUSES).describe('done: the action has examined all runs'),
  matched: z
    .object({ count: z.int(), is_exact: z.boolean(), not_listed: notListed })
    .describe('Runs that the filter selected before the action began; not exact: a lower bound'),
  progress: z.object({
    done: z.int().describe('Runs that were cancelled, re-run, retried, resumed or moved'),
    skipped: z
      .partialRecord(z.enum(BULK_SKIP_REASONS), z.int())
      .describe(
        'Skipped runs by reason. run_not_waiting: the run had no delayed attempt; run_not_paused: the run was not paused; no_failed_step: no step of the run failed; already_rerun: a later run of its function on its event has completed, or began during this action; run_active: the run, or a re-run of it, is active; run_ended: the run ended before it could be cancelled; run_gone: the run is no ' +
          'longer stored; function_archived: its app no longer registers the function; event_gone: its event is no longer stored; version_unknown: its app has no such version, or that version lacks the function',
      ),
    position: timeOrNull.describe(
      'Runs queued after this time are done; null: the action has not begun, or its runs were selected by ID or by `started_by`',
    ),
  }),
  waiting_because: z.enum(BULK_WAITING_REASONS).nullable(),
  created_at: z.iso.datetime(),
  done_at: timeOrNull,
});

const sampledRunSchema = z.object({
  run_id: z.string(),
  function_id: z.string(),
  status: z.enum(RUN_STATUSES),
  queued_at: z.iso.datetime(),
});

export const bulkDryRunSchema = apiObject('BulkActionDryRun', {
  dry_run: z.literal(true),
  ...selectionShape,
  count: z.int().describe('Runs that the filter selects now'),
  is_exact: z
    .boolean()
    .describe('false: counting stopped after 5 s, and all numbers are lower bounds; or some runs are `not_listed`'),
  not_listed: notListed,
  by_status: z.partialRecord(z.enum(RUN_STATUSES), z.int()),
  skipped: z
    .partialRecord(z.enum(BULK_SKIP_REASONS), z.int())
    .describe('Runs of these that the re-run leaves out, by reason'),
  by_function: z.array(z.object({ function_id: z.string(), count: z.int() })),
  sample: z.array(sampledRunSchema),
  stopped_at: timeOrNull.describe(
    'Only runs queued since this time were counted; null: all were counted, or the runs were selected by ID or by `started_by`',
  ),
});

function presentSelection(action: BulkActionKind, selection: RunSelection) {
  const { statuses: status, states: state, after: queuedAfter, before: queuedBefore } = selection;
  return { action, filter: present(filterSchema, { ...selection, status, state, queuedAfter, queuedBefore }) };
}

export function presentBulkAction(bulk: BulkAction) {
  const { id, definition, status, position, counts, waiting, doneAt } = bulk;
  const { action, selection, from, matched } = definition;
  const byTime = selection.runCount === undefined && selection.startedBy === undefined;
  return present(
    bulkActionSchema,
    { ...definition, id, doneAt },
    {
      ...presentSelection(action, selection),
      from: action === 'retry' ? (from ?? 'start') : null,
      matched: { count: matched.count, is_exact: matched.isExact, not_listed: matched.notListed ?? 0 },
      include_already_rerun: definition.includeAlreadyRerun ?? false,
      status: status as (typeof BULK_STATUSES)[number],
      progress: {
        done: counts.done ?? 0,
        skipped: countsBy(counts, SKIPPED),
        position: byTime ? time(position?.at) : null,
      },
      waiting_because: status === 'running' ? ((waiting as BulkWaitingReason | undefined) ?? null) : null,
    },
  );
}

export function presentBulkDryRun(
  action: BulkActionKind,
  selection: RunSelection,
  counted: RunCounts & { notListed: number },
): z.output<typeof bulkDryRunSchema> {
  const functions = [...counted.byFunction].sort(([, a], [, b]) => b - a);
  return present(bulkDryRunSchema, counted, {
    dry_run: true,
    ...presentSelection(action, selection),
    by_status: Object.fromEntries(counted.byStatus),
    skipped: Object.fromEntries(counted.skipped),
    by_function: functions.map(([function_id, count]) => ({ function_id, count })),
    sample: counted.sample.map((run) => present(sampledRunSchema, { ...run, runId: run.id })),
  });
}

export const bulkResultSchema = apiObject('BulkActionResult', {
  run_id: z.string(),
  rerun_id: textOrNull.describe('The new run of a re-run'),
  skipped_because: z.enum(BULK_SKIP_REASONS).nullable(),
});

export function presentBulkResult({ runId, rerunId, skip }: BulkResult): z.output<typeof bulkResultSchema> {
  return { run_id: runId, rerun_id: rerunId ?? null, skipped_because: skip ?? null };
}
