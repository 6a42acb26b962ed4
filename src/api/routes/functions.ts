/** `/v1/functions`: lists, pauses and resumes registered functions. */
import { z } from 'zod';
import { ServiceError } from '../../errors.ts';
import type { Schedules } from '../../jobs/timers/schedules.ts';
import type { AppFunction } from '../../model/apps/app.ts';
import { allSchedulesOf } from '../../model/schedules/schedules.ts';
import type { ExpressionProblems } from '../../store/apps/expression-problems.ts';
import type { Functions } from '../../store/apps/functions.ts';
import type { Environments } from '../../store/environments/environments.ts';
import { namePosition, pageOf, pageQuery } from '../rest/list-query.ts';
import { listReply } from '../rest/list-response.ts';
import { type Route, route } from '../rest/route.ts';
import {
  detailedFunctionSchema,
  functionSchema,
  listedFunctionSchema,
  presentDetails,
  presentFunction,
} from '../views/function.ts';

const params = z.object({
  id: z.string().meta({ description: "The function's ID with the app's name as prefix, as in `function_id` of runs" }),
});

interface FunctionRouteDeps {
  functions: Functions;
  expressionProblems: ExpressionProblems;
  schedules: Pick<Schedules, 'follow'>;
  environments: Pick<Environments, 'find'>;
}

export function functionRoutes(deps: FunctionRouteDeps): Route[] {
  const { functions, expressionProblems, schedules, environments } = deps;
  const tag = 'Functions';

  async function existing(env: string, id: string) {
    const fn = await functions.read(env, id);
    if (!fn) throw new ServiceError('not_found', { detail: `there is no function with the ID "${id}"` });
    return [fn, await expressionProblems.read(env, id, Date.now())] as const;
  }

  async function followSchedules(env: string, fn: AppFunction) {
    const own = allSchedulesOf(env, fn);
    if (own.length > 0) await schedules.follow(env, own);
  }

  return [
    route({
      method: 'get',
      path: '/v1/functions',
      tag,
      access: 'read',
      scope: 'environment',
      forApps: true,
      summary: 'List functions',
      description: 'Sorted by ID.',
      query: z.object({
        app: z.string().optional().meta({ description: 'Name of an app' }),
        archived: z
          .enum(['true', 'false'])
          .default('false')
          .meta({ description: 'true: only archived functions, which their apps no longer register' }),
        ...pageQuery(namePosition),
      }),
      data: z.array(listedFunctionSchema),
      errors: [],
      async handle({ env, query: { app, archived, ...at } }) {
        const all = (await functions.all(env)).functions
          .filter((fn) => fn.archived === (archived === 'true') && (app === undefined || fn.app === app))
          .sort((a, b) => (a.id < b.id ? -1 : 1));
        const { page, next } = pageOf(all, ({ id }) => id, at);
        const problems = await expressionProblems.of(env, Date.now());
        return listReply(page, {
          present: (fn) => presentFunction(fn, problems.get(fn.id)),
          positionOf: ({ id }) => id,
          next,
          omittable: ['triggers'],
        });
      },
    }),
    route({
      method: 'get',
      path: '/v1/functions/:id',
      tag,
      access: 'read',
      scope: 'environment',
      forApps: true,
      summary: 'Get a function with its configuration',
      params,
      data: detailedFunctionSchema,
      errors: ['not_found'],
      async handle({ env, params: { id } }) {
        const [fn, problem] = await existing(env, id);
        const isLive = environments.find(env)?.archivedAt === undefined;
        return { data: presentDetails(fn, problem, isLive ? Date.now() : undefined) };
      },
    }),
    route({
      method: 'post',
      path: '/v1/functions/:id/pause',
      tag,
      access: 'write',
      scope: 'environment',
      summary: 'Pause a function',
      description:
        'Neither events nor schedules start the function, also not later. Active runs finish; invocations by other functions and re-runs still start ' +
        'new runs. The function stays paused when its app registers again.',
      params,
      data: functionSchema,
      errors: ['not_found'],
      async handle({ env, params: { id } }) {
        const [fn] = await existing(env, id);
        await functions.pause(env, id, Date.now());
        await followSchedules(env, fn);
        return { data: presentFunction(...(await existing(env, id))) };
      },
    }),
    route({
      method: 'post',
      path: '/v1/functions/:id/resume',
      tag,
      access: 'write',
      scope: 'environment',
      summary: 'Resume a paused function',
      description: 'Events received from now on trigger the function, and schedules from their next tick on.',
      params,
      data: functionSchema,
      errors: ['not_found'],
      async handle({ env, params: { id } }) {
        const [fn] = await existing(env, id);
        await functions.resume(env, id);
        await followSchedules(env, fn);
        return { data: presentFunction(...(await existing(env, id))) };
      },
    }),
  ];
}
