/** `/v1/apps/:name/versions`: the versions of an app, and which one new runs start on (docs/change-code-safely.md). */
import { z } from 'zod';
import { ServiceError } from '../../errors.ts';
import { isConnected } from '../../model/apps/connection.ts';
import { type AppVersion, stateOf, VERSION_STATES } from '../../model/apps/versions.ts';
import { apiObject } from '../http/validation.ts';
import type { ApiParts } from '../parts.ts';
import { countPosition, longPageQuery } from '../rest/list-query.ts';
import { countedReply } from '../rest/list-response.ts';
import { type Route, routesOf } from '../rest/route.ts';
import { time } from '../views/time.ts';

export const versionSchema = apiObject('AppVersion', {
  version: z.string().describe('As the app names its build: `deployId` or `appVersion`'),
  state: z
    .enum(VERSION_STATES)
    .describe(
      'active: new runs start on the version; draining: only runs that are pinned to it call it; drained: nothing calls it, so it is safe to stop',
    ),
  url: z.string(),
  sdk: z.string().nullable(),
  function_count: z.int(),
  active_runs: z.int().describe('Active runs that are pinned to it'),
  oldest_run_at: z.iso.datetime().nullable().describe('When the oldest of them was created; null: there is none'),
  connections: z.int().nullable().describe('Live connections of this version; null: the app does not connect'),
  registered_at: z.iso.datetime().describe('When it first registered'),
  last_registered_at: z.iso.datetime(),
  active_at: z.iso.datetime().nullable().describe('When it last became active; null: never'),
});

const routes = routesOf({ tag: 'Apps', scope: 'environment' });

export function appVersionRoutes({ apps, appVersions, connections, registrar }: ApiParts): Route[] {
  async function list(env: string, name: string) {
    const app = await apps.read(env, name);
    if (!app) throw new ServiceError('not_found', { detail: `there is no app named "${name}"` });
    const versions = await appVersions.all(env, name);
    const runs = await appVersions.pinnedRuns(
      env,
      versions.map(({ version }) => ({ app: name, version })),
    );
    const live = versions.some(({ url }) => isConnected(url)) ? await connections.ofApp(env, name, Date.now()) : [];
    const connected = live.map(({ connection }) => connection.apps.find((one) => one.name === name)?.version);
    return versions.map((one, i) => {
      const { count, oldestAt } = runs[i] as (typeof runs)[number];
      return present(one, app.deployId, count, oldestAt, connected.filter((version) => version === one.version).length);
    });
  }

  return [
    routes.get('/v1/apps/:name/versions', {
      operationId: 'listAppVersions',
      summary: 'List the versions of an app',
      description:
        'The one that registered last comes first. An app has versions when it names its builds. Kept are the active one, those with pinned runs, and the last 10 others.',
      query: z.object(longPageQuery(countPosition)),
      data: z.array(versionSchema),
      async handle({ env, params: { name }, query }) {
        return countedReply(await list(env, name), query, (version) => version);
      },
    }),
    routes.post('/v1/apps/:name/versions/:version/activate', {
      operationId: 'activateAppVersion',
      summary: 'Make a version of an app active',
      description:
        'New runs start on the version, with the functions, triggers and limits that it registered, and runs that are not pinned continue with it. Runs that are pinned to another version stay there. The version stays active until ' +
        'the app registers one that was never active.',
      data: versionSchema,
      errors: ['not_found', 'quota_exceeded'],
      async handle({ env, principal, params: { name, version } }) {
        await registrar.activate(env, { app: name, version }, { kind: 'activation', name: principal.name });
        return { data: (await list(env, name)).find((one) => one.version === version) };
      },
    }),
  ];
}

function present(
  one: AppVersion,
  active: string | undefined,
  count: number,
  oldestAt: number | undefined,
  connections: number,
): z.input<typeof versionSchema> {
  const { version, url, sdk, functions, registeredAt, seenAt, activeAt } = one;
  return {
    version,
    state: stateOf(version, active, count),
    url,
    sdk: sdk ?? null,
    function_count: functions.length,
    active_runs: count,
    oldest_run_at: time(oldestAt),
    connections: isConnected(url) ? connections : null,
    registered_at: time(registeredAt) as string,
    last_registered_at: time(seenAt) as string,
    active_at: time(activeAt),
  };
}
