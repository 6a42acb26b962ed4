/** `/v1/functions/:id/metrics`: the runs and steps of a function over time. */

import { z } from 'zod';
import { type Durations, EXACT_BELOW, percentiles, type RecentDuration } from '../../model/capacity/percentiles.ts';
import { addTo } from '../../model/values/counting.ts';
import { DAY_MS, iso } from '../../model/values/time.ts';
import { OTHER_STEPS } from '../../store/telemetry/function-buffer.ts';
import {
  FUNCTION_SERIES_KEPT_MS,
  type FunctionPoint,
  type StepSeries,
  timeStepOf,
} from '../../store/telemetry/function-series.ts';
import { existingFunction } from '../apps/existing.ts';
import { apiObject, textOrNull } from '../http/validation.ts';
import type { ApiParts } from '../parts.ts';
import { rounded, timeRange, timeRangeOf } from '../rest/metrics-range.ts';
import { type Route, routesOf } from '../rest/route.ts';
import { deploySchema, presentDeploy } from '../views/deploy.ts';

const durationSchema = z
  .object({ p50: z.number(), p95: z.number(), p99: z.number() })
  .nullable()
  .describe(`Milliseconds: exact below ${EXACT_BELOW} values, otherwise accurate to 10 %; null: nothing ended`);

const pointSchema = z.object({
  at: z.iso.datetime().describe('Start of the time step'),
  started: z.int().describe('Runs whose function was called for the first time'),
  completed: z.int(),
  failed: z.int(),
  cancelled: z.int(),
  attempts_failed: z.int().describe('Failed attempts, including retried attempts'),
  duration_ms: durationSchema.describe('Time from start to end of the runs that completed or failed'),
});

const stepSchema = z.object({
  name: textOrNull.describe(
    "The first 100 characters of the step's name; null: all steps beyond the first 50 names of a day",
  ),
  count: z.int().describe('How often the step ended; each attempt counts'),
  failed: z.int(),
  duration_ms: durationSchema,
  series: z
    .array(z.object({ at: z.iso.datetime(), count: z.int(), failed: z.int(), duration_ms: durationSchema }))
    .optional()
    .describe('Only for the step given by the parameter `step`; time steps in which it did not end are absent'),
});

export const functionMetricsSchema = apiObject('FunctionMetrics', {
  from: z.iso.datetime(),
  to: z.iso.datetime(),
  step_seconds: z.int(),
  points: z.array(pointSchema),
  total: pointSchema.omit({ at: true }),
  series_seconds: z.int().describe('Length of a time step in the `series` of steps'),
  steps: z.array(stepSchema).describe('Most frequent first, without sleeps'),
  deploys: z.array(deploySchema).describe("Deploys of the function's app in the time range, newest first"),
});

const routes = routesOf({ tag: 'Functions', scope: 'environment' });

export function functionMetricsRoutes({ functions, functionSeries, recentDurations, deploys }: ApiParts): Route[] {
  return [
    routes.get('/v1/functions/:id/metrics', {
      operationId: 'getFunctionMetrics',
      summary: 'Get the runs and steps of a function over time',
      description:
        'Time steps are one minute for ranges of up to 6 hours, 5 minutes for up to a day, and one hour beyond. Counts lag by at most seven ' +
        'seconds.',
      query: z.object({
        ...timeRange(DAY_MS),
        step: z.string().max(100).optional().describe('Name of the step for which to return a `series`'),
      }),
      data: functionMetricsSchema,
      async handle({ env, params: { id }, query: { step, ...range } }) {
        const fn = await existingFunction(functions, env, id);
        const now = Date.now();
        const { from, to } = timeRangeOf(range, DAY_MS, FUNCTION_SERIES_KEPT_MS, now);
        const stepMs = timeStepOf(from, to, now);
        const [points, steps, all] = await Promise.all([
          functionSeries.runs(env, id, from, to, stepMs),
          functionSeries.steps(env, id, from, to, stepMs),
          deploys.list(env, fn.app),
        ]);
        const [ofRuns = [], ...ofSteps] = await recentDurations.read(env, id, [
          undefined,
          ...steps.map(({ name }) => name),
        ]);
        const seriesMs = Math.max(stepMs, 300_000);
        const presented = steps.map((series, i) => {
          return presentStep(series, { recent: ofSteps[i] ?? [], stepMs: seriesMs }, series.name === step);
        });
        const measured = { recent: ofRuns, stepMs };
        return {
          data: {
            from: iso(from),
            to: iso(to),
            step_seconds: stepMs / 1_000,
            points: points.map((point) => ({ at: iso(point.at), ...presentRuns([point], measured) })),
            total: presentRuns(points, measured),
            series_seconds: seriesMs / 1_000,
            steps: presented.sort((a, b) => +(a.name === null) - +(b.name === null) || b.count - a.count),
            deploys: all.filter(({ at }) => at >= from && at < to).map(presentDeploy),
          },
        };
      },
    }),
  ];
}

function presentRuns(points: readonly FunctionPoint[], measured: Measured) {
  const sum = (of: keyof FunctionPoint['counts']) => points.reduce((all, { counts }) => all + counts[of], 0);
  return {
    started: sum('started'),
    completed: sum('completed'),
    failed: sum('failed'),
    cancelled: sum('cancelled'),
    attempts_failed: sum('attemptsFailed'),
    duration_ms: durationsOf(points, measured),
  };
}

function presentStep({ name, points }: StepSeries, measured: Measured, hasSeries: boolean) {
  return {
    name: name === OTHER_STEPS ? null : name,
    ...presentCounts(points, measured),
    ...(hasSeries && { series: points.map((point) => ({ at: iso(point.at), ...presentCounts([point], measured) })) }),
  };
}

function presentCounts(points: StepSeries['points'], measured: Measured) {
  const count = points.reduce(
    (all, { durations }) => all + [...durations.values()].reduce((sum, count) => sum + count, 0),
    0,
  );
  const failed = points.reduce((all, point) => all + point.failed, 0);
  return { count, failed, duration_ms: durationsOf(points, measured) };
}

interface Measured {
  recent: readonly RecentDuration[];
  /** Duration of a time step. */
  stepMs: number;
}

function durationsOf(points: readonly { at: number; durations: Durations }[], { recent, stepMs }: Measured) {
  const all: Durations = new Map();
  for (const { durations } of points) for (const [bucket, count] of durations) addTo(all, bucket, count);
  const since = points[0]?.at ?? 0;
  const found = percentiles(all, recent, since, (points.at(-1)?.at ?? 0) + stepMs);
  if (!found) return null;
  const [p50, p95, p99] = found.map(rounded);
  return { p50, p95, p99 };
}
