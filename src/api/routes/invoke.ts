/** `POST /v1/functions/:id/invoke`: one function alone, run by hand. */
import { z } from 'zod';
import { NOT_NOW, ServiceError } from '../../errors.ts';
import type { Acceptor } from '../../jobs/ingestion/acceptor.ts';
import type { Backpressure } from '../../jobs/queues/backpressure.ts';
import type { Invocations } from '../../jobs/runs/invocations.ts';
import { eventSchema, rejectDeep } from '../../model/events/event.ts';
import type { Environments } from '../../store/environments/environments.ts';
import { refuseArchived } from '../receive/resolve-environment.ts';
import { type Route, route } from '../rest/route.ts';

export const invokedSchema = z
  .object({
    internal_id: z.string().meta({ description: 'Of the event that it runs on' }),
    run_id: z.string(),
  })
  .meta({ id: 'Invoked' });

export interface InvokeRouteDeps {
  environments: Environments;
  acceptor: Acceptor;
  invocations: Invocations;
  pressure: Backpressure;
  /** Bytes of the largest body with an event. */
  eventLimit: () => number;
}

export function invokeRoutes({ environments, acceptor, invocations, pressure, eventLimit }: InvokeRouteDeps): Route[] {
  return [
    route({
      method: 'post',
      path: '/v1/functions/:id/invoke',
      tag: 'Functions',
      access: 'write',
      about: 'environment',
      summary: 'Invoke a function',
      description:
        'Runs this function alone, on an event of its own named `inngest/function.invoked`, which is stored. A paused function runs too.',
      params: z.object({ id: z.string().meta({ description: "With the app's name before it, as runs show it" }) }),
      body: eventSchema.pick({ data: true, user: true, v: true }),
      eventLimit,
      status: 201,
      data: invokedSchema,
      errors: ['not_found', 'function_archived', 'event_invalid', 'body_too_large', 'environment_archived', ...NOT_NOW],
      async handle({ env, params: { id }, body, requestId }) {
        rejectDeep(body);
        pressure.admit();
        const environment = await environments.seek(env);
        if (environment) refuseArchived(environment);
        const made = await acceptor.safely(() => invocations.byHand(env, id, body, requestId, Date.now()));
        if (!made) throw new ServiceError('not_found', { detail: `no function has the id "${id}"` });
        return { data: { internal_id: made.eventId, run_id: made.runId } };
      },
    }),
  ];
}
