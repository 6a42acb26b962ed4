/** `POST /v1/functions/:id/invoke`: runs one function by hand. */
import { z } from 'zod';
import { BACKPRESSURE_ERRORS, type ErrorCode, orNotFound } from '../../errors.ts';
import type { ApiInvocation, Invoked } from '../../jobs/runs/steps/invocations.ts';
import { SKIPPED_INVOCATION_ERRORS } from '../../jobs/runs/steps/skipped-invocation.ts';
import { rejectDeep, sentEventSchema } from '../../model/events/sent-event.ts';
import { apiObject } from '../http/validation.ts';
import type { ApiParts } from '../parts.ts';
import { rejectArchived } from '../receive/resolve-environment.ts';
import { type Route, routesOf } from '../rest/route.ts';

export const invokedSchema = apiObject('Invoked', {
  internal_id: z.string().describe("Internal ID of the run's event"),
  run_id: z.string(),
});

/** Errors of every route that invokes a function. */
export const INVOKE_ERRORS = [
  'not_found',
  'function_archived',
  'event_invalid',
  'body_too_large',
  'environment_archived',
  ...SKIPPED_INVOCATION_ERRORS,
  ...BACKPRESSURE_ERRORS,
] as const satisfies ErrorCode[];

/** @throws ServiceError of INVOKE_ERRORS; with an idempotency key archive_unavailable */
export async function invoke(
  { environments, acceptor, invocations, backpressure }: ApiParts,
  invocation: Omit<ApiInvocation, 'nowMs'>,
): Promise<Invoked> {
  const { env, functionId, payload } = invocation;
  rejectDeep(payload);
  backpressure.admit();
  const environment = await environments.findOrFetch(env);
  if (environment) rejectArchived(environment);
  const invoked = await acceptor.writeDurably(() => invocations.invokeFromApi({ ...invocation, nowMs: Date.now() }));
  return orNotFound(invoked, 'function', functionId);
}

const routes = routesOf({ tag: 'Functions', scope: 'environment' });

export function invokeRoutes(deps: ApiParts): Route[] {
  return [
    routes.post('/v1/functions/:id/invoke', {
      forApps: true,
      operationId: 'invokeFunction',
      summary: 'Invoke a function',
      description:
        'Runs only this function, on a new event named `inngest/function.invoked`, which is stored. Works for paused functions too.',
      params: z.object({
        id: z.string().describe("The function's ID with the app's name as prefix, as in `function_id` of runs"),
      }),
      body: sentEventSchema.pick({ data: true, user: true, v: true }),
      eventLimit: (env) => deps.eventLimits.of(env),
      status: 201,
      data: invokedSchema,
      errors: [...INVOKE_ERRORS],
      async handle({ env, params: { id }, body, requestId }) {
        const { eventId, runId } = await invoke(deps, { env, functionId: id, payload: body, requestId });
        return { data: { internal_id: eventId, run_id: runId } };
      },
    }),
  ];
}
