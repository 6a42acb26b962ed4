/** The API's representation of replays. */
import { z } from 'zod';
import type { ReplayDryRun } from '../../jobs/replays/dry-run.ts';
import { BULK_OPERATION_STATUSES, countsBy } from '../../model/bulk/bulk-operation.ts';
import {
  FAILED_TO_START,
  FAILURE_REASONS,
  FORMER_STATUSES,
  type Replay,
  type ReplayResult,
  type ReplaySelection,
  SKIP_REASONS,
  SKIPPED,
  WAITING_REASONS,
  type WaitingReason,
} from '../../model/replays/replay.ts';
import { RUN_STATUSES, type RunStatus } from '../../model/runs/run-status.ts';
import { sum } from '../../model/values/sum.ts';
import { ENDED } from '../../store/bulk/started-runs.ts';
import { apiObject, textOrNull, time, timeOrNull, wholeOrNull } from '../http/validation.ts';
import { present } from './present.ts';

const counts = <const Name extends string>(names: readonly Name[], description: string) =>
  z.partialRecord(z.enum(names), z.int()).describe(description);

const skippedSchema = counts(
  SKIP_REASONS,
  'Skipped by reason, of the events whose former run has a selected status. function_archived: the app no longer registers the function; ' +
    'function_paused: the function is paused; not_matching: its current triggers do not match the event; not_evaluated: evaluating its expression cost too ' +
    'much; run_active: a run of the function on the event is active; already_replayed: this replay has already started the run, for another event of ' +
    'the same batch',
);

const LOOKED_AT = 'Events that meet the filter';
const MATCHED = 'Events that meet the filter, with a function whose former run has a selected status';

const filterSchema = z.object({
  name: textOrNull,
  source: textOrNull,
  search: textOrNull,
  id_prefix: textOrNull,
  id_count: wholeOrNull.describe('Number of events selected by ID; null: the request has no IDs'),
});

const selectionShape = {
  filter: filterSchema,
  received_after: z.iso.datetime().describe('No earlier than the retention'),
  received_before: z.iso.datetime().describe('No later than the request'),
  functions: z.array(z.string()).nullable().describe('null: all functions that match an event'),
  statuses: z.array(z.enum(FORMER_STATUSES)),
};

export const replaySchema = apiObject('Replay', {
  id: z.string(),
  name: textOrNull,
  status: z
    .enum(BULK_OPERATION_STATUSES)
    .describe(
      'done: the replay has examined all events, but its runs may still be active. cancelling: the replay starts no more runs, and cancels its active runs',
    ),
  ...selectionShape,
  rate: z.int().describe('Runs per second'),
  created_at: z.iso.datetime(),
  done_at: timeOrNull,
  waiting_because: z
    .enum(WAITING_REASONS)
    .nullable()
    .describe(
      'Why the replay currently starts no runs. backlog, memory: the queues or Redis are too full; active_runs: too many of its runs are active; ' +
        'archive_unavailable: Postgres is unavailable; environment_archived: its environment is archived. null: the replay does not wait',
    ),
  progress: z.object({
    looked_at: z.int().describe(LOOKED_AT),
    matched: z.int().describe(MATCHED),
    started: z.int().describe('Number of runs started'),
    skipped: skippedSchema,
    failed_to_start: counts(
      FAILURE_REASONS,
      'Runs that failed to start, by reason. event_gone: the event is no longer stored',
    ),
    position: z.iso.datetime().describe('Events received before this time are done'),
    estimated_seconds_left: z
      .number()
      .nullable()
      .describe(
        'Assumes that events are spread evenly over the time range; null: the replay is not running, or has just begun',
      ),
    results_omitted: z.int().describe('Number of results that are counted but not listed'),
  }),
  runs: z
    .object({ active: z.int(), completed: z.int(), failed: z.int(), cancelled: z.int() })
    .describe('Runs that the replay started, by status'),
});

export const replayDryRunSchema = apiObject('ReplayDryRun', {
  dry_run: z.literal(true),
  ...selectionShape,
  looked_at: z.int().describe(LOOKED_AT),
  matched: z.int().describe(MATCHED),
  would_start: z.int().describe('Number of runs that would start'),
  by_function: z.array(
    z.object({
      function_id: z.string(),
      would_start: z.int(),
      by_former_status: z.partialRecord(z.enum(FORMER_STATUSES), z.int()),
    }),
  ),
  skipped: skippedSchema,
  sample: z.array(
    z.object({
      event_id: z.string(),
      event_name: z.string(),
      received_at: z.iso.datetime(),
      function_id: z.string(),
      former_status: z.enum(FORMER_STATUSES),
      former_run_id: textOrNull,
    }),
  ),
  stopped_at: timeOrNull.describe(
    'The dry run ran out of time: it examined only events received before this time, and all numbers are lower bounds. null: it examined all events',
  ),
});

export const replayResultSchema = apiObject('ReplayResult', {
  event_id: z.string(),
  function_id: z.string(),
  outcome: z.enum(['started', 'skipped', 'failed']),
  reason: z.enum([...SKIP_REASONS, ...FAILURE_REASONS]).nullable(),
  run_id: textOrNull.describe('The run that was started; if skipped, the run that is the reason'),
  run_status: z.enum(RUN_STATUSES).nullable(),
  retry_of: textOrNull.describe('The former run'),
});

function presentSelection({ filter, after, before, functionIds, statuses }: ReplaySelection) {
  return {
    filter: present(filterSchema, { ...filter, idCount: filter.ids?.length }),
    received_after: time(after) as string,
    received_before: time(before) as string,
    functions: functionIds ? [...functionIds] : null,
    statuses: [...statuses],
  };
}

export function presentReplay(replay: Replay): z.output<typeof replaySchema> {
  const { id, definition, status, doneAt, waiting, position, counts } = replay;
  const { looked_at = 0, matched = 0, started = 0, active = 0, results_omitted = 0 } = counts;
  const ended = countsBy(counts, ENDED);
  const stored = { ...definition, id, status, doneAt };
  return present(replaySchema, stored, {
    ...presentSelection(definition),
    waiting_because: status === 'running' ? ((waiting as WaitingReason | undefined) ?? null) : null,
    progress: {
      looked_at,
      matched,
      started,
      skipped: countsBy(counts, SKIPPED),
      failed_to_start: countsBy(counts, FAILED_TO_START),
      position: time(position.at) as string,
      estimated_seconds_left: secondsLeft(replay),
      results_omitted,
    },
    runs: { active, completed: ended.Completed ?? 0, failed: ended.Failed ?? 0, cancelled: ended.Cancelled ?? 0 },
  });
}

function secondsLeft({ status, definition: { after, before }, position, counts }: Replay): number | null {
  const doneMs = position.at - after;
  if (status !== 'running' || doneMs <= 0) return null;
  return Math.ceil(((counts.worked_ms ?? 0) * (before - position.at)) / doneMs / 1_000);
}

export function presentDryRun(selection: ReplaySelection, result: ReplayDryRun) {
  const byFunction = [...result.wouldStart].sort(([a], [b]) => (a < b ? -1 : 1));
  const functions = byFunction.map(([functionId, byStatus]) => ({
    function_id: functionId,
    would_start: sum(byStatus.values()),
    by_former_status: Object.fromEntries(byStatus),
  }));
  return present(replayDryRunSchema, result, {
    dry_run: true as const,
    ...presentSelection(selection),
    would_start: sum(functions, (fn) => fn.would_start),
    by_function: functions,
    skipped: Object.fromEntries(result.skipped),
  });
}

/** @param statuses by run ID */
export function presentReplayResult(result: ReplayResult, statuses: ReadonlyMap<string, RunStatus>) {
  const { runId } = result;
  return present(replayResultSchema, { ...result, runStatus: runId === undefined ? undefined : statuses.get(runId) });
}
