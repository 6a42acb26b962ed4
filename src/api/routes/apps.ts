/** `/v1/apps`: the apps that have registered, and telling the service of one. */
import type { Dispatcher } from 'undici';
import { z } from 'zod';
import { ServiceError } from '../../errors.ts';
import { askToRegister } from '../../functions/introduction.ts';
import type { AppFunction } from '../../model/app.ts';
import type { App, Apps } from '../../store/apps.ts';
import type { Functions } from '../../store/functions.ts';
import { inNames, pageOf, pageQuery } from '../cursor.ts';
import { type Route, route } from '../route.ts';
import { functionSchema, presentFunction } from '../views/function.ts';
import { time } from '../views/time.ts';

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
  })
  .meta({ id: 'App' });

export const detailedAppSchema = appSchema
  .extend({ functions: z.array(functionSchema) })
  .meta({ id: 'AppWithFunctions' });

const params = z.object({ name: z.string() });

export interface AppRouteDeps {
  apps: Apps;
  functions: Functions;
  /** By which apps are asked to register. */
  outgoing: Dispatcher;
}

export function appRoutes({ apps, functions, outgoing }: AppRouteDeps): Route[] {
  const tag = 'Apps';

  async function existing(env: string, name: string): Promise<App> {
    const app = await apps.read(env, name);
    if (!app) throw new ServiceError('not_found', { detail: `no app has the name "${name}"` });
    return app;
  }

  async function liveFunctions(env: string): Promise<AppFunction[]> {
    return (await functions.all(env)).functions.filter(({ archived }) => !archived);
  }

  /** The official Python SDK says 200 also when the service has refused it. */
  async function register(env: string, url: string): Promise<void> {
    const before = new Map((await apps.all(env)).map(({ name, registeredAt }) => [name, registeredAt]));
    const said = await askToRegister(url, outgoing);
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
      async handle({ env, query }) {
        const { page, metadata } = pageOf(await apps.all(env), ({ name }) => name, query);
        const live = await liveFunctions(env);
        return { data: page.map((app) => presentApp(app, live)), metadata };
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
      async handle({ env, params: { name } }) {
        const app = await existing(env, name);
        const own = (await liveFunctions(env)).filter((fn) => fn.app === name);
        return { data: { ...presentApp(app, own), functions: own.map(presentFunction) } };
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
      async handle({ env, body: { url } }) {
        try {
          await register(env, url);
        } catch (error) {
          await apps.noteFailure(env, (app) => app.url === url, (error as Error).message, Date.now());
          throw error;
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
        await functions.replace(env, name, []);
        await apps.remove(env, name);
        return {};
      },
    }),
  ];
}

function presentApp({ name, url, sdk, framework, dialect, registeredAt, lastSync }: App, functions: AppFunction[]) {
  return {
    name,
    url,
    sdk: sdk ?? null,
    framework: framework ?? null,
    dialect,
    registered_at: time(registeredAt),
    last_sync: { at: time(lastSync.at), succeeded: lastSync.error === undefined, error: lastSync.error ?? null },
    function_count: functions.filter((fn) => fn.app === name).length,
  };
}
