/** `POST /fn/register`: an app registers its functions (docs/protocol.md). The responses have the shape of the protocol. */
import { setImmediate } from 'node:timers/promises';
import type { FunctionLimits, Quotas } from '../../config.ts';
import { ServiceError } from '../../errors.ts';
import { dialectOf, headerName, readHeader, SERVER_SDK } from '../../functions/headers.ts';
import type { Admission } from '../../jobs/flow-control/admission.ts';
import type { Looks } from '../../jobs/flow-control/looks.ts';
import type { Backpressure } from '../../jobs/queues/backpressure.ts';
import type { TimeoutTimers } from '../../jobs/runs/timeout-timers.ts';
import type { Schedules } from '../../jobs/timers/schedules.ts';
import type { Logger } from '../../log.ts';
import {
  type AppFunction,
  appNameIn,
  type Dialect,
  type RefusedFunction,
  type Registration,
  registrationSchema,
} from '../../model/apps/app.ts';
import { functionProblems } from '../../model/apps/function-problems.ts';
import { enforceQuotas } from '../../model/apps/quotas.ts';
import { checkFunctions } from '../../model/apps/registered-functions.ts';

import { PRODUCTION } from '../../model/environment.ts';
import { schedulesOf } from '../../model/schedules/schedules.ts';
import type { App, Apps } from '../../store/apps/apps.ts';
import type { ExpressionProblems } from '../../store/apps/expression-problems.ts';
import type { Functions, Replaced } from '../../store/apps/functions.ts';
import { readBody } from '../http/body.ts';
import type { Context, Router } from '../http/router.ts';
import { validate } from '../rest/validation.ts';
import { type AppGuardDeps, appGuard, environmentOfApp } from './app-requests.ts';
import { KeyedQueue } from './keyed-queue.ts';

/** 2,000 functions of 1 KB each. Parsing twice as much blocks the main thread for 250 ms. */
export const BODY_MAX_BYTES = 2 * 1_048_576;
/** How long the main thread validates expressions before other requests get their turn. */
const SLICE_MS = 10;
/** Functions with problems in one log line. */
const LOGGED_FUNCTIONS = 50;

export interface RegistrarDeps {
  quotas: Quotas;
  functionLimits: FunctionLimits;
  apps: Apps;
  functions: Functions;
  expressionProblems: ExpressionProblems;
  looks: Pick<Looks, 'lookNow'>;
  /** Limits that a registration changes act on what waits. */
  admission: Pick<Admission, 'noteChange'>;
  timeoutTimers: Pick<TimeoutTimers, 'noteChange'>;
  schedules: Pick<Schedules, 'follow'>;
  log: Logger;
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
      const parsed = await registrar.parse(text, dialect);
      const env = await environmentOfApp(ctx.req.headers, environments, quotas.branches);
      const { modified, registered, refused } = await registrar.register(env, parsed);
      const problem = refusalOf(registered.length, refused);
      if (problem) throw problem;
      const functions = problemsOf(registered);
      ctx.body = { ok: true, modified, ...(functions.length > 0 && { functions }) };
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

export interface ParsedRegistration {
  registration: Registration;
  checked: CheckedFunctions;
  dialect: Dialect;
}

/** Registers apps, for the route above and for apps that connect. */
export class Registrar {
  readonly #deps: RegistrarDeps;
  readonly #queue = new KeyedQueue();

  constructor(deps: RegistrarDeps) {
    this.#deps = deps;
  }

  /** @throws ServiceError quota_exceeded, registration_invalid */
  async parse(text: string, dialect: Dialect): Promise<ParsedRegistration> {
    const { quotas, functionLimits } = this.#deps;
    const registration = parseRegistration(text, quotas);
    return { registration, checked: await checkAll(registration, dialect, functionLimits), dialect };
  }

  /** `modified`: whether a function has changed.
   *  @throws ServiceError quota_exceeded */
  async register(env: string, parsed: ParsedRegistration): Promise<CheckedFunctions & { modified: boolean }> {
    const saved = await this.#queue.run(env, () => this.#save(env, parsed));
    // A changed expression may no longer have its problem.
    if (saved.modified) await this.#deps.expressionProblems.remove(env, idsOf(saved.registered));
    // Nor may batches and debounces wait as long as before.
    await this.#deps.looks.lookNow(env, saved.changed);
    if (saved.modified) this.#logProblems(env, parsed.registration.appName, problemsOf(saved.registered));
    return saved;
  }

  #logProblems(env: string, app: string, problems: readonly FunctionProblems[]): void {
    if (problems.length === 0) return;
    const functions = problems.slice(0, LOGGED_FUNCTIONS);
    const more = problems.length - functions.length;
    this.#deps.log.warn({ env, app, functions, ...(more > 0 && { more }) }, 'functions do not work as configured');
  }

  async #save(
    env: string,
    { registration, checked, dialect }: ParsedRegistration,
  ): Promise<CheckedFunctions & Pick<Replaced, 'modified' | 'changed'>> {
    const { apps, functions, schedules, quotas } = this.#deps;
    const { appName } = registration;
    await apps.checkQuota(env, appName, quotas.apps);
    // First: if this process dies in between, setting timers anew changes nothing.
    await this.#noteChangedTimeouts(env, checked.registered);
    const saved = await functions.replaceForApp(env, appName, checked.registered, quotas.functions, checked.refused);
    const refused = [...checked.refused, ...saved.refused];
    if (saved.modified) {
      const ids = saved.registered.map(({ id }) => id);
      await this.#deps.admission.noteChange(env, ids);
    }
    const gone = saved.previous.flatMap((fn) => schedulesOf(env, fn));
    // Also without a change: an earlier registration may have died before its schedules were there.
    if (gone.length > 0 || saved.registered.some((fn) => fn.triggers.some(({ cron }) => cron !== undefined))) {
      await schedules.follow(env, gone);
    }
    await apps.save(env, { ...appOf(registration, dialect, Date.now()), ...(refused.length > 0 && { refused }) });
    return { ...saved, refused };
  }

  /** They apply to the runs that are there. */
  async #noteChangedTimeouts(env: string, given: readonly AppFunction[]): Promise<void> {
    const known = new Map((await this.#deps.functions.all(env)).functions.map((fn) => [fn.id, fn]));
    const changed = given.filter((fn) => {
      const before = known.get(fn.id);
      return before && JSON.stringify(before.config.timeouts) !== JSON.stringify(fn.config.timeouts);
    });
    if (changed.length > 0) await this.#deps.timeoutTimers.noteChange(env, idsOf(changed), Date.now());
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

/** A registered function and what does not work as configured. */
export interface FunctionProblems {
  id: string;
  problems: string[];
}

export interface CheckedFunctions {
  registered: AppFunction[];
  refused: RefusedFunction[];
}

function idsOf(functions: readonly { id: string }[]): string[] {
  return functions.map(({ id }) => id);
}

/** Tells about the functions that are registered and do not work as configured. */
export function problemsOf(registered: readonly AppFunction[]): FunctionProblems[] {
  const all = registered.map((fn) => ({ id: fn.id, problems: functionProblems(fn) }));
  return all.filter(({ problems }) => problems.length > 0);
}

function nameOf(id: string | null): string {
  return id === null ? 'without an ID' : `"${id}"`;
}

/** What is wrong with the refused functions; the others are registered. undefined: nothing */
export function refusalOf(registered: number, refused: readonly RefusedFunction[]): ServiceError | undefined {
  const [first, ...others] = refused;
  if (!first) return undefined;
  const rest =
    others.length === 0
      ? ''
      : `; ${others.length} more refused: ${others
          .slice(0, 20)
          .map(({ id }) => nameOf(id))
          .join(', ')}`;
  const state = `the other functions are registered (${registered}); refused ones stay as they were registered before`;
  return new ServiceError('registration_invalid', {
    detail: `function ${nameOf(first.id)}: ${first.problem}${rest}. Correct them and register again; ${state}`,
    facts: { registered, functions: refused },
  });
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

/** Pauses regularly, so that other requests get their turn. */
async function checkAll(
  registration: Registration,
  dialect: Dialect,
  limits: FunctionLimits,
): Promise<CheckedFunctions> {
  const all: CheckedFunctions = { registered: [], refused: [] };
  let sliceStartedAt = performance.now();
  for (const checked of checkFunctions(registration, dialect, limits)) {
    if (checked && 'registered' in checked) all.registered.push(checked.registered);
    else if (checked) all.refused.push(checked.refused);
    if (performance.now() - sliceStartedAt < SLICE_MS) continue;
    await setImmediate();
    sliceStartedAt = performance.now();
  }
  return all;
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
