/** `/v1/runs/count` and `/v1/runs/histogram`: counts of runs, by the filters of a list, and over time. */
import { z } from 'zod';
import { COUNT_TIMEOUT_MS } from '../../archive/archived-run-counts.ts';
import { functionIdsOf } from '../../jobs/bulk/selected-runs.ts';
import { RUN_STATUSES } from '../../model/runs/run-status.ts';
import { DAY_MS } from '../../model/values/time.ts';
import { COUNTED_FUNCTIONS_MAX, minuteIntervals, type RunInterval } from '../../store/runs/run-histogram.ts';
import { apiObject, time } from '../http/validation.ts';
import type { ApiParts } from '../parts.ts';
import { listQuery, stopMetadata } from '../rest/lists.ts';
import { type Route, routesOf } from '../rest/route.ts';
import { filteredBy, runFilters } from '../rest/run-selection.ts';

const COUNT_MS = 2_000;

export const runCountSchema = apiObject('RunCount', {
  count: z.int(),
  by_status: z.partialRecord(z.enum(RUN_STATUSES), z.int()),
  is_exact: z.boolean().describe('false: the count is a lower bound'),
});

const HISTOGRAM_MAX_MS = 7 * DAY_MS;

export const runBucketSchema = apiObject('RunBucket', {
  from: z.iso.datetime().describe('Inclusive'),
  to: z.iso.datetime().describe('Exclusive'),
  active: z.int(),
  completed: z.int(),
  failed: z.int(),
  cancelled: z.int(),
});

const routes = routesOf({ tag: 'Runs', scope: 'environment' });

export function runCountRoutes({ selectedRuns, runHistogram, functionTables }: ApiParts): Route[] {
  return [
    routes.get('/v1/runs/count', {
      operationId: 'countRuns',
      summary: 'Count runs',
      description: 'Counts the runs that `GET /v1/runs` lists with the same filters. Counting stops after 2 s.',
      query: z.strictObject({
        status: listQuery(RUN_STATUSES).describe('One or more, separated by commas or repeated'),
        ...runFilters,
      }),
      data: runCountSchema,
      errors: ['searches_full', 'archive_unavailable'],
      async handle({ env, query: { status = RUN_STATUSES, ...filters } }) {
        const selection = filteredBy(env, status, filters, Date.now());
        const { count, byStatus, isExact } = await selectedRuns.count(selection, { timeoutMs: COUNT_MS });
        return { data: { count, by_status: Object.fromEntries(byStatus), is_exact: isExact } };
      },
    }),
    routes.get('/v1/runs/histogram', {
      operationId: 'getRunHistogram',
      summary: 'Count runs over time',
      description:
        'By the time at which they were queued, in buckets of equal length: whole minutes. Default: the last 24 hours; at most 7 days, or a day of all functions in a cluster. Archived runs are ' +
        `counted for at most ${COUNT_TIMEOUT_MS / 1_000} s, the newest first: \`metadata.stopped_early\` says why those before \`stopped_at\` are missing. Of more than ${COUNTED_FUNCTIONS_MAX} functions, all functions are counted.`,
      query: z.strictObject({
        function_id: runFilters.function_id,
        app: runFilters.app,
        exclude: runFilters.exclude,
        queued_after: runFilters.queued_after,
        queued_before: runFilters.queued_before,
        buckets: z.coerce
          .number()
          .int()
          .min(1)
          .max(120)
          .default(60)
          .describe('Maximum number of buckets; many functions get fewer'),
      }),
      data: z.array(runBucketSchema),
      async handle({ env, query: { function_id: functionId, app, exclude, queued_after, queued_before, buckets } }) {
        const to = queued_before ?? Date.now();
        const functionIds = await functionIdsOf(functionTables, env, {
          app,
          exclude,
          functionId,
        });
        const bounds = runHistogram.bounds(functionIds);
        const from = Math.max(queued_after ?? to - DAY_MS, to - Math.min(HISTOGRAM_MAX_MS, bounds.rangeMs));
        if (from >= to) return { data: [] };
        const intervals = minuteIntervals(from, to, Math.min(buckets, bounds.intervals));
        const counted = await runHistogram.count({ env, functionIds, ...intervals });
        return {
          data: counted.intervals.map((interval) => presentInterval(interval, intervals.stepMs)),
          metadata: stopMetadata(counted.stoppedEarly, { at: counted.stoppedAt }),
        };
      },
    }),
  ];
}

function presentInterval({ from, active, Completed, Failed, Cancelled }: RunInterval, stepMs: number) {
  const times = { from: time(from) as string, to: time(from + stepMs) as string };
  return { ...times, active, completed: Completed, failed: Failed, cancelled: Cancelled };
}
