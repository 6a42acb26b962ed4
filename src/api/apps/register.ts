/** `POST /fn/register`: an app says which functions it hosts (protocol: registering). Its answers have the protocol's own shape. */
import { setImmediate } from 'node:timers/promises';
import type Router from '@koa/router';
import type { Config, Quotas } from '../../config.ts';
import { ServiceError } from '../../errors.ts';
import { dialectOf, headerName, readHeader, SERVER_SDK } from '../../functions/headers.ts';
import type { Backpressure } from '../../jobs/queues/backpressure.ts';
import {
  appNameOf,
  type Dialect,
  expressionProblems,
  functionsOf,
  type Registration,
  registrationSchema,
} from '../../model/apps/app.ts';
import { enforceQuotas } from '../../model/apps/quotas.ts';
import { PRODUCTION } from '../../model/environment.ts';
import type { App } from '../../store/apps/apps.ts';
import type { Store } from '../../store/store.ts';
import { readBody } from '../http/body.ts';
import { check } from '../rest/route.ts';
import { appGuard } from './app-authentication.ts';
import { environmentOfApp } from './app-environment.ts';
import { KeyedQueue } from './keyed-queue.ts';

/** 2,000 functions of 1 KB each. Reading twice as much takes a quarter of a second of the main thread. */
export const BODY_MAX_BYTES = 2 * 1_048_576;
/** How long others wait while expressions are read. */
const TURN_MS = 10;

export function registerRoute(
  router: Router,
  config: Config,
  store: Pick<Store, 'functions' | 'expressionProblems' | 'apps' | 'environments' | 'signingKeys'>,
  pressure: Backpressure,
): void {
  const { functions, expressionProblems, apps, environments, signingKeys } = store;
  const { quotas } = config;
  const turns = new KeyedQueue();

  router.post('/fn/register', appGuard(config, signingKeys, environments) as never, async (ctx) => {
    const dialect = dialectOf(ctx.req.headers) ?? 'service';
    const kind = config.dev ? 'dev' : 'cloud';
    ctx.set(headerName(dialect, 'sdk'), SERVER_SDK);
    ctx.set(headerName(dialect, 'server-kind'), kind);
    const expected = readHeader(ctx.req.headers, 'expected-server-kind');
    if (expected && expected !== kind) {
      throw new ServiceError('registration_invalid', {
        detail: `the app expects a service of kind "${expected}", this one is "${kind}"; set or unset the app's dev mode`,
      });
    }
    pressure.admitRegistration();
    const text = (await readBody(ctx.req, BODY_MAX_BYTES)).toString('utf8');
    try {
      const registration = readRegistration(text, quotas);
      await refuseExpressions(registration);
      const env = await environmentOfApp(ctx.req.headers, environments, quotas.branches);
      const modified = await turns.take(env, async () => {
        await apps.refuseMany(env, registration.appName, quotas.apps);
        const registered = functionsOf(registration, dialect);
        const changed = await functions.replace(env, registration.appName, registered, quotas.functions);
        await apps.save(env, appOf(registration, dialect, Date.now()));
        return changed;
      });
      // What was changed may be mended.
      if (modified) await expressionProblems.forget(env, idsIn(registration));
      ctx.body = { ok: true, modified };
    } catch (error) {
      const env = readHeader(ctx.req.headers, 'env') || PRODUCTION;
      const name = nameIn(text);
      if (environments.find(env)) {
        await apps.noteFailure(env, (app) => app.name === name, (error as Error).message, Date.now());
      }
      throw error;
    }
  });
}

function idsIn({ functions }: Registration): string[] {
  return functions.map(({ id }) => id);
}

function appOf({ appName, url, sdk, framework }: Registration, dialect: Dialect, nowMs: number): App {
  const lastSync = { at: nowMs };
  return { name: appName, url, sdk, framework: framework ?? undefined, dialect, registeredAt: nowMs, lastSync };
}

/** Of the app, when the text is something like a registration. */
function nameIn(text: string): unknown {
  try {
    return appNameOf(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/** Others have their turn meanwhile. @throws ServiceError registration_invalid */
async function refuseExpressions(registration: Registration): Promise<void> {
  let turnBegan = performance.now();
  for (const problem of expressionProblems(registration)) {
    if (problem) throw new ServiceError('registration_invalid', { detail: problem });
    if (performance.now() - turnBegan < TURN_MS) continue;
    await setImmediate();
    turnBegan = performance.now();
  }
}

function readRegistration(text: string, quotas: Quotas) {
  try {
    const given = JSON.parse(text);
    enforceQuotas(given, quotas);
    return check(registrationSchema, given, 'field') as Registration;
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'quota_exceeded') throw error;
    const detail = error instanceof ServiceError ? error.message : `the body is not JSON: ${(error as Error).message}`;
    throw new ServiceError('registration_invalid', { detail, cause: error });
  }
}
