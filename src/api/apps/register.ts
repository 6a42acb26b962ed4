/** `POST /fn/register`: an app registers its functions (docs/protocol.md). The responses have the shape of the protocol. */
import { setImmediate } from 'node:timers/promises';
import type { Quotas } from '../../config.ts';
import { ServiceError } from '../../errors.ts';
import { dialectOf, headerName, readHeader, SERVER_SDK } from '../../functions/headers.ts';
import type { Backpressure } from '../../jobs/queues/backpressure.ts';
import {
  appNameIn,
  type Dialect,
  expressionProblems as expressionProblemsIn,
  functionsOf,
  type Registration,
  registrationSchema,
} from '../../model/apps/app.ts';
import { enforceQuotas } from '../../model/apps/quotas.ts';
import { PRODUCTION } from '../../model/environment.ts';
import type { App, Apps } from '../../store/apps/apps.ts';
import type { ExpressionProblems } from '../../store/apps/expression-problems.ts';
import type { Functions } from '../../store/apps/functions.ts';
import { readBody } from '../http/body.ts';
import type { Context, Router } from '../http/router.ts';
import { validate } from '../rest/validation.ts';
import { type AppGuardDeps, appGuard, environmentOfApp } from './app-requests.ts';
import { KeyedQueue } from './keyed-queue.ts';

/** 2,000 functions of 1 KB each. Parsing twice as much blocks the main thread for 250 ms. */
export const BODY_MAX_BYTES = 2 * 1_048_576;
/** How long the main thread validates expressions before other requests get their turn. */
const SLICE_MS = 10;

export interface RegistrarDeps {
  quotas: Quotas;
  apps: Apps;
  functions: Functions;
  expressionProblems: ExpressionProblems;
}

export interface RegisterRouteDeps extends AppGuardDeps {
  quotas: Quotas;
  apps: Apps;
  backpressure: Backpressure;
}

export function registerRoute(router: Router, registrar: Registrar, deps: RegisterRouteDeps): void {
  const { dev, quotas, apps, environments, backpressure } = deps;
  const serverKind = dev ? 'dev' : 'cloud';

  router.post('/fn/register', appGuard(deps), async (ctx) => {
    const dialect = dialectOf(ctx.req.headers) ?? 'service';
    ctx.set(headerName(dialect, 'sdk'), SERVER_SDK);
    ctx.set(headerName(dialect, 'server-kind'), serverKind);
    rejectOtherKind(ctx, serverKind);
    backpressure.admitRegistration();
    const text = (await readBody(ctx.req, BODY_MAX_BYTES)).toString('utf8');
    try {
      const registration = await registrar.parse(text);
      const env = await environmentOfApp(ctx.req.headers, environments, quotas.branches);
      const modified = await registrar.register(env, registration, dialect);
      ctx.body = { ok: true, modified };
    } catch (error) {
      const env = readHeader(ctx.req.headers, 'env') || PRODUCTION;
      const name = appNameInText(text);
      if (environments.find(env)) {
        await apps.recordSyncFailure(env, (app) => app.name === name, (error as Error).message, Date.now());
      }
      throw error;
    }
  });
}

/** Registers apps, for the route above and for apps that connect. */
export class Registrar {
  readonly #deps: RegistrarDeps;
  readonly #queue = new KeyedQueue();

  constructor(deps: RegistrarDeps) {
    this.#deps = deps;
  }

  /** @throws ServiceError quota_exceeded, registration_invalid */
  async parse(text: string): Promise<Registration> {
    const registration = parseRegistration(text, this.#deps.quotas);
    await validateExpressions(registration);
    return registration;
  }

  /** @returns whether a function has changed
   *  @throws ServiceError quota_exceeded */
  async register(env: string, registration: Registration, dialect: Dialect): Promise<boolean> {
    const modified = await this.#queue.run(env, () => this.#save(env, registration, dialect));
    // A changed expression may no longer have its problem.
    if (modified) await this.#deps.expressionProblems.remove(env, idsOf(registration));
    return modified;
  }

  async #save(env: string, registration: Registration, dialect: Dialect): Promise<boolean> {
    const { apps, functions, quotas } = this.#deps;
    const { appName } = registration;
    await apps.checkQuota(env, appName, quotas.apps);
    const modified = await functions.replaceForApp(env, appName, functionsOf(registration, dialect), quotas.functions);
    await apps.save(env, appOf(registration, dialect, Date.now()));
    return modified;
  }
}

/** @throws ServiceError registration_invalid when the app expects dev mode and the service is not in it, or the other way round */
function rejectOtherKind(ctx: Context, serverKind: 'dev' | 'cloud'): void {
  const expected = readHeader(ctx.req.headers, 'expected-server-kind');
  if (!expected || expected === serverKind) return;
  throw new ServiceError('registration_invalid', {
    detail: `the app expects a service of kind "${expected}", this one is "${serverKind}"; turn the app's dev mode on or off`,
  });
}

function idsOf({ functions }: Registration): string[] {
  return functions.map(({ id }) => id);
}

function appOf({ appName, url, sdk, framework }: Registration, dialect: Dialect, nowMs: number): App {
  const lastSync = { at: nowMs };
  return { name: appName, url, sdk, framework: framework ?? undefined, dialect, registeredAt: nowMs, lastSync };
}

/** Name of the app; undefined when the text is not JSON or has no name. */
function appNameInText(text: string): unknown {
  try {
    return appNameIn(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/** Pauses regularly, so that other requests get their turn. @throws ServiceError registration_invalid */
async function validateExpressions(registration: Registration): Promise<void> {
  let sliceStartedAt = performance.now();
  for (const problem of expressionProblemsIn(registration)) {
    if (problem) throw new ServiceError('registration_invalid', { detail: problem });
    if (performance.now() - sliceStartedAt < SLICE_MS) continue;
    await setImmediate();
    sliceStartedAt = performance.now();
  }
}

/** @throws ServiceError quota_exceeded, registration_invalid */
function parseRegistration(text: string, quotas: Quotas): Registration {
  try {
    const given = JSON.parse(text);
    enforceQuotas(given, quotas);
    return validate(registrationSchema, given, 'field');
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'quota_exceeded') throw error;
    const detail = error instanceof ServiceError ? error.message : `the body is not JSON: ${(error as Error).message}`;
    throw new ServiceError('registration_invalid', { detail, cause: error });
  }
}
