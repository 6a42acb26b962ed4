/** The API's representation of error groups. */
import { z } from 'zod';
import type { Deploy } from '../../model/apps/deploy.ts';
import { countWithin, ERROR_GROUP_STATES, type ErrorGroup, HOURS_KEPT } from '../../model/errors/error-group.ts';
import { HOUR_MS } from '../../model/values/time.ts';
import { apiObject, principal, textOrNull, time } from '../http/validation.ts';
import { present } from './present.ts';

const HOURS_MAX = 28;

export const errorGroupSchema = apiObject('ErrorGroup', {
  fingerprint: z.string().describe('Derived from function, failed step, error name, message and own frame'),
  function_id: z.string(),
  function_name: z.string(),
  step: textOrNull.describe('Name of the step that failed; null: the function itself failed'),
  name: z.string().describe('Name of the last error'),
  message: z.string().describe('The beginning of the message of the last error'),
  state: z
    .enum(ERROR_GROUP_STATES)
    .describe('The next failure reopens a resolved group; an ignored one stays as it is, and has no alerts'),
  count: z
    .int()
    .describe('Failed runs in the hours that overlap the time range; without a time range, since `first_seen`'),
  first_seen: z.iso.datetime(),
  last_seen: z.iso.datetime(),
  opened_at: z.iso.datetime().describe('The first failure since the group was opened or reopened'),
  times_reopened: z.int().describe('How often a failure reopened the group'),
  state_changed_at: z.iso.datetime(),
  state_changed_by: principal
    .nullable()
    .describe('The user who last changed the state; null: a failure opened the group'),
  alert_channels: z
    .array(z.string())
    .nullable()
    .describe('Names of the alert channels that hear of each failure; null: those of the rule `new_error`'),
  sample_run_ids: z.array(z.string()).describe('The last failed runs, newest first; at most 10'),
  app: textOrNull.describe('The app of the function; null: the function is no longer known'),
  newer_deploy: z
    .object({ id: z.string(), at: z.iso.datetime() })
    .nullable()
    .describe('The last deploy that changed the app after `last_seen`; null: none. Re-runs have its code'),
  since_deploy: z
    .object({ id: z.string(), at: z.iso.datetime() })
    .nullable()
    .describe(
      'The last deploy before `opened_at` that changed the app; null: none is known. A failure long after the deploy may have another cause',
    ),
  histogram: z
    .object({ from: z.iso.datetime(), step_seconds: z.int(), counts: z.array(z.int()) })
    .describe('Failed runs over the time range, by default the last 7 days; at most 28 time steps'),
});

export const detailedErrorGroupSchema = errorGroupSchema
  .extend({
    users: z
      .object({
        count: z.int().describe('Approximate, with a standard error of 0.8%'),
        runs: z
          .int()
          .describe(
            'The failed runs, of those since `first_seen`, whose event named a user. Fewer than `count` of the group: the others name nobody, their event was gone, or an earlier version counted them',
          ),
      })
      .describe(
        'Different users of the events of all failed runs: the ID of the `user` of an event, or its first value',
      ),
  })
  .meta({ id: 'DetailedErrorGroup' });

export interface ErrorTimes {
  /** Unix milliseconds; undefined: since the group was first seen. */
  from: number | undefined;
  to: number;
}

export function presentErrorGroup(
  group: ErrorGroup,
  { name, app }: { name: string; app: string | undefined },
  { since, newer }: Record<'since' | 'newer', Pick<Deploy, 'id' | 'at'> | undefined>,
  times: ErrorTimes,
) {
  const { from, to } = times;
  return present(
    errorGroupSchema,
    { ...group, functionName: name, app, timesReopened: group.reopened, sinceDeploy: since, newerDeploy: newer },
    {
      count: from === undefined ? group.count : countWithin(group, from, to),
      sample_run_ids: group.samples.map(({ runId }) => runId),
      histogram: histogramOf(group, times),
    },
  );
}

/** Whole hours are counted. */
function histogramOf(group: ErrorGroup, { from, to }: ErrorTimes) {
  const end = Math.ceil(to / HOUR_MS);
  const start = Math.max(Math.floor((from ?? 0) / HOUR_MS), end - HOURS_KEPT);
  const stepHours = Math.max(1, Math.ceil((end - start) / HOURS_MAX));
  const steps = Math.max(1, Math.ceil((end - start) / stepHours));
  const first = end - steps * stepHours;
  const counts = Array.from({ length: steps }, (_, i) => {
    const at = first + i * stepHours;
    return countWithin(group, at * HOUR_MS, (at + stepHours) * HOUR_MS);
  });
  return { from: time(first * HOUR_MS) as string, step_seconds: (stepHours * HOUR_MS) / 1_000, counts };
}
