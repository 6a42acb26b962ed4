/** Holds registrations that would move an app to an origin that nobody has allowed, and keeps an app's known path while the app answers
 *  there: SDKs derive the URL of an app from a request that anybody may send (docs/security.md#addresses-of-apps). */
import { ServiceError } from '../../errors.ts';
import type { Logger } from '../../log.ts';
import type { AppFunction, Registration } from '../../model/apps/app.ts';
import type { SyncOrigin } from '../../model/apps/deploy.ts';
import { atKnownPath, withKnownPath, withTrustedQuery } from '../../model/apps/given-urls.ts';
import { heldIdOf, namesItsUrl, originsOf, unconfirmedOrigins } from '../../model/apps/held-registration.ts';
import { PRODUCTION } from '../../model/environment.ts';
import { Composed } from '../../model/values/composed.ts';
import { shellWord } from '../../model/values/shell-word.ts';
import type { App } from '../../store/apps/apps.ts';
import type { Store } from '../../store/store.ts';
import type { KnownPaths } from './known-paths.ts';

export interface OriginCheckDeps extends Pick<Store, 'allowedOrigins' | 'heldRegistrations'> {
  dev: boolean;
  /** Setting APP_ORIGINS. */
  appOrigins: readonly string[];
  /** Setting NEW_APPS. */
  newApps: 'accept' | 'hold';
  functions: Pick<Store['functions'], 'all'>;
  knownPaths: Pick<KnownPaths, 'isKept'>;
  log: Logger;
}

export interface CheckedRegistration {
  registration: Registration;
  functions: readonly AppFunction[];
  /** The registered app; undefined if it is unknown. */
  before: App | undefined;
  by: SyncOrigin;
  /** The URL that a person asked for, if this registration is the response. */
  askedUrl: string | undefined;
}

/** A registration with the URL that counts. */
export interface TrustedRegistration extends CheckedRegistration {
  /** The reported URL has another path, which is ignored because the app still responds at the known path. */
  declinedUrl?: string;
}

/** Maximum number of origins in a log line or a message. */
const NAMED_ORIGINS = 10;

export class OriginCheck extends Composed<OriginCheckDeps> {
  /** Ignores a query that only the app reports, and a new path while the app still responds at the known path. */
  async trusted(env: string, checked: CheckedRegistration): Promise<TrustedRegistration> {
    const { registration, functions, before, by, askedUrl } = checked;
    // The response to a sync request has the query of the request.
    if (this.deps.dev || !namesItsUrl(by) || askedUrl !== undefined) return checked;
    const trusted = { ...checked, ...withTrustedQuery(registration, functions, before?.url) };
    const { url } = trusted.registration;
    const known = before && atKnownPath(url, before.url);
    if (known === undefined && url === registration.url) return trusted;
    if (await this.#isAsked(env, registration)) return checked;
    if (known === undefined || !(await this.#isStillAt(env, known, trusted))) return trusted;
    return {
      ...trusted,
      ...withKnownPath(trusted.registration, trusted.functions, known),
      declinedUrl: new URL(url).href,
    };
  }

  /** No request is sent to an origin that waits for confirmation. */
  async #isStillAt(env: string, url: string, { before, ...checked }: CheckedRegistration): Promise<boolean> {
    if (before === undefined || (await this.#unconfirmed(env, { before, ...checked })).length > 0) return false;
    return this.deps.knownPaths.isKept(env, { url, dialect: before.dialect });
  }

  /** Whether the app registers by its own request after a person has just asked it to register at this URL. */
  async #isAsked(env: string, { appName, url }: Registration): Promise<boolean> {
    const [origin] = originsOf([url]);
    const requested = await this.deps.allowedOrigins.requested(env, appName, Date.now());
    return origin !== undefined && requested.includes(origin);
  }

  /** Stores a held registration, for people to see.
   *  @throws ServiceError registration_held */
  async holdUnconfirmed(env: string, checked: CheckedRegistration): Promise<void> {
    const { dev, heldRegistrations, log } = this.deps;
    if (dev || !namesItsUrl(checked.by)) return;
    const origins = await this.#unconfirmed(env, checked);
    if (origins.length === 0) return;
    const { registration, functions, before } = checked;
    const { appName: app, url, sdk, framework } = registration;
    const id = heldIdOf(app, origins, url);
    const held = { id, app, origins, url, sdk, framework: framework ?? undefined, functionCount: functions.length };
    const holding = await heldRegistrations.hold(env, held, Date.now());
    const isKept = holding !== 'refused';
    const line = {
      env,
      app,
      origins: origins.slice(0, NAMED_ORIGINS),
      present: before?.url,
      ...(isKept && { held: id }),
    };
    log[holding === 'first' ? 'warn' : 'debug'](line, isKept ? 'registration held' : 'registration refused');
    throw new ServiceError('registration_held', {
      detail: whatToDo(env, app, origins, isKept ? id : undefined, before),
      ...(isKept && { facts: { held: id } }),
    });
  }

  async #unconfirmed(
    env: string,
    { registration: { appName, url }, functions, before, askedUrl }: CheckedRegistration,
  ): Promise<string[]> {
    const { appOrigins, newApps, allowedOrigins } = this.deps;
    const asked = askedUrl === undefined ? [] : originsOf([askedUrl]);
    const given = originsOf([url, ...functions.map((fn) => fn.url)]);
    const origins = { given, allowed: [...appOrigins, ...asked], holdsNewApps: newApps === 'hold' };
    const present = before && originsOf([before.url]);
    // Nearly all registrations return here.
    if (unconfirmedOrigins({ ...origins, present }).length === 0) return [];
    const [allowed, requested, own] = await Promise.all([
      allowedOrigins.of(env, appName),
      allowedOrigins.requested(env, appName, Date.now()),
      before ? this.#urlsOf(env, appName) : [],
    ]);
    return unconfirmedOrigins({
      ...origins,
      present: present && [...present, ...originsOf(own)],
      allowed: [...origins.allowed, ...allowed, ...requested],
    });
  }

  /** URLs of the app and its functions, which may differ. */
  async #urlsOf(env: string, app: string): Promise<string[]> {
    const { functions } = await this.deps.functions.all(env);
    return functions.filter((fn) => fn.app === app && !fn.archived).map(({ url }) => url);
  }
}

/** A held registration does not change the app. */
export function isHeld(error: unknown): boolean {
  return error instanceof ServiceError && error.code === 'registration_held';
}

/** The app's SDK prints this. */
function whatToDo(
  env: string,
  app: string,
  origins: readonly string[],
  id: string | undefined,
  before: App | undefined,
): string {
  const inEnv = env === PRODUCTION ? '' : ` --env ${env}`;
  const named = origins.slice(0, NAMED_ORIGINS);
  const more = origins.length > named.length ? `, and ${origins.length - named.length} more` : '';
  const confirm =
    id === undefined
      ? `As many registrations wait already as may, so this one does not. If it is right, allow it and register again: "tidegate apps allow ${[app, ...named].map(shellWord).join(' ')}${inEnv}"`
      : `If that is right, confirm it: "tidegate apps confirm ${id}${inEnv}", or Apps in the dashboard`;
  const state = before
    ? `the app ${JSON.stringify(app)} is at ${new URL(before.url).origin} and stays there, as it was registered`
    : `the app ${JSON.stringify(app)} is new, and is not registered`;
  return (
    `${state}: nobody has allowed ${named.join(', ')}${more}. ${confirm}. ` +
    `If not, somebody sent the app a request with another Host: set its serveOrigin`
  );
}
