/** `/v1/functions`: lists, pauses, resumes and configures registered functions. */

import { setTimeout } from 'node:timers/promises';
import { z } from 'zod';
import { RECENT_MS } from '../../jobs/functions/function-tables.ts';
import type { AppFunction } from '../../model/apps/app.ts';
import { newId } from '../../model/ids.ts';
import { allSchedulesOf } from '../../model/schedules/schedules.ts';
import { existingFunction } from '../apps/existing.ts';
import type { ApiParts } from '../parts.ts';
import { lastTicksOf } from '../rest/last-ticks.ts';
import { namePosition, pageQuery, sortedReply } from '../rest/lists.ts';
import { type Route, routesOf } from '../rest/route.ts';
import {
  detailedFunctionSchema,
  functionSchema,
  functionSettingsSchema,
  listedFunctionSchema,
  presentDetails,
  presentFunction,
} from '../views/function.ts';
import { functionLimitsSchema, presentFunctionLimits } from '../views/limits.ts';

const params = z.object({
  id: z.string().describe("The function's ID with the app's name as prefix, as in `function_id` of runs"),
});

/** Time for calls of runs that have just started to reach their app, after a pause that holds queued runs is stored. */
const MARGIN_MS = 100;

export const pauseSchema = z
  .strictObject({
    queued_runs: z
      .enum(['run', 'hold', 'cancel'])
      .optional()
      .describe(
        'run (default): queued runs start as usual; hold: they start when the function is resumed, and the response takes a second longer, until every worker knows; cancel: they are cancelled in the ' +
          'background, as `GET /v1/cancellations` shows. Default for a paused function: unchanged',
      ),
  })
  .default({});

const routes = routesOf({ tag: 'Functions', scope: 'environment' });

export function pausingOf(deps: ApiParts) {
  const { functions, cancellations, admission, heldFunctions, schedules } = deps;

  /** A held function has a limit of 0, so waiting calls now wait for another limit. The new limit is recorded before
   *  the change, too, in case this process dies. */
  async function changing(env: string, functionId: string, change: () => Promise<void>): Promise<void> {
    await admission.noteChange(env, [functionId]);
    await change();
    await heldFunctions.follow(env, functionId, await functions.read(env, functionId));
    await admission.noteChange(env, [functionId]);
  }

  async function cancelQueued(env: string, app: string, functionId: string): Promise<void> {
    const now = Date.now();
    const definition = { id: newId(now), app, functionId, before: now + 1, queuedOnly: true, createdAt: now } as const;
    await cancellations.add(env, definition, { position: null });
  }

  async function followSchedules(env: string, fn: AppFunction) {
    const own = allSchedulesOf(env, fn);
    if (own.length > 0) await schedules.follow(env, own);
  }

  return {
    async pause(env: string, fn: AppFunction, queuedRuns: z.output<typeof pauseSchema>['queued_runs']): Promise<void> {
      await changing(env, fn.id, () => functions.pause(env, fn.id, Date.now(), queuedRuns));
      await followSchedules(env, fn);
      if (queuedRuns === 'hold') await setTimeout(RECENT_MS + MARGIN_MS);
      if (queuedRuns === 'cancel') await cancelQueued(env, fn.app, fn.id);
    },
    async resume(env: string, fn: AppFunction): Promise<void> {
      await changing(env, fn.id, () => functions.resume(env, fn.id));
      await followSchedules(env, fn);
    },
  };
}

export function functionRoutes(deps: ApiParts): Route[] {
  const { functions, environments, limitStatuses, expressionProblems, missedTicks } = deps;
  const { pause, resume } = pausingOf(deps);

  async function existing(env: string, id: string) {
    const fn = await existingFunction(functions, env, id);
    return [fn, await expressionProblems.read(env, id, Date.now())] as const;
  }

  return [
    routes.get('/v1/functions', {
      forApps: true,
      operationId: 'listFunctions',
      summary: 'List functions',
      description: 'Sorted by ID.',
      query: z.object({
        app: z.string().optional().describe('Name of an app'),
        archived: z
          .enum(['true', 'false'])
          .default('false')
          .describe('true: only archived functions, which their apps no longer register'),
        ...pageQuery(namePosition),
      }),
      data: z.array(listedFunctionSchema),
      async handle({ env, query: { app, archived, ...at } }) {
        const all = (await functions.all(env)).functions
          .filter((fn) => fn.archived === (archived === 'true') && (app === undefined || fn.app === app))
          .sort((a, b) => (a.id < b.id ? -1 : 1));
        const problems = await expressionProblems.of(env, Date.now());
        const item = (fn: AppFunction) => presentFunction(fn, problems.get(fn.id));
        return sortedReply(all, 'id', at, item, ['triggers']);
      },
    }),
    routes.get('/v1/functions/:id', {
      forApps: true,
      operationId: 'getFunction',
      summary: 'Get a function with its configuration',
      params,
      data: detailedFunctionSchema,
      async handle({ env, params: { id } }) {
        const [fn, problem] = await existing(env, id);
        const isLive = environments.find(env)?.archivedAt === undefined;
        const now = Date.now();
        const lastTicks = await lastTicksOf(env, fn, deps, now);
        const missed = await missedTicks.of(env, id);
        return { data: presentDetails(fn, problem, lastTicks, missed, isLive ? now : undefined) };
      },
    }),
    routes.get('/v1/functions/:id/limits', {
      operationId: 'getFunctionLimits',
      summary: "Get the usage of a function's limits",
      description:
        "Current usage of the function's concurrency limits and throttle, and the keys for which most calls wait.",
      params,
      data: functionLimitsSchema,
      async handle({ env, params: { id } }) {
        const [fn] = await existing(env, id);
        return { data: presentFunctionLimits(await limitStatuses.ofFunction(env, fn)) };
      },
    }),
    routes.patch('/v1/functions/:id', {
      operationId: 'changeFunction',
      summary: 'Change the settings of a function',
      description:
        'They go before what the app registers, and stay when it registers again. They concern calls that begin a second later, also those of runs that have started.',
      params,
      body: functionSettingsSchema.partial(),
      data: functionSchema,
      async handle({ env, params: { id }, body: { on_exhausted } }) {
        const [fn] = await existing(env, id);
        const { onExhausted: _, ...others } = fn.settings ?? {};
        if (on_exhausted !== undefined) {
          await functions.set(env, id, { ...others, ...(on_exhausted && { onExhausted: on_exhausted }) });
        }
        return { data: presentFunction(...(await existing(env, id))) };
      },
    }),
    routes.post('/v1/functions/:id/pause', {
      operationId: 'pauseFunction',
      summary: 'Pause a function',
      description:
        'While the function is paused, events and schedules start no runs, and nothing is caught up later. Runs that have started finish; invocations by other functions and re-runs ' +
        'still create new runs. `queued_runs` decides about runs that have not started. The function stays paused when its app ' +
        'registers again. To change `queued_runs`, pause the function again.',
      params,
      body: pauseSchema,
      data: functionSchema,
      errors: ['not_found', 'quota_exceeded'],
      async handle({ env, params: { id }, body: { queued_runs } }) {
        const [fn] = await existing(env, id);
        await pause(env, fn, queued_runs);
        return { data: presentFunction(...(await existing(env, id))) };
      },
    }),
    routes.post('/v1/functions/:id/resume', {
      operationId: 'resumeFunction',
      summary: 'Resume a paused function',
      description:
        'From now on, events that are received and ticks of schedules trigger the function. Runs that were held start in the order ' +
        'in which they were queued.',
      params,
      data: functionSchema,
      async handle({ env, params: { id } }) {
        const [fn] = await existing(env, id);
        await resume(env, fn);
        return { data: presentFunction(...(await existing(env, id))) };
      },
    }),
  ];
}
