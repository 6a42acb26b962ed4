/** `/v1/held-registrations`: registrations that wait for a confirmation (docs/security.md#addresses-of-apps). */
import { z } from 'zod';
import { ServiceError } from '../../errors.ts';
import type { HeldRegistration } from '../../model/apps/held-registration.ts';
import { describe } from '../../model/values/json.ts';
import { ORIGINS_MAX, originPatternsSchema } from '../../origin-patterns.ts';
import { HELD_PER_APP_MAX, heldOfAll } from '../../store/apps/held-registrations.ts';
import type { ApiParts } from '../parts.ts';
import { countedReply, countPosition, longPageQuery } from '../rest/lists.ts';
import { type Route, routesOf } from '../rest/route.ts';
import { heldRegistrationSchema, presentHeld } from '../views/held-registration.ts';
import { presentSync, SYNC_ERRORS, syncResultSchema, withoutDetails } from '../views/sync-result.ts';

const routes = routesOf({ tag: 'Apps', scope: 'environment' });

export function heldRegistrationRoutes(deps: ApiParts): Route[] {
  const { apps, allowedOrigins, heldRegistrations, appSync } = deps;
  const params = z.object({ id: z.string().max(64) });

  async function existing(env: string, id: string): Promise<HeldRegistration> {
    const held = await heldRegistrations.find(env, id, Date.now());
    if (!held) throw new ServiceError('not_found', { detail: `no registration waits with the ID ${describe(id)}` });
    return held;
  }

  return [
    routes.get('/v1/held-registrations', {
      operationId: 'listHeldRegistrations',
      summary: 'List registrations that wait for a confirmation',
      description: `Newest first. If an app registers by itself at an origin that is not allowed, its present URL remains in use and the registration waits. At most ${HELD_PER_APP_MAX} registrations per app wait, for 7 days; further registrations are rejected and counted.`,
      query: z.object(longPageQuery(countPosition)),
      data: z.array(heldRegistrationSchema),
      async handle({ env, query }) {
        const [byApp, all] = await Promise.all([heldRegistrations.byApp(env, Date.now()), apps.all(env)]);
        const urls = new Map(all.map(({ name, url }) => [name, url]));
        return countedReply(heldOfAll(byApp), query, (registration) =>
          presentHeld(registration, {
            presentUrl: urls.get(registration.app),
            refused: byApp.get(registration.app)?.refused,
          }),
        );
      },
    }),
    routes.post('/v1/held-registrations/:id/confirm', {
      operationId: 'confirmRegistration',
      summary: 'Confirm a registration',
      description:
        'Asks the app at the URL to register, as `POST /v1/apps` does, and from then on allows its `origins`, and no others.',
      params,
      body: z.object({
        allow: originPatternsSchema
          .default([])
          .describe(`Allowed origins to add, such as \`proposed_pattern\`. At most ${ORIGINS_MAX}`),
      }),
      data: syncResultSchema,
      errors: ['not_found', ...SYNC_ERRORS],
      async handle({ env, principal, params: { id }, body: { allow } }) {
        const { app, url, origins } = await existing(env, id);
        // Includes the origins of the functions that the app registers meanwhile.
        const endRequest = await allowedOrigins.startRequest(env, { urls: origins, app }, Date.now());
        try {
          // Only this app is confirmed, even if another app responds at the URL.
          const result = await appSync.register(env, url, { kind: 'request', name: principal.name }, app);
          await allowedOrigins.add(env, app, allow);
          for (const origin of [url, ...origins]) await allowedOrigins.addGiven(env, app, origin);
          await heldRegistrations.release(env, app, (held) => held.id === id);
          return { data: presentSync(url, result) };
        } catch (error) {
          throw withoutDetails(error, principal);
        } finally {
          await endRequest();
        }
      },
    }),
    routes.delete('/v1/held-registrations/:id', {
      operationId: 'rejectRegistration',
      summary: 'Reject a registration',
      description:
        'Deletes the registration; the present URL of the app remains in use. If the app registers at the same URL again, the registration waits again.',
      params,
      async handle({ env, params: { id } }) {
        const { app } = await existing(env, id);
        await heldRegistrations.release(env, app, (held) => held.id === id);
        return {};
      },
    }),
  ];
}
