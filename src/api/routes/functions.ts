/** `/v1/functions`: what is registered, and pausing it. */
import { z } from 'zod';
import { ServiceError } from '../../errors.ts';
import type { ExpressionProblems } from '../../store/apps/expression-problems.ts';
import type { Functions } from '../../store/apps/functions.ts';
import { listReply } from '../rest/list-response.ts';
import { inNames, pageOf, pageQuery } from '../rest/pagination.ts';
import { type Route, route } from '../rest/route.ts';
import {
  detailedFunctionSchema,
  functionSchema,
  listedFunctionSchema,
  presentDetails,
  presentFunction,
} from '../views/function.ts';

const params = z.object({ id: z.string().meta({ description: "With the app's name before it, as runs show it" }) });

interface FunctionRouteDeps {
  functions: Functions;
  expressionProblems: ExpressionProblems;
}

export function functionRoutes({ functions, expressionProblems }: FunctionRouteDeps): Route[] {
  const tag = 'Functions';

  async function existing(env: string, id: string) {
    const fn = await functions.read(env, id);
    if (!fn) throw new ServiceError('not_found', { detail: `no function has the id "${id}"` });
    return [fn, await expressionProblems.read(env, id, Date.now())] as const;
  }

  return [
    route({
      method: 'get',
      path: '/v1/functions',
      tag,
      access: 'read',
      about: 'environment',
      summary: 'List functions, by ID',
      query: z.object({
        app: z.string().optional().meta({ description: 'Name of an app' }),
        archived: z
          .enum(['true', 'false'])
          .default('false')
          .meta({ description: 'true: those that are gone from their apps instead' }),
        ...pageQuery(inNames),
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
      about: 'environment',
      summary: 'Read a function with its configuration',
      params,
      data: detailedFunctionSchema,
      errors: ['not_found'],
      async handle({ env, params: { id } }) {
        return { data: presentDetails(...(await existing(env, id))) };
      },
    }),
    route({
      method: 'post',
      path: '/v1/functions/:id/pause',
      tag,
      access: 'write',
      about: 'environment',
      summary: 'Pause a function',
      description:
        'Events no longer trigger it, and are not made up for later. Runs in flight finish; runs that another function invokes, or ' +
        'that somebody does again, are made. It stays paused when its app registers anew.',
      params,
      data: functionSchema,
      errors: ['not_found'],
      async handle({ env, params: { id } }) {
        await existing(env, id);
        await functions.pause(env, id, Date.now());
        return { data: presentFunction(...(await existing(env, id))) };
      },
    }),
    route({
      method: 'post',
      path: '/v1/functions/:id/resume',
      tag,
      access: 'write',
      about: 'environment',
      summary: 'Resume a paused function',
      description: 'Events that come from now on trigger it.',
      params,
      data: functionSchema,
      errors: ['not_found'],
      async handle({ env, params: { id } }) {
        await existing(env, id);
        await functions.resume(env, id);
        return { data: presentFunction(...(await existing(env, id))) };
      },
    }),
  ];
}
