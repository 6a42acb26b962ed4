/** `/v1/cancellations`: cancels many runs of a function. */
import { z } from 'zod';
import { invalidField, orNotFound, ServiceError } from '../../errors.ts';
import { compileProblem } from '../../model/expressions/expression.ts';
import { newId } from '../../model/ids.ts';
import { type Cancellation, digestOf } from '../../model/runs/cancellation.ts';
import { DAY_MS } from '../../model/values/time.ts';
import { uuidOf } from '../../model/values/uuid.ts';
import { apiObject, textOrNull, timeOrNull, timestampSchema } from '../http/validation.ts';
import type { ApiParts } from '../parts.ts';
import { listReply, longPageQuery, namePosition, pageOfNewest } from '../rest/lists.ts';
import { type Route, routesOf } from '../rest/route.ts';
import { present } from '../views/present.ts';

const FUTURE_MAX_MS = 366 * DAY_MS;

const cancellationSchema = apiObject('Cancellation', {
  id: z.string(),
  app_id: z.string(),
  function_id: z.string(),
  function_internal_id: z.string().describe('A UUID that stands for the function'),
  environment_id: z.string().describe('A UUID that stands for the environment'),
  started_after: timeOrNull,
  started_before: z.iso.datetime(),
  if: textOrNull,
  queued_only: z.boolean().describe('true: cancels the queued runs of a function that was paused'),
  created_at: z.iso.datetime(),
  done_at: timeOrNull.describe('null: the cancellation is in progress'),
  cancelled_runs: z.int(),
});

const routes = routesOf({ tag: 'Runs', scope: 'environment', forApps: true });

export function cancellationRoutes({ cancellations, functionTables }: ApiParts): Route[] {
  /** Accepts the ID as in the app's code, or with the app's name as prefix. */
  async function functionOf(env: string, app: string, id: string) {
    const table = await functionTables.of(env);
    const fn = [table.find(id), table.find(`${app}-${id}`)].find((candidate) => candidate?.app === app);
    if (fn) return fn;
    throw new ServiceError('not_found', { detail: `the app "${app}" has no function with the ID "${id}"` });
  }

  async function existing(env: string, id: string): Promise<Cancellation> {
    return orNotFound(await cancellations.read(env, id), 'cancellation', id);
  }

  return [
    routes.post('/v1/cancellations', {
      operationId: 'createCancellation',
      summary: 'Cancel many runs',
      description:
        'Cancels the active runs of a function that were queued in a time range, in the background. If the range ends in the future, ' +
        'runs queued until then are cancelled too. Repeating the request while the cancellation is in progress returns the same cancellation.',
      body: z.object({
        app_id: z.string().max(128).describe('Name of the app'),
        function_id: z.string().max(512).describe("The function's ID, with or without the app's name as prefix"),
        started_after: timestampSchema.nullish().describe('Inclusive'),
        started_before: timestampSchema.describe('Exclusive; at most a year ahead'),
        if: z.string().max(4_096).nullish().describe('CEL over `event`, the event that triggered the run'),
      }),
      data: cancellationSchema,
      errors: ['not_found', 'quota_exceeded'],
      async handle({ env, body: { app_id, function_id, started_after, started_before, if: expression } }) {
        const fn = await functionOf(env, app_id, function_id);
        const now = Date.now();
        if (started_before > now + FUTURE_MAX_MS) throw invalidField('started_before', 'more than a year ahead');
        if (started_after && started_after >= started_before)
          throw invalidField('started_after', 'not before started_before');
        const problem = expression && compileProblem(expression);
        if (problem) throw invalidField('if', problem);
        const definition = {
          id: newId(now),
          app: app_id,
          functionId: fn.id,
          ...(started_after && { after: started_after }),
          before: started_before,
          ...(expression && { expression }),
          createdAt: now,
        };
        const id = await cancellations.add(env, definition, { position: null, digest: digestOf(definition) });
        return { data: presentCancellation(await existing(env, id)) };
      },
    }),
    routes.get('/v1/cancellations', {
      operationId: 'listCancellations',
      summary: 'List cancellations',
      description:
        'Newest first. Cancellations that are done are kept for at least `RETENTION_DAYS`; at most 1,000 in total.',
      query: z.object(longPageQuery(namePosition)),
      data: z.array(cancellationSchema),
      async handle({ env, query }) {
        const { page, next } = pageOfNewest(await cancellations.list(env), ({ id }) => id, query);
        return listReply(page, { present: presentCancellation, positionOf: ({ id }) => id, next });
      },
    }),
    routes.delete('/v1/cancellations/:id', {
      operationId: 'deleteCancellation',
      summary: 'Delete a cancellation',
      description: 'Deleting a cancellation in progress stops it: no further runs are cancelled.',
      data: cancellationSchema,
      async handle({ env, params: { id } }) {
        const cancellation = await existing(env, id);
        await cancellations.remove(cancellation);
        return { data: presentCancellation(cancellation) };
      },
    }),
  ];
}

function presentCancellation({ env, id, definition, counts, doneAt }: Cancellation) {
  const {
    app: appId,
    functionId,
    after: startedAfter,
    before: startedBefore,
    expression,
    queuedOnly = false,
  } = definition;
  return present(
    cancellationSchema,
    { ...definition, id, appId, startedAfter, startedBefore, if: expression, queuedOnly, doneAt },
    {
      function_internal_id: uuidOf(`${env}\n${functionId}`),
      environment_id: uuidOf(env),
      cancelled_runs: counts.cancelled ?? 0,
    },
  );
}
