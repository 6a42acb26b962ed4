/** `/v1/metrics` and `/v1/functions/stats`: counts and latencies over time. */
import { z } from 'zod';
import { quantile } from '../../model/capacity/histogram.ts';
import { DAY_MS, floorTo, HOUR_MS, iso } from '../../model/values/time.ts';
import { type HourlyRuns, METRICS_KEPT_MS, type Point } from '../../store/telemetry/metrics.ts';
import { apiObject, timeOrNull } from '../http/validation.ts';
import type { ApiParts } from '../parts.ts';
import { fieldsQuery, longPageQuery, namePosition, sortedReply } from '../rest/lists.ts';
import { rounded, timeRange, timeRangeOf } from '../rest/metrics-range.ts';
import { type Route, routesOf } from '../rest/route.ts';
import { present } from '../views/present.ts';

const latencySchema = z
  .object({ p50: z.number(), p95: z.number() })
  .nullable()
  .describe('Milliseconds, accurate to 10 %; null: nothing was measured');

const pointSchema = z.object({
  at: z.iso.datetime().describe('Start of the time step'),
  events: z.int().describe('Ingested events, without duplicates'),
  duplicates: z.int(),
  runs_started: z.int().describe('Runs whose function was called for the first time'),
  runs_completed: z.int(),
  runs_failed: z.int(),
  runs_cancelled: z.int(),
  ack_ms: latencySchema.describe('Time from the receipt of a request on /e/ to its response'),
  start_ms: latencySchema.describe(
    'Time from the receipt of an event, or its `ts` if that is later, to the first call of a run',
  ),
});

export const metricsSchema = apiObject('Metrics', {
  from: z.iso.datetime(),
  to: z.iso.datetime(),
  step_seconds: z.int(),
  points: z.array(pointSchema),
});

export const functionStatsSchema = apiObject('FunctionStats', {
  function_id: z.string(),
  started: z.int(),
  completed: z.int(),
  failed: z.int(),
  cancelled: z.int(),
  last_started_at: timeOrNull.describe('To the second; null: no run started in these hours'),
  hours: z
    .object({ from: z.iso.datetime(), started: z.array(z.int()), failed: z.array(z.int()) })
    .optional()
    .describe('Counts of each hour, oldest first; only with fields=hours'),
});

const routes = routesOf({ tag: 'Overview', scope: 'environment' });

export function metricsRoutes({ metrics }: ApiParts): Route[] {
  return [
    routes.get('/v1/metrics', {
      operationId: 'getMetrics',
      summary: 'Get metrics over time',
      description:
        'Time steps are one minute for ranges of up to 6 hours, 5 minutes for up to a day, and one hour beyond. Counts lag by at most two seconds.',
      query: z.object(timeRange(HOUR_MS)),
      data: metricsSchema,
      async handle({ env, query }) {
        const { from, to } = timeRangeOf(query, HOUR_MS, METRICS_KEPT_MS, Date.now());
        const stepMs = stepOf(to - from);
        const points = await metrics.steps(env, from, to, stepMs);
        return {
          data: { from: iso(from), to: iso(to), step_seconds: stepMs / 1_000, points: points.map(presentPoint) },
        };
      },
    }),
    routes.get('/v1/functions/stats', {
      tag: 'Functions',
      operationId: 'listFunctionStats',
      summary: 'Get run counts by function',
      description: 'Counts every hour that overlaps the time range as a whole. Functions without runs are omitted.',
      query: z.object({
        ...timeRange(DAY_MS),
        fields: fieldsQuery(['hours']).describe('hours: also the counts of each hour'),
        ...longPageQuery(namePosition),
      }),
      data: z.array(functionStatsSchema),
      async handle({ env, query }) {
        const { from, to } = timeRangeOf(query, DAY_MS, METRICS_KEPT_MS, Date.now());
        const counted = await metrics.functions(env, from, to);
        const sorted = counted.sort((a, b) => (a.functionId < b.functionId ? -1 : 1));
        const first = iso(floorTo(from, HOUR_MS));
        const withHours = query.fields.includes('hours');
        const item = (runs: HourlyRuns) =>
          present(functionStatsSchema, runs, {
            hours: withHours ? { from: first, started: runs.startedByHour, failed: runs.failedByHour } : undefined,
          });
        return sortedReply(sorted, 'functionId', query, item);
      },
    }),
  ];
}

function stepOf(rangeMs: number): number {
  if (rangeMs <= 6 * HOUR_MS) return 60_000;
  return rangeMs <= DAY_MS ? 300_000 : HOUR_MS;
}

function presentPoint({ at, counts, histograms }: Point) {
  const latencies = { ack_ms: latency(histograms.ack), start_ms: latency(histograms.start) };
  return present(pointSchema, { at, ...counts }, latencies);
}

function latency(histogram: readonly number[]) {
  const [p50, p95] = [quantile(histogram, 0.5), quantile(histogram, 0.95)];
  return p50 === undefined || p95 === undefined ? null : { p50: rounded(p50), p95: rounded(p95) };
}
