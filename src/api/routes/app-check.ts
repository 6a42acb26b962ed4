/** `POST /v1/apps/:name/check`: whether an app can be called, and if not, why. */
import type { Dispatcher } from 'undici';
import { z } from 'zod';
import { ServiceError } from '../../errors.ts';
import { visit } from '../../functions/visit.ts';
import { PROBLEM_CODES, problemsOf } from '../../model/app-problems.ts';
import { FUNCTION_FAILED } from '../../model/event.ts';
import type { Apps } from '../../store/apps.ts';
import type { Functions } from '../../store/functions.ts';
import type { SigningKeys } from '../../store/signing-keys.ts';
import { type Route, route } from '../route.ts';

export const appCheckSchema = z
  .object({
    ok: z.boolean(),
    answered_in_ms: z.int().nullable().meta({ description: 'null: it did not answer' }),
    status: z.int().nullable().meta({ description: 'HTTP status of its answer' }),
    problems: z
      .array(z.object({ code: z.enum(PROBLEM_CODES), message: z.string(), fix: z.string() }))
      .meta({ description: 'The gravest first' }),
  })
  .meta({ id: 'AppCheck' });

export interface AppCheckRouteDeps {
  config: { dev: boolean };
  apps: Apps;
  functions: Functions;
  signingKeys: SigningKeys;
  /** By which apps are asked. */
  outgoing: Dispatcher;
}

export function appCheckRoutes({ config, apps, functions, signingKeys, outgoing }: AppCheckRouteDeps): Route[] {
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
        'Asks at its URL, signed as a call is, and says what stands between it and its calls. Nothing of it is run.',
      params: z.object({ name: z.string() }),
      data: appCheckSchema,
      errors: ['not_found'],
      async handle({ env, params: { name } }) {
        const app = await apps.read(env, name);
        if (!app) throw new ServiceError('not_found', { detail: `no app has the name "${name}"` });
        const signingKey = config.dev ? undefined : await signingKeys.current(env);
        const { url, dialect } = app;
        const found = await visit({ url, dialect, dev: config.dev, signingKey }, outgoing);
        const live = (await functions.all(env)).functions.filter((fn) => fn.app === name && !fn.archived);
        const handlers = live.filter(({ triggers }) => triggers.every(({ event }) => event === FUNCTION_FAILED));
        const counts = { functionCount: live.length, handlerCount: handlers.length };
        const known = { url, dev: config.dev, ...counts, syncError: app.lastSync.error };
        const problems = problemsOf(found, known);
        const { answeredInMs = null, status = null } = found;
        return { data: { ok: problems.length === 0, answered_in_ms: answeredInMs, status, problems } };
      },
    }),
  ];
}
