/** `/v1/apps`: lists and deletes registered apps, and asks an app to register. */
import { z } from 'zod';
import type { AppFunction } from '../../model/apps/app.ts';
import type { HeldRegistration } from '../../model/apps/held-registration.ts';
import { ACTIVATIONS, VERSIONINGS, type VersionChoices } from '../../model/apps/versions.ts';
import { covers, type Principal } from '../../model/auth/access.ts';
import { THROTTLE_REASONS, type ThrottledApp } from '../../model/capacity/adaptive-limit.ts';
import { schedulesOf } from '../../model/schedules/schedules.ts';
import { iso } from '../../model/values/time.ts';
import type { App, SyncFailure, SyncFinder } from '../../store/apps/apps.ts';
import { existingApp } from '../apps/existing.ts';
import { apiObject, textOrNull } from '../http/validation.ts';
import type { ApiParts } from '../parts.ts';
import { namePosition, pageQuery, sortedReply } from '../rest/lists.ts';
import { type Route, routesOf } from '../rest/route.ts';
import { presentSyncOrigin, syncOriginSchema } from '../views/deploy.ts';
import { functionSchema, presentFunction } from '../views/function.ts';
import { present } from '../views/present.ts';
import {
  NOT_REGISTERED,
  presentSync,
  SYNC_ERRORS,
  syncResultSchema,
  unsupportedSchema,
  withoutDetails,
} from '../views/sync-result.ts';

const throttledAppSchema = z
  .object({
    by: z
      .enum(THROTTLE_REASONS)
      .describe(
        'overload: the app responds with 429, 502, 503 or 504, or not at all; errors: it responds with another 5xx; latency: it responds much more slowly than before',
      ),
    since: z.iso.datetime(),
    limit: z.int().describe('Most concurrent calls to the app, summed over the workers that throttle it'),
    max: z.int().describe('The limit without throttling'),
  })
  .meta({ id: 'ThrottledApp', description: 'Workers make fewer concurrent calls because the app is unhealthy' });

export const appSchema = apiObject('App', {
  name: z.string(),
  url: z.url(),
  sdk: textOrNull.describe('Name and version of its SDK'),
  framework: textOrNull,
  dialect: z.enum(['service', 'inngest']).describe('The header dialect that the app uses'),
  registered_at: z.iso.datetime().describe('When the app last registered'),
  last_sync: z
    .object({
      at: z.iso.datetime(),
      succeeded: z.boolean(),
      error: textOrNull,
      by: syncOriginSchema.nullable().describe('null: the app registered before the service recorded this'),
    })
    .describe('The last attempt to register the app'),
  last_failed_sync: z
    .object({ at: z.iso.datetime(), error: z.string(), by: syncOriginSchema.nullable() })
    .nullable()
    .describe('The last failed attempt, even if later attempts succeeded; null: no attempt failed'),
  deploy_id: textOrNull.describe('The build of the app; null: its SDK does not report one'),
  versioning: z
    .enum(VERSIONINGS)
    .nullable()
    .describe('As set by `PATCH /v1/apps/:name`, for functions that do not say; null: not set, as latest'),
  activation: z
    .enum(ACTIVATIONS)
    .nullable()
    .describe(
      'As set by `PATCH /v1/apps/:name`, of a version that registers for the first time; null: not set, as automatic',
    ),
  function_count: z.int(),
  allowed_origins: z
    .array(z.string())
    .describe(
      'Origins at which the app may register by itself and endpoints are called; set by `PUT /v1/allowed-origins/:app`',
    ),
  held_registrations: z
    .int()
    .describe('Registrations of the app that wait for a confirmation; `GET /v1/held-registrations`'),
  declined_url: z
    .url()
    .nullable()
    .describe(
      'Another URL, which the last registration gave. The app still responds at `url`, so that remains in use; `POST /v1/apps` moves the app. null: there is no other URL',
    ),
  unsupported_count: z
    .int()
    .describe('Number of fields of the last registration that the service ignores; `GET /v1/apps/:name` lists them'),
  slowed: throttledAppSchema.nullable().describe('null: calls are not throttled'),
});

export const detailedAppSchema = appSchema
  .extend({
    functions: z.array(functionSchema),
    unsupported: unsupportedSchema,
    refused_functions: z
      .array(z.object({ id: textOrNull, problem: z.string() }))
      .describe(
        'Functions of the last registration that were rejected. An earlier registration of such a function stays in effect',
      ),
  })
  .meta({ id: 'AppWithFunctions' });

const routes = routesOf({ tag: 'Apps', scope: 'environment' });

export function appRoutes(deps: ApiParts): Route[] {
  const {
    dev,
    apps,
    appVersions,
    appChanges,
    activation,
    allowedOrigins,
    heldRegistrations,
    functions,
    schedules,
    expressionProblems,
    appSync,
    processes,
    quotas,
  } = deps;

  async function liveFunctions(env: string): Promise<AppFunction[]> {
    return (await functions.all(env)).functions.filter(({ archived }) => !archived);
  }

  async function throttledIn(env: string): Promise<ThrottledApp[]> {
    const alive = await processes.alive();
    return alive.flatMap(({ slowedApps = [] }) => slowedApps.filter((app) => app.env === env));
  }

  async function decisionsOfPeople(env: string): Promise<DecisionsOfPeople> {
    const [allowed, held, choices] = await Promise.all([
      allowedOrigins.all(env),
      heldRegistrations.all(env, Date.now()),
      appVersions.allChoices(env),
    ]);
    return { allowed, held, choices };
  }

  return [
    routes.get('/v1/apps', {
      operationId: 'listApps',
      summary: 'List apps',
      description: 'Sorted by name.',
      query: z.object(pageQuery(namePosition)),
      data: z.array(appSchema),
      async handle({ env, principal, query }) {
        const all = await apps.all(env);
        const [live, throttled, origins] = await Promise.all([
          liveFunctions(env),
          throttledIn(env),
          decisionsOfPeople(env),
        ]);
        const item = (app: App) => presentApp(app, live, principal, throttled, origins);
        return sortedReply(all, 'name', query, item);
      },
    }),
    routes.get('/v1/apps/:name', {
      operationId: 'getApp',
      summary: 'Get an app with its functions',
      data: detailedAppSchema,
      async handle({ env, principal, params: { name } }) {
        const app = await existingApp(apps, env, name);
        const own = (await liveFunctions(env)).filter((fn) => fn.app === name);
        const problems = await expressionProblems.of(env, Date.now());
        const shown = own.map((fn) => presentFunction(fn, problems.get(fn.id)));
        return {
          data: {
            ...presentApp(app, own, principal, await throttledIn(env), await decisionsOfPeople(env)),
            functions: shown,
            refused_functions: app.refused ?? [],
            unsupported: app.unsupported?.fields ?? [],
          },
        };
      },
    }),
    routes.post('/v1/apps', {
      operationId: 'registerApp',
      summary: 'Ask an app to register',
      description:
        'Sends PUT to the URL, signed in production; the app registers its functions in the response or by a request of its own.',
      body: z.object({ url: z.url({ protocol: /^https?$/ }) }),
      data: syncResultSchema,
      errors: [...SYNC_ERRORS],
      async handle({ env, principal, body: { url } }) {
        try {
          const result = await appSync.register(env, url, { kind: 'request', name: principal.name });
          if (!dev) await allowedOrigins.addGiven(env, result.app, url);
          return { data: presentSync(url, result) };
        } catch (error) {
          throw withoutDetails(error, principal);
        }
      },
    }),
    routes.patch('/v1/apps/:name', {
      operationId: 'updateApp',
      summary: 'Change an app',
      description: 'Sets what the SDK of the app cannot set.',
      body: z.object({
        versioning: z
          .enum(VERSIONINGS)
          .nullable()
          .optional()
          .describe(
            'Of functions that do not say: pinned: new runs end on the version of the app on which they begin; latest, as null: they continue with the active one. Runs that exist stay as they are',
          ),
        activation: z
          .enum(ACTIVATIONS)
          .nullable()
          .optional()
          .describe(
            'Of a version that registers for the first time: automatic, as null: it becomes active; manual: it waits for `POST /v1/apps/:name/versions/:version/activate`',
          ),
      }),
      data: appSchema,
      async handle({ env, principal, params: { name }, body }) {
        await activation.set(env, name, {
          ...('versioning' in body && { versioning: body.versioning ?? undefined }),
          ...('activation' in body && { activation: body.activation ?? undefined }),
        });
        const app = await existingApp(apps, env, name);
        return {
          data: presentApp(
            app,
            await liveFunctions(env),
            principal,
            await throttledIn(env),
            await decisionsOfPeople(env),
          ),
        };
      },
    }),
    routes.delete('/v1/apps/:name', {
      operationId: 'deleteApp',
      summary: 'Delete an app',
      description:
        'Archives its functions: events no longer trigger them, and active runs finish. The app and its functions return when it registers again.',
      async handle({ env, params: { name } }) {
        await appChanges.inTurn(env, name, async () => {
          const { previous } = await functions.replaceForApp(env, name, [], quotas.functions);
          // Endpoints of a host have no app.
          if (previous.every(({ archived }) => archived)) await existingApp(apps, env, name);
          const gone = previous.flatMap((fn) => schedulesOf(env, fn));
          if (gone.length > 0) await schedules.follow(env, gone);
          await apps.remove(env, name);
          await Promise.all([
            appVersions.removeUnused(env, name),
            allowedOrigins.set(env, name, []),
            heldRegistrations.release(env, name),
          ]);
        });
        return {};
      },
    }),
  ];
}

interface DecisionsOfPeople {
  allowed: ReadonlyMap<string, string[]>;
  held: readonly HeldRegistration[];
  choices: ReadonlyMap<string, VersionChoices>;
}

function presentApp(
  app: App,
  functions: AppFunction[],
  { access }: Principal,
  throttled: readonly ThrottledApp[],
  { allowed, held, choices }: DecisionsOfPeople,
) {
  const { name, lastSync, lastFailure, unsupported } = app;
  const shown = (error: string, found?: SyncFinder) =>
    found === 'asked' && !covers(access, 'admin') ? NOT_REGISTERED : error;
  const error = lastSync.error === undefined ? null : shown(lastSync.error, lastSync.found);
  const byOf = ({ by }: Pick<SyncFailure, 'by'>) => (by ? presentSyncOrigin(by) : null);
  return present(appSchema, app, {
    last_sync: { at: iso(lastSync.at), succeeded: error === null, error, by: byOf(lastSync) },
    last_failed_sync: lastFailure
      ? { at: iso(lastFailure.at), error: shown(lastFailure.error, lastFailure.found), by: byOf(lastFailure) }
      : null,
    versioning: choices.get(name)?.versioning ?? null,
    activation: choices.get(name)?.activation ?? null,
    function_count: functions.filter((fn) => fn.app === name).length,
    allowed_origins: allowed.get(name) ?? [],
    held_registrations: held.filter((registration) => registration.app === name).length,
    unsupported_count: unsupported?.count ?? 0,
    slowed: presentThrottling(throttled.filter(({ app }) => app === name)),
  });
}

/** Sums the limits of all workers that throttle the app; the reason is that of the first worker. */
function presentThrottling(throttled: readonly ThrottledApp[]) {
  const [first] = throttled.toSorted((a, b) => a.since - b.since);
  if (!first) return null;
  const sum = (of: (app: ThrottledApp) => number) => throttled.reduce((all, app) => all + of(app), 0);
  return { by: first.by, since: iso(first.since), limit: sum(({ limit }) => limit), max: sum(({ max }) => max) };
}
