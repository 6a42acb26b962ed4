/** `/v1/apps/:name/versions`: the versions of an app, and which one new runs start on (docs/change-code-safely.md). */
import { z } from 'zod';
import { isConnected } from '../../model/apps/connection.ts';
import { type GivenRamp, percentOf, type RampEnds, stateOf, VERSION_STATES } from '../../model/apps/versions.ts';
import { existingApp } from '../apps/existing.ts';
import { apiObject, textOrNull, time, timeOrNull, wholeBetween, wholeOrNull } from '../http/validation.ts';
import type { ApiParts } from '../parts.ts';
import { countedReply, countPosition, longPageQuery } from '../rest/lists.ts';
import { type Route, routesOf } from '../rest/route.ts';
import { present } from '../views/present.ts';

/** Number of runs whose alarms a request reads: maximum for all draining versions together, and minimum for each. */
const WAKES_MAX = 10_000;
const WAKES_PER_VERSION = 100;

const abortWhenSchema = z
  .strictObject({
    failure_rate: z.number().min(0).max(1).describe('From 0 to 1'),
    min_runs: wholeBetween(1, 1_000_000).default(20).describe('Not before this many runs have ended'),
  })
  .describe('The ramp aborts itself when more of the runs that ended on the version have failed');

export const versionSchema = apiObject('AppVersion', {
  version: z.string().describe('As the app names its build: `deployId` or `appVersion`'),
  state: z
    .enum(VERSION_STATES)
    .describe(
      'active: new runs start on the version; ramping: `percent` of them do; draining: only runs that are pinned to it call it; waiting: it was never active, and nothing calls it before it is activated (`activation` of the app); drained: nothing calls it, so it is safe to stop',
    ),
  percent: wholeBetween(0, 100).describe('Share of the new runs of pinned functions that starts on it'),
  ramp: z
    .object({
      percent: z.int().describe('Share of the new runs of pinned functions'),
      ended_runs: z
        .int()
        .describe(
          'Runs that have completed or failed on the version since its ramp was set, or paused instead of failing',
        ),
      failed_runs: z.int().describe('Runs of `ended_runs` that failed or paused'),
      abort_when: abortWhenSchema.nullable(),
      aborted_at: timeOrNull.describe('null: the ramp continues'),
    })
    .nullable()
    .describe('For the version that ramps up, or whose ramp aborted itself last; null: any other version'),
  url: z.string(),
  sdk: textOrNull,
  function_count: z.int(),
  active_runs: z.int().describe('Active runs that are pinned to it'),
  oldest_run_at: timeOrNull.describe('When the oldest of these runs was created; null: there is none'),
  last_wake_at: timeOrNull.describe(
    'Of a draining version: when the last of them wakes, by the end of its sleep or the timeout of its wait. Looks at the newest runs, 10,000 at most; of more than 100, those that began to sleep in the last two minutes may be missed. null: none sleeps or waits with a timeout, or the version is not draining',
  ),
  connections: wholeOrNull.describe('Live connections of this version; null: the app does not connect'),
  registered_at: z.iso.datetime().describe('When it first registered'),
  last_registered_at: z.iso.datetime(),
  active_at: timeOrNull.describe('When it last became active; null: never'),
});

const routes = routesOf({ tag: 'Apps', scope: 'environment' });

export function appVersionRoutes({ apps, appVersions, connections, activation, lastWakes }: ApiParts): Route[] {
  async function list(env: string, name: string) {
    const app = await existingApp(apps, env, name);
    const [versions, { ramp, aborted }] = await Promise.all([
      appVersions.all(env, name),
      appVersions.choices(env, name),
    ]);
    const ends = ramp && (await appVersions.ends(env, { app: name, version: ramp.version }));
    const rampOf = (version: string) => {
      if (ramp && version === ramp.version) return presentRamp({ ...ramp, ...(ends as RampEnds) });
      return version === aborted?.version ? presentRamp(aborted) : null;
    };
    const started = { active: app.deployId, ramp };
    const runs = await appVersions.pinnedRuns(
      env,
      versions.map(({ version }) => ({ app: name, version })),
    );
    const draining = versions.filter(
      (appVersion, i) => stateOf(appVersion, started, runs[i]?.count ?? 0) === 'draining',
    );
    const wakes = new Map<string, number | undefined>();
    for (const { version } of draining) {
      const runsMax = Math.max(WAKES_PER_VERSION, Math.floor(WAKES_MAX / draining.length));
      wakes.set(version, await lastWakes.of(env, { app: name, version }, runsMax));
    }
    const live = versions.some(({ url }) => isConnected(url)) ? await connections.ofApp(env, name, Date.now()) : [];
    const connected = live.map(({ connection }) => connection.apps.find((app) => app.name === name)?.version);
    return versions.map((appVersion, i) => {
      const { version, url, functions, seenAt } = appVersion;
      const { count, oldestAt } = runs[i] as (typeof runs)[number];
      return present(versionSchema, appVersion, {
        state: stateOf(appVersion, started, count),
        percent: percentOf(version, started),
        ramp: rampOf(version),
        function_count: functions.length,
        active_runs: count,
        oldest_run_at: time(oldestAt),
        last_wake_at: time(wakes.get(version)),
        connections: isConnected(url) ? connected.filter((other) => other === version).length : null,
        last_registered_at: time(seenAt) as string,
      });
    });
  }

  return [
    routes.get('/v1/apps/:name/versions', {
      operationId: 'listAppVersions',
      summary: 'List the versions of an app',
      description:
        'The one that registered last comes first. An app has versions when it names its builds. Kept are the active one, those with pinned runs, and the last 10 others, as many again of those that wait for their activation.',
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
        'the app registers one that was never active. With `percent`, only that share of the new runs of pinned functions starts on it, and with `abort_when` none as soon as too many of them fail.',
      body: z
        .strictObject({
          percent: wholeBetween(0, 100)
            .default(100)
            .describe(
              'The rest starts on the version that was active, whose triggers and limits count for all. By a hash of the run ID: who is in at 5 % is in at 20 %. 0: back to that version',
            ),
          abort_when: abortWhenSchema.optional(),
        })
        .refine(({ percent, abort_when }) => !abort_when || (percent > 0 && percent < 100), {
          path: ['abort_when'],
          error: 'needs a percent from 1 to 99',
        })
        .default({ percent: 100 }),
      data: versionSchema,
      errors: ['not_found', 'quota_exceeded'],
      async handle({ env, principal, params: { name, version }, body: { percent, abort_when } }) {
        const by = { kind: 'activation', name: principal.name } as const;
        await activation.activate(env, { app: name, version }, by, {
          percent,
          abortWhen: abort_when && { failureRate: abort_when.failure_rate, minRuns: abort_when.min_runs },
        });
        return { data: (await list(env, name)).find((listed) => listed.version === version) };
      },
    }),
  ];
}

function presentRamp({
  percent,
  ended,
  failed,
  abortWhen,
  at,
}: GivenRamp & RampEnds & { at?: number }): z.output<typeof versionSchema>['ramp'] {
  return {
    percent,
    ended_runs: ended,
    failed_runs: failed,
    abort_when: abortWhen ? { failure_rate: abortWhen.failureRate, min_runs: abortWhen.minRuns } : null,
    aborted_at: time(at),
  };
}
