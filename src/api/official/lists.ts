/** Lists under the URLs that users of the official SDKs know (docs/rest.md). */
import { z } from 'zod';
import { orNotFound, ServiceError } from '../../errors.ts';
import { hasEnded } from '../../model/runs/run.ts';
import { time } from '../http/validation.ts';
import type { ApiParts } from '../parts.ts';
import { namePosition, pageQuery, sortedReply } from '../rest/lists.ts';
import { type Route, routesOf } from '../rest/route.ts';
import { listedFunctionSchema, presentFunction } from '../views/function.ts';

const jobSchema = z.object({
  at: z.iso.datetime().nullable(),
  position: z.int(),
  attempt: z.int(),
});

const routes = routesOf({ tag: 'Runs', scope: 'environment', forApps: true });

export function officialListRoutes({ runs, steps, retries, apps, functions }: ApiParts): Route[] {
  return [
    routes.get('/v1/runs/:id/jobs', {
      operationId: 'listRunJobs',
      summary: 'List what a run will do next',
      data: z.array(jobSchema),
      async handle({ env, params: { id } }) {
        const run = orNotFound(await runs.read(env, id), 'run', id);
        if (hasEnded(run)) return { data: [] };
        const progress = await steps.progress(env, id);
        const retryAt = await retries.nextAttemptAt(run, progress);
        const dueAt = [...progress.pending.values()].flatMap(({ until }) => until ?? []);
        const times = [...dueAt, ...(retryAt === undefined ? [] : [retryAt])].sort((a, b) => a - b);
        return { data: times.map((at, position) => ({ at: time(at), position, attempt: run.attempt })) };
      },
    }),
    routes.get('/v1/apps/:name/functions', {
      tag: 'Apps',
      operationId: 'listAppFunctions',
      summary: 'List the functions of an app',
      query: z.object(pageQuery(namePosition)),
      data: z.array(listedFunctionSchema),
      async handle({ env, params: { name }, query }) {
        if (!(await apps.read(env, name))) {
          throw new ServiceError('not_found', { detail: `there is no app with the name "${name}"` });
        }
        const own = (await functions.all(env)).functions.filter((fn) => fn.app === name && !fn.archived);
        const sorted = own.sort((a, b) => (a.id < b.id ? -1 : 1));
        return sortedReply(sorted, 'id', query, (fn) => presentFunction(fn, undefined), ['triggers']);
      },
    }),
  ];
}
