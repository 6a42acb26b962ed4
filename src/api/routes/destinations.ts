/** `/v1/destinations`: URLs that get events or webhook requests, without an app (docs/destinations.md). */

import { z } from 'zod';
import { invalidField } from '../../errors.ts';
import { destinationId } from '../../model/apps/destination.ts';
import { newSigningSecret } from '../../model/auth/secret.ts';
import { BRANCHES } from '../../model/environment.ts';
import { sentEventSchema } from '../../model/events/sent-event.ts';
import { describe } from '../../model/values/json.ts';
import { keepOldSeconds } from '../http/validation.ts';
import type { ApiParts } from '../parts.ts';
import { namePosition, pageQuery, sortedReply } from '../rest/lists.ts';
import { type Route, routesOf } from '../rest/route.ts';
import { destinationSchema, destinationWithSecretSchema, presentDestination } from '../views/destination.ts';
import {
  type DestinationInput,
  destinationFields,
  destinationUrlSchema,
  withInput,
} from '../views/destination-input.ts';
import { nameSchema } from '../views/name.ts';
import { pauseSchema, pausingOf } from './functions.ts';
import { INVOKE_ERRORS, invoke, invokedSchema } from './invoke.ts';

/** Maximum number of secrets: a destination has two during a rotation. */
const SECRETS_MAX = 2;

const routes = routesOf({ tag: 'Destinations', scope: 'environment' });

export function destinationRoutes(deps: ApiParts): Route[] {
  const { config, destinations, environments, webhooks, quotas } = deps;
  const { pause, resume } = pausingOf(deps);

  function contextOf(env: string, name: string) {
    return {
      limits: config.functionLimits,
      nowMs: Date.now(),
      sealHeaders: (headers: Record<string, string>) => destinations.sealHeaders(env, destinationId(name), headers),
    };
  }

  /** @throws ServiceError input_invalid for a webhook without events in this environment */
  async function checkWebhook(env: string, id: string | null | undefined): Promise<void> {
    if (!id) return;
    const webhook = await webhooks.read(id);
    const owner = environments.find(env)?.kind === 'branch' ? BRANCHES : env;
    if (webhook?.env === owner) return;
    throw invalidField(
      'webhook',
      `got ${describe(id)}; expected the ID of a webhook whose events this environment gets`,
    );
  }

  function newSecretFor(env: string, name: string) {
    const secret = newSigningSecret();
    return { secret, sealed: destinations.seal(env, destinationId(name), secret) };
  }

  async function shown(env: string, name: string) {
    return { data: presentDestination(await destinations.read(env, name), Date.now()) };
  }

  return [
    routes.post('/v1/destinations', {
      operationId: 'createDestination',
      summary: 'Create a destination',
      body: z.object({ name: nameSchema, url: destinationUrlSchema, ...destinationFields }),
      status: 201,
      data: destinationWithSecretSchema,
      errors: ['input_invalid', 'destination_exists', 'quota_exceeded'],
      async handle({ env, body: { name, ...input } }) {
        await checkWebhook(env, input.webhook);
        const fn = withInput({ name }, input as DestinationInput, contextOf(env, name));
        const { secret, sealed } = newSecretFor(env, name);
        const created = { ...fn, destination: { ...fn.destination, secrets: [sealed] } };
        await destinations.create(env, created, quotas.destinations);
        return { data: { ...presentDestination(created, Date.now()), secret } };
      },
    }),
    routes.get('/v1/destinations', {
      operationId: 'listDestinations',
      summary: 'List destinations',
      description: 'Sorted by name.',
      query: z.object(pageQuery(namePosition)),
      data: z.array(destinationSchema),
      async handle({ env, query }) {
        const now = Date.now();
        return sortedReply(await destinations.all(env), 'name', query, (fn) => presentDestination(fn, now));
      },
    }),
    routes.get('/v1/destinations/:name', {
      operationId: 'getDestination',
      summary: 'Get a destination',
      data: destinationSchema,
      handle: ({ env, params: { name } }) => shown(env, name),
    }),
    routes.patch('/v1/destinations/:name', {
      operationId: 'updateDestination',
      summary: 'Change a destination',
      description:
        'Omitted fields stay unchanged; null sets the default. Requests that begin a second later are as changed, also those of runs that exist.',
      body: z.object({ url: destinationUrlSchema.optional(), ...destinationFields }),
      data: destinationSchema,
      errors: ['not_found', 'input_invalid'],
      async handle({ env, params: { name }, body }) {
        await checkWebhook(env, body.webhook);
        const context = contextOf(env, name);
        await destinations.change(env, name, (before) => {
          const changed = withInput(before, body as DestinationInput, context);
          return { ...changed, destination: { ...changed.destination, secrets: before.destination.secrets } };
        });
        return shown(env, name);
      },
    }),
    routes.delete('/v1/destinations/:name', {
      operationId: 'deleteDestination',
      summary: 'Delete a destination',
      description:
        'Events no longer trigger it. Its active runs finish; to cancel those that are queued, pause it first.',
      async handle({ env, params: { name } }) {
        await destinations.remove(env, name);
        return {};
      },
    }),
    routes.post('/v1/destinations/:name/pause', {
      operationId: 'pauseDestination',
      summary: 'Pause a destination',
      description:
        'Events that are received meanwhile start no runs. With `queued_runs: hold`, queued runs wait until it is resumed.',
      body: pauseSchema,
      data: destinationSchema,
      errors: ['not_found', 'quota_exceeded'],
      async handle({ env, params: { name }, body: { queued_runs } }) {
        await pause(env, await destinations.read(env, name), queued_runs);
        return shown(env, name);
      },
    }),
    routes.post('/v1/destinations/:name/resume', {
      operationId: 'resumeDestination',
      summary: 'Resume a paused destination',
      data: destinationSchema,
      async handle({ env, params: { name } }) {
        await resume(env, await destinations.read(env, name));
        return shown(env, name);
      },
    }),
    routes.post('/v1/destinations/:name/rotate-secret', {
      operationId: 'rotateDestinationSecret',
      summary: 'Rotate the signing secret of a destination',
      description:
        'Requests are signed with the new secret at once, and also with the previous one for the given time.',
      body: z.object({
        keep_old_seconds: keepOldSeconds.describe('0: the previous secret becomes invalid at once'),
      }),
      data: destinationWithSecretSchema,
      async handle({ env, params: { name }, body: { keep_old_seconds } }) {
        const now = Date.now();
        const until = now + keep_old_seconds * 1_000;
        const { secret, sealed } = newSecretFor(env, name);
        const changed = await destinations.change(env, name, ({ destination, ...fn }) => {
          const kept = destination.secrets
            .map((old) => ({ ...old, until: Math.min(old.until ?? until, until) }))
            .filter((old) => old.until > now);
          return { ...fn, destination: { ...destination, secrets: [sealed, ...kept].slice(0, SECRETS_MAX) } };
        });
        return { data: { ...presentDestination(changed, now), secret } };
      },
    }),
    routes.post('/v1/destinations/:name/test', {
      operationId: 'testDestination',
      summary: 'Send a test to a destination',
      description:
        'Starts a run of this destination on a new event named `inngest/function.invoked` with the given data, whatever its filter. With `body: request`, the data is the body. The run shows the response.',
      body: sentEventSchema.pick({ data: true }),
      eventLimit: (env) => deps.eventLimits.of(env),
      status: 201,
      data: invokedSchema,
      errors: [...INVOKE_ERRORS],
      async handle({ env, params: { name }, body, requestId }) {
        const { id: functionId } = await destinations.read(env, name);
        const { eventId, runId } = await invoke(deps, { env, functionId, payload: body, requestId });
        return { data: { internal_id: eventId, run_id: runId } };
      },
    }),
  ];
}
