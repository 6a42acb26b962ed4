/** Invokes functions under the URLs that users of the official SDKs know (docs/rest.md). */
import { z } from 'zod';
import { eventSchema } from '../../model/events/event.ts';
import { sentEventSchema } from '../../model/events/sent-event.ts';
import type { ApiParts } from '../parts.ts';
import { type Route, routesOf } from '../rest/route.ts';
import { INVOKE_ERRORS, invoke, invokedSchema } from '../routes/invoke.ts';

const keySchema = z.string().min(1).max(256).optional();
const payloadSchema = sentEventSchema.pick({ data: true, user: true, v: true });

const routes = routesOf({ tag: 'Functions', scope: 'environment', forApps: true });

export function officialInvokeRoutes(deps: ApiParts): Route[] {
  const common = {
    operationId: 'invokeOfficially',
    summary: 'Invoke a function',
    eventLimit: (env: string) => deps.eventLimits.of(env),
    errors: [...INVOKE_ERRORS],
  } satisfies Partial<Route>;

  /** The composite ID, which some clients already send. */
  async function compositeId(env: string, app: string, id: string): Promise<string> {
    const own = (await deps.functionTables.of(env)).find(id);
    return own?.app === app ? id : `${app}-${id}`;
  }

  const byApp = (path: `/${string}/:app/functions/:id/invoke`) =>
    routes.post(path, {
      ...common,
      body: payloadSchema.extend({
        data: eventSchema.shape.data,
        idempotencyKey: keySchema,
        idempotency_key: keySchema,
      }),
      data: z.object({ runId: z.string() }),
      // For a key that an earlier version claimed.
      errors: [...INVOKE_ERRORS, 'archive_unavailable'],
      async handle({ env, params: { app, id }, body, requestId }) {
        const { idempotencyKey, idempotency_key, ...payload } = body;
        const functionId = await compositeId(env, app, id);
        const { runId, repeat } = await invoke(deps, {
          env,
          functionId,
          payload,
          requestId,
          idempotencyKey: idempotencyKey ?? idempotency_key,
        });
        const metadata = { fetchedAt: new Date().toISOString() };
        return { data: { runId }, metadata, ...(repeat && { status: 409 }) };
      },
    });

  return [
    routes.post('/invoke/:id', {
      ...common,
      body: payloadSchema.partial({ data: true }),
      data: invokedSchema,
      async handle({ env, params: { id }, body: { data = {}, ...rest }, requestId }) {
        const payload = { data, ...rest };
        const { eventId, runId } = await invoke(deps, { env, functionId: id, payload, requestId });
        return { data: { internal_id: eventId, run_id: runId }, beside: { id: eventId, status: 200 } };
      },
    }),
    byApp('/v2/apps/:app/functions/:id/invoke'),
    byApp('/api/v2/apps/:app/functions/:id/invoke'),
  ];
}
