/** Registers apps, whatever way their registration comes. */
import type { Config, FunctionLimits, Quotas } from '../../config.ts';
import { ServiceError } from '../../errors.ts';
import { localKey } from '../../functions/local-apps.ts';
import type { Admission } from '../../jobs/flow-control/admission.ts';
import type { TimerChecks } from '../../jobs/flow-control/timer-checks.ts';
import type { TimeoutTimers } from '../../jobs/runs/timeout-timers.ts';
import type { Schedules } from '../../jobs/timers/schedules.ts';
import type { Logger } from '../../log.ts';
import type { AppFunction, Dialect, Registration } from '../../model/apps/app.ts';
import { isConnected } from '../../model/apps/connection.ts';
import { changesOf, contentOf, type SyncOrigin } from '../../model/apps/deploy.ts';
import { originsOf } from '../../model/apps/held-registration.ts';
import {
  type AppVersion,
  asVersion,
  becomesActive,
  formerOf,
  isRegistrationOf,
  type Pin,
  type VersionChoices,
  type Versioning,
  withRamp,
} from '../../model/apps/versions.ts';
import { isFailureHandler } from '../../model/events/lifecycle.ts';
import { newId } from '../../model/ids.ts';
import { schedulesOf } from '../../model/schedules/schedules.ts';
import type { AppVersions } from '../../store/apps/app-versions.ts';
import type { App, Apps } from '../../store/apps/apps.ts';
import type { Deploys } from '../../store/apps/deploys.ts';
import type { ExpressionProblems } from '../../store/apps/expression-problems.ts';
import type { Functions, Replaced } from '../../store/apps/functions.ts';
import type { HeldRegistrations } from '../../store/apps/held-registrations.ts';
import { KeyedQueue } from '../../store/redis/keyed-queue.ts';
import { type CheckedFunctions, checkAll, parseRegistration, type SortedFunctions } from './check-registration.ts';
import type { OriginCheck, TrustedRegistration } from './origin-check.ts';
import { problemsOf, unsupportedRefusal } from './registration-problems.ts';

/** Maximum number of functions with problems per log line. */
const LOGGED_FUNCTIONS = 50;
/** Maximum number of unsupported fields per log line. */
const LOGGED_FIELDS = 20;
/** A registration that finds the app moved since its check is checked again. */
const TRIES_MAX = 5;

export interface RegistrarDeps {
  quotas: Quotas;
  functionLimits: FunctionLimits;
  /** Reaction to registrations with unsupported fields. */
  unsupported: Config['unsupported'];
  apps: Apps;
  appVersions: AppVersions;
  functions: Functions;
  heldRegistrations: Pick<HeldRegistrations, 'release'>;
  originCheck: Pick<OriginCheck, 'holdUnconfirmed' | 'trusted'>;
  deploys: Pick<Deploys, 'record'>;
  expressionProblems: ExpressionProblems;
  timerChecks: Pick<TimerChecks, 'checkNow'>;
  /** Applies changed limits to waiting calls. */
  admission: Pick<Admission, 'noteChange'>;
  timeoutTimers: Pick<TimeoutTimers, 'noteChange'>;
  schedules: Pick<Schedules, 'follow'>;
  log: Logger;
}

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

interface Applied {
  app: App;
  /** The app as it was. */
  before: App | undefined;
  functions: readonly AppFunction[];
  by: SyncOrigin;
}

/** Registers apps that send their registration, connect, or answer a sync request. */
export class Registrar {
  readonly #deps: RegistrarDeps;
  /** One registration per app at a time, so that the stored app and its functions are from the same registration. */
  readonly #queue = new KeyedQueue();
  /** Local apps that are probed at intervals (discovery.ts): their registrations without changes are logged at debug level only. */
  readonly repeated = new Set<string>();

  constructor(deps: RegistrarDeps) {
    this.#deps = deps;
  }

  /** Stores nothing.
   *  @throws ServiceError quota_exceeded, registration_invalid */
  async parse(text: string, dialect: Dialect): Promise<ParsedRegistration> {
    const { quotas, functionLimits, unsupported: policy } = this.#deps;
    const { registration, given } = parseRegistration(text, quotas);
    const checked = await checkAll(registration, given, dialect, functionLimits);
    if (policy === 'reject' && checked.unsupported) throw unsupportedRefusal(checked.unsupported);
    return { registration, checked, dialect };
  }

  /** `modified`: whether a function changed.
   *  @param confirm rejects if the registration no longer counts: a probe of the app may take a while
   *  @param askedUrl URL that the service asked, if this is the app's answer
   *  @throws ServiceError quota_exceeded, registration_held, overloaded */
  async register(
    env: string,
    parsed: ParsedRegistration,
    by: SyncOrigin,
    { askedUrl, confirm }: { askedUrl?: string; confirm?: () => Promise<void> } = {},
  ): Promise<Saved> {
    const { registration, checked, dialect } = parsed;
    for (let tries = 0; tries < TRIES_MAX; tries++) {
      // Outside of the queue, because it may send the app a request.
      const trusted = await this.#deps.originCheck.trusted(env, {
        registration,
        functions: checked.registered,
        before: await this.#deps.apps.read(env, registration.appName),
        by,
        askedUrl,
      });
      await confirm?.();
      const saved = await this.#queue.run(JSON.stringify([env, registration.appName]), () =>
        this.#save(env, trusted, checked, dialect),
      );
      if (!saved) continue;
      // A changed expression may no longer have the recorded problem.
      if (saved.modified) await this.#deps.expressionProblems.remove(env, idsOf(saved.registered));
      // Batches and debounces may be due earlier now.
      await this.#deps.timerChecks.checkNow(env, saved.changed);
      this.#log(env, parsed, saved, by);
      return saved;
    }
    throw new ServiceError('overloaded', { detail: 'other registrations move the app meanwhile; register it again' });
  }

  /** Logs the registration, and in a second line functions that do not work as configured. */
  #log(env: string, { registration, checked }: ParsedRegistration, saved: Saved, by: SyncOrigin): void {
    const { log } = this.#deps;
    const { appName: app, url, sdk, framework } = registration;
    const { registered, refused, modified, declinedUrl } = saved;
    const { unsupported } = checked;
    // Developers do not write these as functions, and count without them.
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
    const { apps, appVersions, originCheck } = this.#deps;
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
        ? await this.#apply(env, { app: { ...app, ...rest }, before, functions, by })
        : await this.#keep(env, { ...before, registeredAt: app.registeredAt, lastSync: app.lastSync }, functions);
    const present = originsOf([app.url, ...saved.registered.map(({ url }) => url)]);
    await this.#deps.heldRegistrations.release(env, appName, ({ origins }) =>
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
    const { appVersions } = this.#deps;
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
    const stored = { ...versionOf(app, version, functions), ...(sharesUrl && { sharesUrl }) };
    await appVersions.save(env, app.name, stored, isActive ? version : active);
    if (isActive && choices.chosen !== undefined && choices.chosen !== version) {
      await appVersions.choose(env, app.name, ({ chosen: _, ramp: __, ...others }) => others);
    }
    return {
      functions: version === active ? await this.#ramped(env, app.name, functions, choices) : functions,
      isActive,
    };
  }

  /** The functions of the active version, with the version that ramps up. */
  async #ramped(
    env: string,
    app: string,
    functions: readonly AppFunction[],
    { ramp, versioning }: VersionChoices,
  ): Promise<AppFunction[]> {
    const known = ramp && (await this.#deps.appVersions.read(env, { app, version: ramp.version }));
    return withRamp(functions, known && { ...ramp, functions: known.functions }, versioning);
  }

  /** Whether a version is at the URL of the app. */
  async #isTaken(env: string, { name, url }: App): Promise<boolean> {
    if (isConnected(url)) return false;
    return (await this.#deps.appVersions.all(env, name)).some((version) => version.url === url);
  }

  /** Some kinds of registration do not name the build: the active version, if it registered the same. */
  async #unnamedVersion(
    env: string,
    app: App,
    functions: readonly AppFunction[],
    active: string | undefined,
  ): Promise<string | undefined> {
    const known =
      active === undefined ? undefined : await this.#deps.appVersions.read(env, { app: app.name, version: active });
    return known && isRegistrationOf(known, app, functions) ? active : undefined;
  }

  /** A registration of a version that is not the active one: new runs do not start on it. */
  async #keep(env: string, app: App, registered: AppFunction[]): Promise<Saved & Pick<Replaced, 'changed'>> {
    await this.#deps.apps.save(env, app);
    return { registered, refused: [], modified: false, changed: [] };
  }

  /** Makes these the functions of the app. */
  async #apply(env: string, { app, before, functions: given, by }: Applied): Promise<Replaced> {
    const { apps, functions, schedules, quotas } = this.#deps;
    // First: if this process dies in between, resetting the timers changes nothing.
    await this.#noteChangedTimeouts(env, given);
    const release = await apps.claim(env, app, quotas.apps);
    const saved = await functions
      .replaceForApp(env, app.name, given, quotas.functions, app.refused)
      .catch(async (error) => {
        await release();
        throw error;
      });
    if (saved.modified) {
      const ids = saved.registered.map(({ id }) => id);
      await this.#deps.admission.noteChange(env, ids);
    }
    const gone = saved.previous.flatMap((fn) => schedulesOf(env, fn));
    // Even without a change: an earlier registration may have died before storing its schedules.
    if (gone.length > 0 || saved.registered.some((fn) => fn.triggers.some(({ cron }) => cron !== undefined))) {
      await schedules.follow(env, gone);
    }
    const isDeploy = await this.#recordDeploy(env, before, app, by, saved);
    const refused = [...(app.refused ?? []), ...saved.refused];
    const deployId = app.deployId ?? (isDeploy ? undefined : before?.deployId);
    await apps.save(env, {
      ...app,
      deployId,
      ...(before?.lastFailure && { lastFailure: before.lastFailure }),
      ...(refused.length > 0 && { refused }),
    });
    if (deployId !== undefined && deployId !== before?.deployId) {
      await this.#deps.appVersions.recordActive(env, { app: app.name, version: deployId }, Date.now());
    }
    return saved;
  }

  /** Makes a version the active one: its functions are those of the app again, and new runs start on it; or only a share of them, and the rest on the
   *  version that was active.
   *  @param percent the share of new runs of pinned functions, from 0 to 100
   *  @throws ServiceError not_found, input_invalid, quota_exceeded */
  async activate(env: string, { app: name, version }: Pin, by: SyncOrigin, percent = 100): Promise<void> {
    const { appVersions } = this.#deps;
    await this.#changeApp(env, name, async (before) => {
      const known = await appVersions.all(env, name);
      if (!known.some((one) => one.version === version)) {
        throw new ServiceError('not_found', { detail: `the app "${name}" has no version "${version}"` });
      }
      const { ramp: former, ...choices } = await appVersions.choices(env, name);
      const active =
        percent === 100
          ? known.find((one) => one.version === version)
          : formerOf(known, version, { active: before.deployId, ramp: former });
      if (!active) {
        const detail = `no other version of the app "${name}" was active, on which the other runs would start`;
        throw new ServiceError('input_invalid', { detail });
      }
      const { url, sdk, framework, dialect, sharesUrl = false } = active;
      const isOther = percent === 0 && version !== before.deployId && version !== former?.version;
      const ramp = isOther ? former : percent > 0 && percent < 100 ? { version, percent } : undefined;
      const chosen = { ...choices, chosen: active.version, ...(ramp && { ramp }) };
      const own = asVersion(active.functions, active.version, { setting: choices.versioning, sharesUrl });
      const functions = await this.#ramped(env, name, own, chosen);
      if (ramp && !functions.some((fn) => fn.ramp)) {
        const detail = `no function of the versions "${active.version}" and "${version}" is pinned, so that a run has no version`;
        throw new ServiceError('input_invalid', { detail });
      }
      const app = { ...before, url, sdk, framework, dialect, deployId: active.version };
      // First: registrations of other versions that come meanwhile do not change it back.
      await appVersions.choose(env, name, () => chosen);
      const saved = await this.#apply(env, { app, before, functions, by });
      await this.#deps.timerChecks.checkNow(env, saved.changed);
    });
  }

  /** Says whether runs of an app are pinned, of functions that do not say.
   *  @throws ServiceError not_found */
  async setVersioning(env: string, name: string, versioning: Versioning | undefined): Promise<void> {
    const { appVersions, functions, quotas } = this.#deps;
    await this.#changeApp(env, name, async (app) => {
      const { versioning: _, ...others } = await appVersions.choices(env, name);
      const choices = { ...others, ...(versioning && { versioning }) };
      await appVersions.choose(env, name, () => choices);
      const own = (await functions.all(env)).functions.filter((fn) => fn.app === name && !fn.archived && !fn.endpoint);
      const version = app.deployId;
      const known = version === undefined ? undefined : await appVersions.read(env, { app: name, version });
      const sharesUrl = known?.sharesUrl === true;
      const changed = asVersion(own.map(withoutPause), version, { setting: versioning, sharesUrl });
      // An earlier release of the service did not store it.
      if (version !== undefined && !known) {
        await appVersions.save(env, name, versionOf(app, version, changed), version);
      }
      const ramped = await this.#ramped(env, name, changed, choices);
      await functions.replaceForApp(env, name, ramped, quotas.functions, app.refused);
    });
  }

  /** @throws ServiceError not_found */
  #changeApp(env: string, name: string, change: (app: App) => Promise<void>): Promise<void> {
    return this.#queue.run(JSON.stringify([env, name]), async () => {
      const app = await this.#deps.apps.read(env, name);
      if (!app) throw new ServiceError('not_found', { detail: `there is no app named "${name}"` });
      await change(app);
    });
  }

  /** If this process dies between the change and this, the history lacks the deploy.
   *  @returns whether anything changed */
  async #recordDeploy(env: string, before: App | undefined, app: App, by: SyncOrigin, saved: Replaced) {
    const { registered, previous, changed } = saved;
    const present = new Set(idsOf(registered));
    const removed = changed.filter((id) => !present.has(id));
    const changes = changesOf(before, app, { previous, registered, removed });
    if (!changes) return false;
    const { name, url, sdk, framework, deployId, registeredAt: at } = app;
    const facts = { url, sdk, framework, deployId };
    const content = contentOf(facts, registered);
    await this.#deps.deploys.record(env, { id: newId(at), app: name, at, by, ...facts, ...changes, content });
    return true;
  }

  /** Changed timeouts also apply to existing runs. */
  async #noteChangedTimeouts(env: string, given: readonly AppFunction[]): Promise<void> {
    const known = new Map((await this.#deps.functions.all(env)).functions.map((fn) => [fn.id, fn]));
    const changed = given.filter((fn) => {
      const before = known.get(fn.id);
      return before && JSON.stringify(before.config.timeouts) !== JSON.stringify(fn.config.timeouts);
    });
    if (changed.length > 0) await this.#deps.timeoutTimers.noteChange(env, idsOf(changed), Date.now());
  }
}

function versionOf(app: App, version: string, functions: AppFunction[]): AppVersion {
  const { url, sdk, framework, dialect, registeredAt } = app;
  return { version, url, sdk, framework, dialect, registeredAt, seenAt: registeredAt, functions };
}

/** Pauses are stored separately. */
function withoutPause({ pausedAt: _, held: __, cancelQueuedBefore: ___, ...fn }: AppFunction): AppFunction {
  return fn;
}

function idsOf(functions: readonly { id: string }[]): string[] {
  return functions.map(({ id }) => id);
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
