/** `POST /v1/apps/:name/check`: diagnoses why an app cannot be called. */
import { z } from 'zod';
import { probeApp } from '../../functions/probe.ts';
import type { AppFunction } from '../../model/apps/app.ts';
import { connectionProblems, PROBLEM_CODES, problemsOf, UNREACHABLE } from '../../model/apps/app-problems.ts';
import { isConnected } from '../../model/apps/connection.ts';
import { covers, type Principal } from '../../model/auth/access.ts';
import { isFailureHandler } from '../../model/events/lifecycle.ts';
import { machineTime } from '../../model/values/clock.ts';
import type { App } from '../../store/apps/apps.ts';
import type { Connections } from '../../store/connect/connections.ts';
import { existingApp } from '../apps/existing.ts';
import { apiObject, wholeOrNull } from '../http/validation.ts';
import type { ApiParts } from '../parts.ts';
import { type Route, routesOf } from '../rest/route.ts';

export const appCheckSchema = apiObject('AppCheck', {
  ok: z.boolean(),
  reachable: z.boolean().describe('An app responded at its URL'),
  answered_in_ms: wholeOrNull.describe(
    'Response time in milliseconds; null: no response, or the principal has no admin access',
  ),
  status: wholeOrNull.describe('HTTP status of the response; null: no response, or the principal has no admin access'),
  problems: z
    .array(z.object({ code: z.enum(PROBLEM_CODES), message: z.string(), fix: z.string() }))
    .describe('Most severe first. Without admin access only `unreachable` is reported'),
});

const routes = routesOf({ tag: 'Apps', scope: 'environment' });

export function appCheckRoutes(deps: ApiParts): Route[] {
  const { dev, apps, functions, connections, signingKeys, environmentKinds, httpAgent } = deps;
  return [
    routes.post('/v1/apps/:name/check', {
      audited: false,
      operationId: 'checkApp',
      summary: 'Diagnose an app',
      description:
        "Sends a signed probe to the URL of the app, and reports problems that keep calls from succeeding and parts of the functions' configuration that do not work. No function runs. " +
        'Without admin access, the response says only whether the app is reachable.',
      data: appCheckSchema,
      async handle({ env, principal, params: { name } }) {
        const app = await existingApp(apps, env, name);
        const live = (await functions.all(env)).functions.filter((fn) => fn.app === name && !fn.archived);
        if (isConnected(app.url)) return { data: await checkConnections(env, app, live, connections) };
        const signingKey = dev ? undefined : await signingKeys.current(env);
        const { url, dialect } = app;
        const agent = httpAgent.for(await environmentKinds.of(env));
        const probe = await probeApp({ url, dialect, dev, signingKey }, agent);
        const reachable = probe.isApp === true;
        if (!seesDetails(principal)) return { data: withoutDetails(reachable) };
        const handlerCount = live.filter(isFailureHandler).length;
        const liveIds = new Set<string | null>(live.map(({ id }) => id));
        const missing = (app.refused ?? []).filter(({ id }) => !liveIds.has(id)).length;
        const counts = { functionCount: live.length + missing, handlerCount };
        const known = { url, dev, ...counts, functions: live, syncError: app.lastSync.error };
        const problems = problemsOf(probe, known);
        const { responseTimeMs = null, status = null } = probe;
        return { data: { ok: problems.length === 0, reachable, answered_in_ms: responseTimeMs, status, problems } };
      },
    }),
  ];
}

/** An app that connects has no URL to probe: it is reachable while an instance takes calls. */
async function checkConnections(
  env: string,
  { name, lastSync }: App,
  functions: readonly AppFunction[],
  connections: Connections,
) {
  const live = await connections.ofApp(env, name, machineTime());
  const reachable = live.some(({ connection }) => connection.status === 'ready');
  const problems = connectionProblems(reachable, { functions, syncError: lastSync.error });
  return { ok: problems.length === 0, reachable, answered_in_ms: null, status: null, problems };
}

/** Any principal with write access can set the URL, so the details would reveal the network around the service. */
function seesDetails({ access }: Principal): boolean {
  return covers(access, 'admin');
}

function withoutDetails(reachable: boolean) {
  return { ok: reachable, reachable, answered_in_ms: null, status: null, problems: reachable ? [] : [UNREACHABLE] };
}
