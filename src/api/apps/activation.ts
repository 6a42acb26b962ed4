/** Decisions of people about the versions of an app: which version is active, and whether its runs are pinned (docs/change-code-safely.md). */
import type { Quotas } from '../../config.ts';
import { ServiceError } from '../../errors.ts';
import type { TimerChecks } from '../../jobs/flow-control/timer-checks.ts';
import type { Logger } from '../../log.ts';
import type { MetricsRecorder } from '../../metrics/recorder.ts';
import type { AppFunction } from '../../model/apps/app.ts';
import type { SyncOrigin } from '../../model/apps/deploy.ts';
import {
  type AbortBound,
  type ActivationMode,
  type AppVersion,
  asVersion,
  formerOf,
  type GivenRamp,
  type Pin,
  type RampEnds,
  type VersionChoices,
  type Versioning,
} from '../../model/apps/versions.ts';
import { Composed } from '../../model/values/composed.ts';
import type { App } from '../../store/apps/apps.ts';
import type { Store } from '../../store/store.ts';
import { type AppChanges, versionOf } from './app-changes.ts';

export interface ActivateOptions {
  /** The share of new runs of pinned functions, from 0 to 100. Default: 100. */
  percent?: number;
  /** Failures at which a share from 1 to 99 is taken back. */
  abortWhen?: AbortBound | undefined;
}

interface Start {
  before: App;
  choices: VersionChoices;
  by: SyncOrigin;
}

export class Activation extends Composed<{
  quotas: Quotas;
  appVersions: Store['appVersions'];
  functions: Store['functions'];
  appChanges: AppChanges;
  timerChecks: Pick<TimerChecks, 'checkNow'>;
  auditLog: Pick<Store['auditLog'], 'append'>;
  recorder: Pick<MetricsRecorder, 'rampAborted'>;
  log: Logger;
}> {
  /** Makes a version the active one: its functions are those of the app again, and new runs start on it. With `percent`, only this share of
   *  new runs does, and the others start on the version that was active.
   *  @throws ServiceError not_found, input_invalid, quota_exceeded */
  async activate(
    env: string,
    { app, version }: Pin,
    by: SyncOrigin,
    { percent = 100, abortWhen }: ActivateOptions = {},
  ): Promise<void> {
    const { appVersions, appChanges } = this.deps;
    await appChanges.ofKnown(env, app, async (before) => {
      const known = await appVersions.all(env, app);
      if (!known.some((appVersion) => appVersion.version === version)) {
        throw new ServiceError('not_found', { detail: `the app "${app}" has no version "${version}"` });
      }
      const { ramp: former, aborted: _, ...choices } = await appVersions.choices(env, app);
      const active =
        percent === 100
          ? known.find((appVersion) => appVersion.version === version)
          : formerOf(known, version, { active: before.deployId, ramp: former });
      if (!active) {
        const detail = `no other version of the app "${app}" was active, on which the other runs would start`;
        throw new ServiceError('input_invalid', { detail });
      }
      const isOther = percent === 0 && version !== before.deployId && version !== former?.version;
      const given = percent > 0 && percent < 100 && { version, percent, ...(abortWhen && { abortWhen }) };
      const ramp = given || (isOther ? former : undefined);
      if (given) await appVersions.startCountingEnds(env, { app, version });
      await this.#startOn(env, active, { before, choices: { ...choices, ...(ramp && { ramp }) }, by });
    });
  }

  /** Starts no more runs on a version whose ramp has exceeded its bound, unless a person or a registration has changed the ramp in the
   *  meantime. */
  async abort(env: string, app: string, ramp: GivenRamp & { abortWhen: AbortBound }, ends: RampEnds): Promise<void> {
    const { appVersions, appChanges, auditLog, recorder, log } = this.deps;
    const { version, percent, abortWhen } = ramp;
    const at = Date.now();
    const isAborted = await appChanges.ofKnown(env, app, async (before) => {
      const { ramp: current, ...choices } = await appVersions.choices(env, app);
      const active = (await appVersions.all(env, app)).find((appVersion) => appVersion.version === before.deployId);
      if (!active || JSON.stringify(current) !== JSON.stringify(ramp)) return false;
      const by = { kind: 'activation', name: 'abort_when' } as const;
      await this.#startOn(env, active, { before, choices: { ...choices, aborted: { ...ramp, ...ends, at } }, by });
      return true;
    });
    if (!isAborted) return;
    recorder.rampAborted();
    log.warn({ env, app, version, percent, abortWhen, ...ends }, 'the ramp of a version aborted itself');
    await auditLog.append({
      at,
      who: { kind: 'setting', id: 'abort_when', name: 'the bound of the ramp' },
      action: 'ramp-abort',
      target: `${app}/${version}`,
      environment: env,
      summary: `Aborted the ramp of a version at ${percent} %: ${ends.failed} of ${ends.ended} runs failed`,
      ip: '',
      requestId: '',
    });
  }

  /** @throws ServiceError input_invalid, quota_exceeded */
  async #startOn(env: string, active: AppVersion, { before, choices, by }: Start): Promise<void> {
    const { appVersions, appChanges, timerChecks } = this.deps;
    const { name } = before;
    const { version, url, sdk, framework, dialect, sharesUrl = false } = active;
    const chosen = { ...choices, chosen: version };
    const own = asVersion(active.functions, version, { setting: choices.versioning, sharesUrl });
    const functions = await appChanges.ramped(env, name, own, chosen);
    if (choices.ramp && !functions.some((fn) => fn.ramp)) {
      const detail = `no function of the versions "${version}" and "${choices.ramp.version}" is pinned, so that a run has no version`;
      throw new ServiceError('input_invalid', { detail });
    }
    const app = { ...before, url, sdk, framework, dialect, deployId: version };
    // The choice is stored first: registrations of other versions that arrive meanwhile do not change it back.
    await appVersions.choose(env, name, () => chosen);
    const saved = await appChanges.apply(env, { app, before, functions, by });
    await timerChecks.checkNow(env, saved.changed);
  }

  /** Changes settings of an app that its SDK does not know. A field that is not given stays as it is; undefined: its default.
   *  @throws ServiceError not_found */
  async set(
    env: string,
    name: string,
    given: { versioning?: Versioning | undefined; activation?: ActivationMode | undefined },
  ): Promise<void> {
    const { appVersions, appChanges } = this.deps;
    await appChanges.ofKnown(env, name, async (app) => {
      const before = await appVersions.choices(env, name);
      const { versioning, activation, ...others } = { ...before, ...given };
      const choices = { ...others, ...(versioning && { versioning }), ...(activation && { activation }) };
      await appVersions.choose(env, name, () => choices);
      if (versioning !== before.versioning) await this.#applyVersioning(env, app, choices);
    });
  }

  async #applyVersioning(env: string, app: App, choices: VersionChoices): Promise<void> {
    const { appVersions, appChanges, functions, quotas } = this.deps;
    const { name, deployId: version } = app;
    const own = (await functions.all(env)).functions.filter((fn) => fn.app === name && !fn.archived && !fn.endpoint);
    const known = version === undefined ? undefined : await appVersions.read(env, { app: name, version });
    const sharesUrl = known?.sharesUrl === true;
    const changed = asVersion(own.map(withoutPause), version, { setting: choices.versioning, sharesUrl });
    // An earlier release of the service did not store the version.
    if (version !== undefined && !known) {
      const stored = { ...versionOf(app, version, changed), activeAt: app.registeredAt };
      await appVersions.save(env, name, stored, version);
    }
    const ramped = await appChanges.ramped(env, name, changed, choices);
    await functions.replaceForApp(env, name, ramped, quotas.functions, app.refused);
  }
}

/** Pauses are stored separately. */
function withoutPause({ pausedAt: _, held: __, cancelQueuedBefore: ___, ...fn }: AppFunction): AppFunction {
  return fn;
}
