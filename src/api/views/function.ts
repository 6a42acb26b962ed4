/** The API's representation of a function. */
import { z } from 'zod';
import { type AppFunction, onExhaustedOf, type Trigger } from '../../model/apps/app.ts';
import { functionProblems } from '../../model/apps/function-problems.ts';
import { ON_EXHAUSTED } from '../../model/runs/pause.ts';
import type { Run } from '../../model/runs/run.ts';
import { RUN_STATUSES } from '../../model/runs/run-status.ts';
import { nextRunAt } from '../../model/schedules/schedules.ts';
import { nextTicks, timeZoneOf } from '../../model/schedules/ticks.ts';
import { type KnownProblem, PROBLEM_REASONS } from '../../store/apps/expression-problems.ts';
import type { MissedTicks } from '../../store/apps/missed-ticks.ts';
import { apiObject, textOrNull, time, timeOrNull, wholeOrNull } from '../http/validation.ts';
import { omittedField } from './incomplete.ts';

/** Maximum characters of a description in responses; the configuration has the whole text. */
const DESCRIPTION_LENGTH = 1_000;
const GROUP_LENGTH = 100;

const triggerSchema = apiObject('Trigger', {
  event: z.string().optional(),
  webhook: z.string().optional().describe('ID of a webhook: all events of its requests'),
  expression: z.string().optional(),
  cron: z.string().optional().describe('A schedule, with its time zone'),
  jitter: z.string().optional().describe('Maximum random delay of a run after the time of its schedule'),
  catchUp: z
    .enum(['last', 'all'])
    .optional()
    .describe('For a schedule: whether all missed ticks run late, or only the last one (default)'),
});

const detailedTriggerSchema = triggerSchema
  .extend({
    next_run_at: timeOrNull
      .optional()
      .describe('For a schedule: the time of its next run, without jitter; null: the function is paused or archived'),
    next_ticks: z
      .array(z.iso.datetime())
      .optional()
      .describe('For a schedule: its next ticks, at most 5; empty: the function is paused or archived'),
    time_zone: textOrNull.optional().describe('For a schedule: its time zone; null: the schedule is an interval'),
    last_tick: z
      .object({
        at: z.iso.datetime(),
        run: z
          .object({ run_id: z.string(), status: z.enum(RUN_STATUSES) })
          .nullable()
          .describe(
            'null: the tick started no run, for example because the function was paused, or the run is no longer stored',
          ),
      })
      .nullable()
      .optional()
      .describe('For a schedule: its last tick'),
    missed_ticks: z
      .array(
        z.object({
          first: z.iso.datetime(),
          last: z.iso.datetime(),
          count: wholeOrNull.describe('null: more than 1,000'),
        }),
      )
      .optional()
      .describe(
        'For a schedule: ranges of consecutive ticks, `first` to `last`, that started no run because no worker was running. The last 10 ranges of the ' +
          'function, newest first',
      ),
  })
  .meta({ id: 'TriggerWithNextRun' });

const problemSchema = apiObject('ExpressionProblem', {
  reason: z
    .enum(PROBLEM_REASONS)
    .describe(
      'too_costly: evaluating the expression exceeded its cost limit; quarantined: this happened too often, or the environment has used up its ' +
        'share, so the limit is lower for a while; refused: this version of the service rejects the expression',
    ),
  message: z.string(),
  expression: z.string().describe('The first 500 characters'),
  at: z.iso.datetime(),
  events: z
    .int()
    .describe('Number of events for which the expression was not evaluated; they triggered no run and ended no wait'),
});

export const functionSettingsSchema = z.strictObject({
  on_exhausted: z.enum(ON_EXHAUSTED).nullable().describe('null: as the app says; if it says nothing, runs fail'),
});

export const functionSchema = apiObject('Function', {
  id: z.string(),
  name: z.string(),
  description: textOrNull.describe('The description that the app registered; null: none'),
  group: textOrNull.describe('The group in which the app lists the function; null: none'),
  app: z.string(),
  destination: textOrNull.describe('Name of the destination that it is; null: an app has registered it'),
  triggers: z.array(triggerSchema),
  retries: z.int().describe('Attempts after the first'),
  on_exhausted: z.enum(ON_EXHAUSTED).describe('Whether a run without an attempt left fails or pauses'),
  settings: functionSettingsSchema.describe('Settings that were made here; they override the registration'),
  paused_at: timeOrNull.describe('null: not paused'),
  queued_runs: z
    .enum(['run', 'hold'])
    .nullable()
    .describe(
      'What queued runs do while the function is paused: start, or wait until it is resumed; null: the function is not paused',
    ),
  expression_problem: problemSchema
    .nullable()
    .describe('The latest problem of the last day that kept an expression from being evaluated; null: none'),
  problems: z
    .array(z.string())
    .describe('Parts of the configuration that do not work, such as an invalid expression; empty: everything works'),
  archived: z.boolean().describe('true: the app no longer registers the function, and events do not trigger it'),
});

export const listedFunctionSchema = functionSchema
  .extend({ triggers: z.array(triggerSchema).optional(), ...omittedField })
  .meta({ id: 'ListedFunction' });

export const detailedFunctionSchema = functionSchema
  .extend({
    triggers: z.array(detailedTriggerSchema),
    url: z.string().describe('The URL at which the service calls the function'),
    cancel: z
      .array(z.object({ event: z.string(), expression: z.string().optional(), timeout: z.string().optional() }))
      .describe('Events that cancel runs of the function'),
    configuration: z.record(z.string(), z.unknown()).describe('The configuration as registered by the app'),
  })
  .meta({ id: 'FunctionWithConfiguration' });

export function presentFunction(fn: AppFunction, problem: KnownProblem | undefined) {
  const { id, name, app, triggers, retries, pausedAt, held, archived, config } = fn;
  return {
    id,
    name,
    description: textOf(config.description, DESCRIPTION_LENGTH),
    group: textOf(config.group, GROUP_LENGTH),
    app,
    destination: fn.destination ? name : null,
    triggers,
    retries,
    on_exhausted: onExhaustedOf(fn),
    settings: { on_exhausted: fn.settings?.onExhausted ?? null },
    paused_at: time(pausedAt),
    queued_runs: pausedAt === undefined ? null : held ? ('hold' as const) : ('run' as const),
    expression_problem: problem ? { ...problem, at: time(problem.at) as string } : null,
    problems: functionProblems(fn),
    archived,
  };
}

/** Apps may register anything under these names, and earlier versions stored it unchecked. */
function textOf(value: unknown, maxLength: number): string | null {
  return typeof value === 'string' && value !== '' ? value.slice(0, maxLength).toWellFormed() : null;
}

const TICKS_SHOWN = 5;

/** The last tick of a schedule, and the run that it started. */
export interface LastTick {
  at: number;
  run: Run | undefined;
}

/** @param lastTicks by cron text
 *  @param nowMs undefined: the environment is archived, so no schedule ticks */
export function presentDetails(
  fn: AppFunction,
  problem: KnownProblem | undefined,
  lastTicks: ReadonlyMap<string, LastTick>,
  missedTicks: readonly MissedTicks[],
  nowMs: number | undefined,
) {
  const triggers = fn.triggers.map((trigger) => {
    const { cron } = trigger;
    if (cron === undefined) return trigger;
    const missed = missedTicks.filter((ticks) => ticks.cron === cron).map(presentMissed);
    return { ...trigger, ...presentSchedule(fn, trigger, cron, lastTicks.get(cron), nowMs), missed_ticks: missed };
  });
  return { ...presentFunction(fn, problem), triggers, url: fn.url, cancel: fn.cancel, configuration: fn.config };
}

function presentMissed({ first, last, count }: MissedTicks) {
  return { first: time(first) as string, last: time(last) as string, count: count ?? null };
}

function presentSchedule(
  fn: AppFunction,
  trigger: Trigger,
  cron: string,
  last: LastTick | undefined,
  nowMs: number | undefined,
) {
  const next = nowMs === undefined ? undefined : nextRunAt(fn, trigger, nowMs);
  // The next run is at the earliest tick; a schedule that is not in force has no next run.
  const ticks = next === undefined || nowMs === undefined ? [] : nextTicks(cron, nowMs, TICKS_SHOWN);
  return {
    next_run_at: time(next),
    next_ticks: ticks.map((at) => time(at) as string),
    time_zone: timeZoneOf(cron) ?? null,
    last_tick: last
      ? { at: time(last.at) as string, run: last.run ? { run_id: last.run.id, status: last.run.status } : null }
      : null,
  };
}
