/** `POST /fn/register`: an app says which functions it hosts (protocol: registering). Its answers have the protocol's own shape. */
import type Router from '@koa/router';
import type { Config } from '../../config.ts';
import { ServiceError } from '../../errors.ts';
import { dialectOf, headerName, readHeader, SERVER_SDK } from '../../functions/headers.ts';
import { appNameIn, type Dialect, functionsOf, type Registration, registrationSchema } from '../../model/app.ts';
import { PRODUCTION } from '../../model/environment.ts';
import type { App } from '../../store/apps.ts';
import type { Store } from '../../store/store.ts';
import { readBody } from '../body.ts';
import { check } from '../route.ts';
import { environmentOfApp } from './environment.ts';
import { appGuard } from './proof.ts';

const BODY_MAX_BYTES = 4 * 1_024 * 1_024;

export function registerRoute(
  router: Router,
  config: Config,
  { functions, apps, environments, signingKeys }: Pick<Store, 'functions' | 'apps' | 'environments' | 'signingKeys'>,
): void {
  router.post('/fn/register', appGuard(config, signingKeys) as never, async (ctx) => {
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
    const text = (await readBody(ctx.req, BODY_MAX_BYTES)).toString('utf8');
    try {
      const registration = readRegistration(text);
      const env = await environmentOfApp(ctx.req.headers, config.dev, environments);
      const modified = await functions.replace(env, registration.appName, functionsOf(registration, dialect));
      await apps.save(env, appOf(registration, dialect, Date.now()));
      ctx.body = { ok: true, modified };
    } catch (error) {
      const env = config.dev ? PRODUCTION : (readHeader(ctx.req.headers, 'env') ?? PRODUCTION);
      const name = nameIn(text);
      await apps.noteFailure(env, (app) => app.name === name, (error as Error).message, Date.now());
      throw error;
    }
  });
}

function appOf({ appName, url, sdk, framework }: Registration, dialect: Dialect, nowMs: number): App {
  const lastSync = { at: nowMs };
  return { name: appName, url, sdk, framework: framework ?? undefined, dialect, registeredAt: nowMs, lastSync };
}

/** Of the app, when the text is something like a registration. */
function nameIn(text: string): unknown {
  try {
    return appNameIn(JSON.parse(text));
  } catch {
    return undefined;
  }
}

function readRegistration(text: string) {
  try {
    return check(registrationSchema, JSON.parse(text), 'field') as Registration;
  } catch (error) {
    const detail = error instanceof ServiceError ? error.message : `the body is not JSON: ${(error as Error).message}`;
    throw new ServiceError('registration_invalid', { detail, cause: error });
  }
}
