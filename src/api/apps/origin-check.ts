/** Holds registrations by which an app would move to an origin that nobody has allowed: SDKs take the URL of an app from the `Host` of a request that
 *  anybody may make (docs/security.md#addresses-of-apps). */
import { ServiceError } from '../../errors.ts';
import type { Logger } from '../../log.ts';
import type { AppFunction, Registration } from '../../model/apps/app.ts';
import type { SyncOrigin } from '../../model/apps/deploy.ts';
import { heldIdOf, isSelfRegistered, originsOf, unconfirmedOrigin } from '../../model/apps/held-registration.ts';
import { PRODUCTION } from '../../model/environment.ts';
import type { AllowedOrigins } from '../../store/apps/allowed-origins.ts';
import type { App } from '../../store/apps/apps.ts';
import type { Functions } from '../../store/apps/functions.ts';
import type { HeldRegistrations } from '../../store/apps/held-registrations.ts';

export interface OriginCheckDeps {
  dev: boolean;
  /** Setting APP_ORIGINS. */
  appOrigins: readonly string[];
  /** Setting NEW_APPS. */
  newApps: 'accept' | 'hold';
  allowedOrigins: AllowedOrigins;
  heldRegistrations: HeldRegistrations;
  functions: Pick<Functions, 'all'>;
  log: Logger;
}

export class OriginCheck {
  readonly #deps: OriginCheckDeps;

  constructor(deps: OriginCheckDeps) {
    this.#deps = deps;
  }

  /** Keeps a registration that waits, for people to see.
   *  @param before the app as it is; undefined: it is not known
   *  @throws ServiceError registration_held */
  async holdUnconfirmed(
    env: string,
    registration: Registration,
    functions: readonly AppFunction[],
    before: App | undefined,
    by: SyncOrigin,
  ): Promise<void> {
    const { dev, heldRegistrations, log } = this.#deps;
    if (dev || !isSelfRegistered(by)) return;
    const origin = await this.#unconfirmed(env, registration, functions, before);
    if (origin === undefined) return;
    const { appName: app, url, sdk, framework } = registration;
    const id = heldIdOf(app, origin, url);
    const held = { id, app, origin, url, sdk, framework: framework ?? undefined, functionCount: functions.length };
    const isFirst = await heldRegistrations.hold(env, held, Date.now());
    log[isFirst ? 'warn' : 'debug']({ env, app, origin, present: before?.url, held: id }, 'registration held');
    throw new ServiceError('registration_held', {
      detail: whatToDo(env, app, origin, id, before),
      facts: { held: id },
    });
  }

  async #unconfirmed(
    env: string,
    { appName, url }: Registration,
    functions: readonly AppFunction[],
    before: App | undefined,
  ): Promise<string | undefined> {
    const { appOrigins, newApps, allowedOrigins } = this.#deps;
    const given = originsOf([url, ...functions.map((fn) => fn.url)]);
    const origins = { given, allowed: appOrigins, holdsNewApps: newApps === 'hold' };
    const present = before && originsOf([before.url]);
    // Nearly all registrations end here.
    if (unconfirmedOrigin({ ...origins, present }) === undefined) return undefined;
    const [allowed, requested, own] = await Promise.all([
      allowedOrigins.of(env, appName),
      allowedOrigins.requested(env, Date.now()),
      before ? this.#urlsOf(env, appName) : [],
    ]);
    return unconfirmedOrigin({
      ...origins,
      present: present && [...present, ...originsOf(own)],
      allowed: [...appOrigins, ...allowed, ...requested],
    });
  }

  /** Functions of an app may be at other URLs than the app. */
  async #urlsOf(env: string, app: string): Promise<string[]> {
    const { functions } = await this.#deps.functions.all(env);
    return functions.filter((fn) => fn.app === app && !fn.archived).map(({ url }) => url);
  }
}

/** The app's SDK prints this. */
function whatToDo(env: string, app: string, origin: string, id: string, before: App | undefined): string {
  const inEnv = env === PRODUCTION ? '' : ` --env ${env}`;
  const state = before
    ? `the app ${JSON.stringify(app)} is at ${new URL(before.url).origin} and stays there, as it was registered`
    : `the app ${JSON.stringify(app)} is new, and is not registered`;
  return (
    `${state}: nobody has allowed ${origin}. If that is right, confirm it: "tidegate apps confirm ${id}${inEnv}", or Apps in the dashboard. ` +
    `If not, somebody sent the app a request with another Host: set its serveOrigin`
  );
}
