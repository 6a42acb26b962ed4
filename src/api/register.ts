/** `POST /fn/register`: an app says which functions it hosts (protocol: registering). Its answers have the protocol's own shape. */
import type Router from '@koa/router';
import type { Config } from '../config.ts';
import { ServiceError } from '../errors.ts';
import { dialectOf, headerName, readHeader, SERVER_SDK } from '../functions/headers.ts';
import { functionsOf, registrationSchema } from '../model/app.ts';
import type { Store } from '../store/store.ts';
import { environmentOfApp } from './app-environment.ts';
import { appGuard } from './auth.ts';
import { readBody } from './body.ts';
import { check } from './route.ts';

const BODY_MAX_BYTES = 4 * 1_024 * 1_024;

export function registerRoute(
  router: Router,
  config: Config,
  { functions, environments }: Pick<Store, 'functions' | 'environments'>,
): void {
  router.post('/fn/register', appGuard(config) as never, async (ctx) => {
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
    const registration = readRegistration((await readBody(ctx.req, BODY_MAX_BYTES)).toString('utf8'));
    const env = await environmentOfApp(ctx.req.headers, config.dev, environments);
    const modified = await functions.replace(env, registration.appName, functionsOf(registration, dialect));
    ctx.body = { ok: true, modified };
  });
}

function readRegistration(text: string) {
  try {
    return check(registrationSchema, JSON.parse(text), 'field') as ReturnType<typeof registrationSchema.parse>;
  } catch (error) {
    const detail = error instanceof ServiceError ? error.message : `the body is not JSON: ${(error as Error).message}`;
    throw new ServiceError('registration_invalid', { detail, cause: error });
  }
}
