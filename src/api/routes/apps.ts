/** `/v1/apps`: the apps that have registered, and telling the service of one. */
import { z } from 'zod';
import type { Config } from '../../config.ts';
import { ServiceError } from '../../errors.ts';
import type { HttpAgent } from '../../functions/http-agent.ts';
import { requestSync } from '../../functions/sync-request.ts';
import type { AppFunction } from '../../model/apps/app.ts';
import { covers, type Principal } from '../../model/auth/access.ts';
import { THROTTLE_REASONS, type ThrottledApp } from '../../model/capacity/adaptive-limit.ts';
import type { App, Apps } from '../../store/apps/apps.ts';
import type { ExpressionProblems } from '../../store/apps/expression-problems.ts';
import type { Functions } from '../../store/apps/functions.ts';
import type { EnvironmentKinds } from '../../store/environments/environment-kinds.ts';
import type { Processes } from '../../store/telemetry/processes.ts';
import { listReply } from '../rest/list-response.ts';
import { inNames, pageOf, pageQuery } from '../rest/pagination.ts';
import { type Route, route } from '../rest/route.ts';
import { functionSchema, presentFunction } from '../views/function.ts';
import { time } from '../views/time.ts';

const slowedSchema = z
  .object({
    by: z.enum(THROTTLE_REASONS).meta({
      description:
        'overload: it answers 429, 502, 503 or 504, or not at all; errors: it answers other 5xx; latency: it takes much longer than before',
    }),
    since: z.iso.datetime(),
    limit: z.int().meta({ description: 'Its calls in flight at most, in the workers that slow it' }),
    max: z.int().meta({ description: 'The same if it were well' }),
  })
  .meta({ id: 'SlowedApp', description: 'The workers make fewer calls at once, because the app is sick' });

export const appSchema = z
  .object({
    name: z.string(),
    url: z.url(),
    sdk: z.string().nullable().meta({ description: 'Name and version of the library it uses' }),
    framework: z.string().nullable(),
    dialect: z.enum(['service', 'inngest']).meta({ description: 'Prefix of its headers' }),
    registered_at: z.iso.datetime().meta({ description: 'When it last registered' }),
    last_sync: z
      .object({ at: z.iso.datetime(), succeeded: z.boolean(), error: z.string().nullable() })
      .meta({ description: 'The last attempt to register it' }),
    function_count: z.int(),
    slowed: slowedSchema
      .nullable()
      .meta({ description: 'null: as many of its calls are made at once as there is room for' }),
  })
  .meta({ id: 'App' });

export const detailedAppSchema = appSchema
  .extend({ functions: z.array(functionSchema) })
  .meta({ id: 'AppWithFunctions' });

const params = z.object({ name: z.string() });

export interface AppRouteDeps {
  config: Pick<Config, 'quotas'>;
  apps: Apps;
  functions: Functions;
  environmentKinds: EnvironmentKinds;
  expressionProblems: ExpressionProblems;
  processes: Processes;
  outgoing: HttpAgent;
}

export function appRoutes({
  apps,
  functions,
  environmentKinds,
  expressionProblems,
  outgoing,
  processes,
  config,
}: AppRouteDeps): Route[] {
  const tag = 'Apps';

  async function existing(env: string, name: string): Promise<App> {
    const app = await apps.read(env, name);
    if (!app) throw new ServiceError('not_found', { detail: `no app has the name "${name}"` });
    return app;
  }

  async function liveFunctions(env: string): Promise<AppFunction[]> {
    return (await functions.all(env)).functions.filter(({ archived }) => !archived);
  }

  async function slowedIn(env: string): Promise<ThrottledApp[]> {
    const alive = await processes.alive();
    return alive.flatMap(({ slowedApps = [] }) => slowedApps.filter((slowed) => slowed.env === env));
  }

  /** The official Python SDK says 200 also when the service has refused it. */
  async function register(env: string, url: string): Promise<void> {
    const before = new Map((await apps.all(env)).map(({ name, registeredAt }) => [name, registeredAt]));
    const said = await requestSync(url, outgoing.for(await environmentKinds.of(env)));
    const registered = (await apps.all(env)).some(({ name, registeredAt }) => registeredAt !== before.get(name));
    if (registered) return;
    throw new ServiceError('app_unreachable', {
      detail: `PUT ${url}: it answered 200, but has not registered here, in the environment "${env}"; it said: ${said}`,
    });
  }

  return [
    route({
      method: 'get',
      path: '/v1/apps',
      tag,
      access: 'read',
      about: 'environment',
      summary: 'List apps, by name',
      query: z.object(pageQuery(inNames)),
      data: z.array(appSchema),
      errors: [],
      async handle({ env, caller, query }) {
        const { page, next } = pageOf(await apps.all(env), ({ name }) => name, query);
        const [live, slowed] = await Promise.all([liveFunctions(env), slowedIn(env)]);
        return listReply(page, {
          present: (app) => presentApp(app, live, caller, slowed),
          positionOf: ({ name }) => name,
          next,
        });
      },
    }),
    route({
      method: 'get',
      path: '/v1/apps/:name',
      tag,
      access: 'read',
      about: 'environment',
      summary: 'Read an app with its functions',
      params,
      data: detailedAppSchema,
      errors: ['not_found'],
      async handle({ env, caller, params: { name } }) {
        const app = await existing(env, name);
        const own = (await liveFunctions(env)).filter((fn) => fn.app === name);
        const problems = await expressionProblems.of(env, Date.now());
        const shown = own.map((fn) => presentFunction(fn, problems.get(fn.id)));
        return { data: { ...presentApp(app, own, caller, await slowedIn(env)), functions: shown } };
      },
    }),
    route({
      method: 'post',
      path: '/v1/apps',
      tag,
      access: 'write',
      about: 'environment',
      summary: 'Have an app register its functions',
      description: 'Sends PUT to the URL, on which the app registers itself with the service.',
      body: z.object({ url: z.url({ protocol: /^https?$/ }) }),
      data: z.object({ url: z.url() }),
      errors: ['app_unreachable', 'address_blocked'],
      async handle({ env, caller, body: { url } }) {
        try {
          await register(env, url);
        } catch (error) {
          await apps.noteFailure(env, (app) => app.url === url, (error as Error).message, Date.now(), 'asked');
          throw tellable(error, caller);
        }
        return { data: { url } };
      },
    }),
    route({
      method: 'delete',
      path: '/v1/apps/:name',
      tag,
      access: 'write',
      about: 'environment',
      summary: 'Delete an app',
      description:
        'Its functions are archived: no longer triggered, while their runs in flight finish. Registering brings it back.',
      params,
      errors: ['not_found'],
      async handle({ env, params: { name } }) {
        await existing(env, name);
        await functions.replace(env, name, [], config.quotas.functions);
        await apps.remove(env, name);
        return {};
      },
    }),
  ];
}

const NOT_REGISTERED = 'the app did not register; an admin sees the reason';

/** What was found out at a URL tells of the network that the service stands in: admins are told, others that it did not work. */
function tellable(error: unknown, { access }: Principal): unknown {
  const tells = error instanceof ServiceError && (error.code === 'app_unreachable' || error.code === 'address_blocked');
  return tells && !covers(access, 'admin')
    ? new ServiceError('app_unreachable', { detail: NOT_REGISTERED, cause: error })
    : error;
}

function presentApp(app: App, functions: AppFunction[], { access }: Principal, slowed: readonly ThrottledApp[]) {
  const { name, url, sdk, framework, dialect, registeredAt, lastSync } = app;
  const hidden = lastSync.found === 'asked' && !covers(access, 'admin');
  const error = lastSync.error === undefined ? null : hidden ? NOT_REGISTERED : lastSync.error;
  return {
    name,
    url,
    sdk: sdk ?? null,
    framework: framework ?? null,
    dialect,
    registered_at: time(registeredAt),
    last_sync: { at: time(lastSync.at), succeeded: error === null, error },
    function_count: functions.filter((fn) => fn.app === name).length,
    slowed: presentSlowed(slowed.filter(({ app }) => app === name)),
  };
}

/** Of all workers that slow the app: what they make together, and what it was that came first. */
function presentSlowed(slowed: readonly ThrottledApp[]) {
  const [first] = slowed.toSorted((a, b) => a.since - b.since);
  if (!first) return null;
  const sum = (of: (one: ThrottledApp) => number) => slowed.reduce((all, one) => all + of(one), 0);
  return { by: first.by, since: time(first.since), limit: sum(({ limit }) => limit), max: sum(({ max }) => max) };
}
