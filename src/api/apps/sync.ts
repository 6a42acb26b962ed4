/** Asks an app at its URL to register, on request of a user (docs/protocol.md#registration). */

import { ServiceError } from '../../errors.ts';
import type { HttpAgent } from '../../functions/http-agent.ts';
import type { InBandRegistration } from '../../functions/in-band-registration.ts';
import { requestSync } from '../../functions/sync-request.ts';
import type { Backpressure } from '../../jobs/queues/backpressure.ts';
import type { SyncOrigin } from '../../model/apps/deploy.ts';
import type { Unsupported } from '../../model/apps/unsupported-fields.ts';
import { PRODUCTION } from '../../model/environment.ts';
import { Composed } from '../../model/values/composed.ts';
import { describe } from '../../model/values/json.ts';
import type { Store } from '../../store/store.ts';
import { serviceErrorOf } from '../http/error-handler.ts';
import { notRegisteredHint } from './mode-hints.ts';
import { isHeld } from './origin-check.ts';
import { BODY_MAX_BYTES } from './register.ts';
import type { Registrar } from './registrar.ts';
import { type FunctionProblems, functionsOf, refusalOf } from './registration-problems.ts';

export interface SyncResult {
  /** Name of the app. */
  app: string;
  /** The requested URL, or the URL in the app's response. */
  url: string;
  /** All functions of the app. */
  functions: FunctionProblems[];
  /** undefined if the service acts on all fields. */
  unsupported: Unsupported | undefined;
}

export interface AppSyncDeps
  extends Pick<Store, 'apps' | 'functions' | 'environments' | 'signingKeys' | 'environmentKinds' | 'allowedOrigins'> {
  dev: boolean;
  /** The service's address, for apps on the same machine. */
  address: string;
  registrar: Registrar;
  backpressure: Backpressure;
  httpAgent: HttpAgent;
}

export class AppSync extends Composed<AppSyncDeps> {
  /** Resolves once the app has registered.
   *  @param by who requests it
   *  @param onlyApp the only app that may register; undefined: any
   *  @throws ServiceError app_unreachable, address_blocked, registration_invalid, registration_held, environment_archived,
   *  quota_exceeded, memory_short */
  async register(env: string, url: string, by: SyncOrigin, onlyApp?: string): Promise<SyncResult> {
    const { apps } = this.deps;
    const failed =
      (isMeant: Parameters<Store['apps']['recordSyncFailure']>[1], found: 'told' | 'asked') => (error: Error) =>
        apps
          .recordSyncFailure(env, isMeant, serviceErrorOf(error).message, Date.now(), found, by)
          .then(() => Promise.reject(error));
    const found = await this.#request(env, url, onlyApp).catch(failed((app) => app.url === url, 'asked'));
    const answered = 'functions' in found ? found.app : found.registration.appName;
    if (onlyApp !== undefined && answered !== onlyApp) throw otherApp(url, onlyApp, answered);
    if ('functions' in found) return found;
    const { registration } = found;
    return this.#registerInBand(env, url, registration, by).catch((error: Error) =>
      isHeld(error) ? Promise.reject(error) : failed(({ name }) => name === registration.appName, 'told')(error),
    );
  }

  /** The official Python SDK responds with 200 even if the service has rejected its registration. */
  async #request(
    env: string,
    url: string,
    onlyApp: string | undefined,
  ): Promise<{ registration: InBandRegistration } | SyncResult> {
    const { dev, address, apps, allowedOrigins, functions, signingKeys, environmentKinds, httpAgent } = this.deps;
    const before = new Map((await apps.all(env)).map(({ name, registeredAt }) => [name, registeredAt]));
    // Apps that do not register in their response send a registration of their own meanwhile.
    const endRequest = dev
      ? undefined
      : await allowedOrigins.startRequest(env, { urls: [url], app: onlyApp }, Date.now());
    const response = await requestSync({
      url,
      agent: httpAgent.for(await environmentKinds.of(env)),
      signingKey: dev ? undefined : await signingKeys.current(env),
      registrationMaxBytes: BODY_MAX_BYTES,
      hint: (dialect) => notRegisteredHint(dev ? address : undefined, dialect),
    }).finally(endRequest);
    if ('registration' in response) {
      rejectOtherEnvironment(env, response.registration);
      return response;
    }
    const registered = (await apps.all(env)).find(({ name, registeredAt }) => registeredAt !== before.get(name));
    const problem = registered
      ? registered.lastSync.error
      : `the app has not registered in the environment "${env}"; the response: ${response.text}`;
    if (registered === undefined || problem !== undefined) {
      throw new ServiceError('app_unreachable', {
        detail: `PUT ${url} responded with 200, but ${problem}${notRegisteredHint(dev ? address : undefined, response.dialect)}`,
      });
    }
    const own = (await functions.all(env)).functions.filter((fn) => fn.app === registered.name && !fn.archived);
    return {
      app: registered.name,
      url,
      functions: functionsOf(own),
      unsupported: registered.unsupported,
    };
  }

  /** @param askedUrl the URL that a person entered, not the URL in the app's response */
  async #registerInBand(
    env: string,
    askedUrl: string,
    { text, dialect, appName }: InBandRegistration,
    by: SyncOrigin,
  ): Promise<SyncResult> {
    const { environments, backpressure, registrar } = this.deps;
    if (environments.find(env)?.archivedAt !== undefined) {
      throw new ServiceError('environment_archived', { detail: describe(env) });
    }
    backpressure.admitRegistration();
    const parsed = await registrar.parse(text, dialect);
    const { registered, refused } = await registrar.register(env, parsed, by, { askedUrl });
    const problem = refusalOf(registered.length, refused);
    if (problem) throw problem;
    return {
      app: String(appName),
      url: parsed.registration.url,
      functions: functionsOf(registered),
      unsupported: parsed.checked.unsupported,
    };
  }
}

function otherApp(url: string, wanted: string, found: unknown): ServiceError {
  const detail = `the app at ${url} is ${JSON.stringify(found)}, not ${JSON.stringify(wanted)}, whose registration waits; nothing was allowed`;
  return new ServiceError('registration_invalid', { detail });
}

/** All branch environments share one key, so the signature does not distinguish them. */
function rejectOtherEnvironment(env: string, { env: selected = PRODUCTION }: InBandRegistration): void {
  if (selected === env) return;
  throw new ServiceError('registration_invalid', {
    detail: `the app selects the environment ${describe(selected)}, and was asked to register in "${env}"; register it there, or change its environment`,
  });
}
