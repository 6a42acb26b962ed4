/** Registers apps, whichever way a registration was received. */
import type { Config, FunctionLimits, Quotas } from '../../config.ts';
import { ServiceError } from '../../errors.ts';
import { localKey } from '../../functions/local-apps.ts';
import type { TimerChecks } from '../../jobs/flow-control/timer-checks.ts';
import type { Logger } from '../../log.ts';
import type { AppFunction, Dialect, Registration } from '../../model/apps/app.ts';
import { isConnected } from '../../model/apps/connection.ts';
import type { SyncOrigin } from '../../model/apps/deploy.ts';
import { originsOf } from '../../model/apps/held-registration.ts';
import { asVersion, becomesActive, isRegistrationOf, type VersionChoices } from '../../model/apps/versions.ts';
import { isFailureHandler } from '../../model/events/lifecycle.ts';
import { Composed } from '../../model/values/composed.ts';
import type { App } from '../../store/apps/apps.ts';
import type { Replaced } from '../../store/apps/functions.ts';
import type { Store } from '../../store/store.ts';
import { type AppChanges, idsOf, versionOf } from './app-changes.ts';
import { type CheckedFunctions, checkAll, parseRegistration, type SortedFunctions } from './check-registration.ts';
import type { OriginCheck, TrustedRegistration } from './origin-check.ts';
import { problemsOf, unsupportedRefusal } from './registration-problems.ts';

/** Maximum number of functions with problems per log line. */
const LOGGED_FUNCTIONS = 50;
/** Maximum number of unsupported fields per log line. */
const LOGGED_FIELDS = 20;
/** A registration that finds the app moved since its check is checked again. */
const TRIES_MAX = 5;

/** `modified`: whether a function changed. */
export type Saved = SortedFunctions & Pick<Replaced, 'modified'> & Pick<TrustedRegistration, 'declinedUrl'>;

/** Origin of registrations by the app itself. */
export const BY_APP: SyncOrigin = { kind: 'app' };
export const BY_CONNECTION: SyncOrigin = { kind: 'connection' };

export interface ParsedRegistration {
  registration: Registration;
  checked: CheckedFunctions;
  dialect: Dialect;
}

/** Registers apps that send their registration, connect, or answer a sync request. */
export class Registrar extends Composed<
  Pick<Store, 'apps' | 'appVersions' | 'heldRegistrations' | 'expressionProblems'> & {
    quotas: Quotas;
    functionLimits: FunctionLimits;
    /** Reaction to registrations with unsupported fields. */
    unsupported: Config['unsupported'];
    appChanges: AppChanges;
    originCheck: Pick<OriginCheck, 'holdUnconfirmed' | 'trusted'>;
    timerChecks: Pick<TimerChecks, 'checkNow'>;
    log: Logger;
  }
> {
  /** Local apps that are probed at intervals (discovery.ts): their registrations without changes are logged at debug level only. */
  readonly repeated = new Set<string>();

  /** Stores nothing.
   *  @throws ServiceError quota_exceeded, registration_invalid */
  async parse(text: string, dialect: Dialect): Promise<ParsedRegistration> {
    const { quotas, functionLimits, unsupported: policy } = this.deps;
    const { registration, given } = parseRegistration(text, quotas);
    const checked = await checkAll(registration, given, dialect, functionLimits);
    if (policy === 'reject' && checked.unsupported) throw unsupportedRefusal(checked.unsupported);
    return { registration, checked, dialect };
  }

  /** `modified`: whether a function changed.
   *  @param confirm rejects if the registration no longer counts: a probe of the app may take a while
   *  @param askedUrl URL that the service asked, if this is the app's response
   *  @throws ServiceError quota_exceeded, registration_held, overloaded */
  async register(
    env: string,
    parsed: ParsedRegistration,
    by: SyncOrigin,
    { askedUrl, confirm }: { askedUrl?: string; confirm?: () => Promise<void> } = {},
  ): Promise<Saved> {
    const { registration, checked, dialect } = parsed;
    for (let tries = 0; tries < TRIES_MAX; tries++) {
      // This is outside of the queue, because it may send the app a request.
      const trusted = await this.deps.originCheck.trusted(env, {
        registration,
        functions: checked.registered,
        before: await this.deps.apps.read(env, registration.appName),
        by,
        askedUrl,
      });
      await confirm?.();
      const saved = await this.deps.appChanges.inTurn(env, registration.appName, () =>
        this.#save(env, trusted, checked, dialect),
      );
      if (!saved) continue;
      // A changed expression may no longer have the recorded problem.
      if (saved.modified) await this.deps.expressionProblems.remove(env, idsOf(saved.registered));
      // Batches and debounces may be due earlier now.
      await this.deps.timerChecks.checkNow(env, saved.changed);
      this.#log(env, parsed, saved, by);
      return saved;
    }
    throw new ServiceError('overloaded', { detail: 'other registrations move the app meanwhile; register it again' });
  }

  /** Logs the registration, and in a second line functions that do not work as configured. */
  #log(env: string, { registration, checked }: ParsedRegistration, saved: Saved, by: SyncOrigin): void {
    const { log } = this.deps;
    const { appName: app, url, sdk, framework } = registration;
    const { registered, refused, modified, declinedUrl } = saved;
    const { unsupported } = checked;
    // Developers do not write these as functions, and do not count them.
    const failureHandlers = registered.filter(isFailureHandler).length;
    const line = {
      env,
      app,
      url,
      sdk,
      framework: framework ?? undefined,
      by: by.name ?? by.kind,
      modified,
      functions: registered.length - failureHandlers,
      ...(failureHandlers > 0 && { failureHandlers }),
      ...(refused.length > 0 && { refused: refused.length }),
      ...(unsupported && {
        unsupported: unsupported.fields
          .slice(0, LOGGED_FIELDS)
          .map(({ function: id, field }) => `${id ?? app}: ${field}`),
        unsupportedCount: unsupported.count,
      }),
    };
    const key = localKey(url);
    log[!modified && key !== undefined && this.repeated.has(key) ? 'debug' : 'info'](line, 'app registered');
    if (declinedUrl !== undefined) log.warn({ env, app, declinedUrl }, 'app stays at its path, where it still is');
    const problems = modified ? problemsOf(registered) : [];
    if (problems.length === 0) return;
    const functions = problems.slice(0, LOGGED_FUNCTIONS);
    const more = problems.length - functions.length;
    log.warn({ env, app, functions, ...(more > 0 && { more }) }, 'functions do not work as configured');
  }

  /** @returns undefined: the app has moved since its URL was checked */
  async #save(
    env: string,
    trusted: TrustedRegistration,
    checked: CheckedFunctions,
    dialect: Dialect,
  ): Promise<(Saved & Pick<Replaced, 'changed'>) | undefined> {
    const { apps, appVersions, appChanges, originCheck } = this.deps;
    const { registration, by, declinedUrl } = trusted;
    const { appName } = registration;
    const before = await apps.read(env, appName);
    if (before?.url !== trusted.before?.url) return undefined;
    await originCheck.holdUnconfirmed(env, { ...trusted, before });
    const app = appOf(registration, dialect, by, Date.now());
    const choices = await appVersions.choices(env, appName);
    const { functions, isActive } = await this.#versioned(env, app, trusted.functions, before, choices);
    const rest = {
      ...(checked.refused.length > 0 && { refused: checked.refused }),
      ...(checked.unsupported && { unsupported: checked.unsupported }),
      ...(declinedUrl !== undefined && { declinedUrl }),
    };
    const saved =
      isActive || !before
        ? await appChanges.apply(env, { app: { ...app, ...rest }, before, functions, by })
        : await this.#keep(env, { ...before, registeredAt: app.registeredAt, lastSync: app.lastSync }, functions);
    const present = originsOf([app.url, ...saved.registered.map(({ url }) => url)]);
    await this.deps.heldRegistrations.release(env, appName, ({ origins }) =>
      origins.every((origin) => present.includes(origin)),
    );
    const refused = [...checked.refused, ...saved.refused];
    return { ...saved, refused, ...(declinedUrl !== undefined && { declinedUrl }) };
  }

  /** Stores the version of a registration, before any run may be pinned to it.
   *  @returns its functions as they are stored, and whether it becomes the active version */
  async #versioned(
    env: string,
    app: App,
    given: readonly AppFunction[],
    before: App | undefined,
    choices: VersionChoices,
  ): Promise<{ functions: AppFunction[]; isActive: boolean }> {
    const { appVersions, appChanges } = this.deps;
    const active = before?.deployId;
    const version = app.deployId ?? (await this.#unnamedVersion(env, app, given, active));
    const known = version === undefined ? undefined : await appVersions.read(env, { app: app.name, version });
    const sharesUrl = known ? known.sharesUrl === true : version !== undefined && (await this.#isTaken(env, app));
    const functions = asVersion(given, version, { setting: choices.versioning, sharesUrl });
    if (version === undefined) {
      if (choices.ramp) await appVersions.choose(env, app.name, ({ ramp: _, ...others }) => others);
      return { functions, isActive: true };
    }
    const isPinned = functions.some((fn) => fn.version !== undefined);
    const isActive = becomesActive({ version, wasActive: known?.activeAt !== undefined, isPinned }, active, choices);
    const stored = {
      ...versionOf(app, version, functions),
      ...(sharesUrl && { sharesUrl }),
      // An earlier release of the service did not store the version.
      ...(version === active && known?.activeAt === undefined && { activeAt: app.registeredAt }),
    };
    await appVersions.save(env, app.name, stored, isActive ? version : active);
    if (isActive && choices.chosen !== undefined && choices.chosen !== version) {
      await appVersions.choose(env, app.name, ({ chosen: _, ramp: __, aborted: ___, ...others }) => others);
    }
    return {
      functions: version === active ? await appChanges.ramped(env, app.name, functions, choices) : functions,
      isActive,
    };
  }

  /** Whether a version is at the URL of the app. */
  async #isTaken(env: string, { name, url }: App): Promise<boolean> {
    if (isConnected(url)) return false;
    return (await this.deps.appVersions.all(env, name)).some((version) => version.url === url);
  }

  /** Finds the version of a registration that does not name its build: the active version, if that registered the same. */
  async #unnamedVersion(
    env: string,
    app: App,
    functions: readonly AppFunction[],
    active: string | undefined,
  ): Promise<string | undefined> {
    const known =
      active === undefined ? undefined : await this.deps.appVersions.read(env, { app: app.name, version: active });
    return known && isRegistrationOf(known, app, functions) ? active : undefined;
  }

  /** Stores a registration of a version that is not the active one: new runs do not start on it. */
  async #keep(env: string, app: App, registered: AppFunction[]): Promise<Saved & Pick<Replaced, 'changed'>> {
    await this.deps.apps.save(env, app);
    return { registered, refused: [], modified: false, changed: [] };
  }
}

function appOf(
  { appName, url, sdk, framework, deployId, appVersion }: Registration,
  dialect: Dialect,
  by: SyncOrigin,
  nowMs: number,
): App {
  return {
    name: appName,
    url,
    sdk,
    framework: framework ?? undefined,
    deployId: (deployId || appVersion) ?? undefined,
    dialect,
    registeredAt: nowMs,
    lastSync: { at: nowMs, by },
  };
}
