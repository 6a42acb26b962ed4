/** `POST /v1/apps/:name/check`: whether an app can be called, and if not, why. */
import { z } from 'zod';
import { ServiceError } from '../../errors.ts';
import type { HttpAgent } from '../../functions/http-agent.ts';
import { probeApp } from '../../functions/probe.ts';
import { PROBLEM_CODES, problemsOf, UNREACHABLE } from '../../model/apps/app-problems.ts';
import { covers, type Principal } from '../../model/auth/access.ts';
import { FUNCTION_FAILED } from '../../model/events/event.ts';
import type { Apps } from '../../store/apps/apps.ts';
import type { Functions } from '../../store/apps/functions.ts';
import type { SigningKeys } from '../../store/auth/signing-keys.ts';
import type { EnvironmentKinds } from '../../store/environments/environment-kinds.ts';
import { type Route, route } from '../rest/route.ts';

export const appCheckSchema = z
  .object({
    ok: z.boolean(),
    reachable: z.boolean().meta({ description: 'An app answered at its URL' }),
    answered_in_ms: z
      .int()
      .nullable()
      .meta({ description: 'null: it did not answer, or the caller has no admin access' }),
    status: z
      .int()
      .nullable()
      .meta({ description: 'HTTP status of its answer; null: none, or the caller has no admin access' }),
    problems: z
      .array(z.object({ code: z.enum(PROBLEM_CODES), message: z.string(), fix: z.string() }))
      .meta({ description: 'The gravest first. Without admin access: `unreachable` alone' }),
  })
  .meta({ id: 'AppCheck' });

export interface AppCheckRouteDeps {
  config: { dev: boolean };
  apps: Apps;
  functions: Functions;
  signingKeys: SigningKeys;
  environmentKinds: EnvironmentKinds;
  outgoing: HttpAgent;
}

export function appCheckRoutes(deps: AppCheckRouteDeps): Route[] {
  const { config, apps, functions, signingKeys, environmentKinds, outgoing } = deps;
  return [
    route({
      method: 'post',
      path: '/v1/apps/:name/check',
      tag: 'Apps',
      access: 'write',
      about: 'environment',
      changes: false,
      summary: 'Find out what is wrong with an app',
      description:
        'Asks at its URL, signed as a call is, and says what stands between it and its calls. Nothing of it is run. ' +
        'Callers without admin access learn whether the app is reachable, and nothing else.',
      params: z.object({ name: z.string() }),
      data: appCheckSchema,
      errors: ['not_found'],
      async handle({ env, caller, params: { name } }) {
        const app = await apps.read(env, name);
        if (!app) throw new ServiceError('not_found', { detail: `no app has the name "${name}"` });
        const signingKey = config.dev ? undefined : await signingKeys.current(env);
        const { url, dialect } = app;
        const agent = outgoing.for(await environmentKinds.of(env));
        const found = await probeApp({ url, dialect, dev: config.dev, signingKey }, agent);
        const reachable = found.isApp === true;
        if (!seesDetails(caller)) return { data: withoutDetails(reachable) };
        const live = (await functions.all(env)).functions.filter((fn) => fn.app === name && !fn.archived);
        const handlers = live.filter(({ triggers }) => triggers.every(({ event }) => event === FUNCTION_FAILED));
        const counts = { functionCount: live.length, handlerCount: handlers.length };
        const known = { url, dev: config.dev, ...counts, syncError: app.lastSync.error };
        const problems = problemsOf(found, known);
        const { responseTimeMs = null, status = null } = found;
        return { data: { ok: problems.length === 0, reachable, answered_in_ms: responseTimeMs, status, problems } };
      },
    }),
  ];
}

/** What is found out at a URL tells of the network that the service stands in, and whoever may write can choose the URL. */
function seesDetails({ access }: Principal): boolean {
  return covers(access, 'admin');
}

function withoutDetails(reachable: boolean) {
  return { ok: reachable, reachable, answered_in_ms: null, status: null, problems: reachable ? [] : [UNREACHABLE] };
}
