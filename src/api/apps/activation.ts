/** What people decide about the versions of an app: which one is active, and whether its runs are pinned (docs/change-code-safely.md). */
import type { Quotas } from '../../config.ts';
import { ServiceError } from '../../errors.ts';
import type { TimerChecks } from '../../jobs/flow-control/timer-checks.ts';
import type { AppFunction } from '../../model/apps/app.ts';
import type { SyncOrigin } from '../../model/apps/deploy.ts';
import { asVersion, formerOf, type Pin, type Versioning } from '../../model/apps/versions.ts';
import type { AppVersions } from '../../store/apps/app-versions.ts';
import type { Functions } from '../../store/apps/functions.ts';
import { type AppChanges, versionOf } from './app-changes.ts';

export interface ActivationDeps {
  quotas: Quotas;
  appVersions: AppVersions;
  functions: Functions;
  appChanges: AppChanges;
  timerChecks: Pick<TimerChecks, 'checkNow'>;
}

export class Activation {
  readonly #deps: ActivationDeps;

  constructor(deps: ActivationDeps) {
    this.#deps = deps;
  }

  /** Makes a version the active one: its functions are those of the app again, and new runs start on it; or only a share of them, and the rest on the
   *  version that was active.
   *  @param percent the share of new runs of pinned functions, from 0 to 100
   *  @throws ServiceError not_found, input_invalid, quota_exceeded */
  async activate(env: string, { app: name, version }: Pin, by: SyncOrigin, percent = 100): Promise<void> {
    const { appVersions, appChanges } = this.#deps;
    await appChanges.ofKnown(env, name, async (before) => {
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
      const functions = await appChanges.ramped(env, name, own, chosen);
      if (ramp && !functions.some((fn) => fn.ramp)) {
        const detail = `no function of the versions "${active.version}" and "${version}" is pinned, so that a run has no version`;
        throw new ServiceError('input_invalid', { detail });
      }
      const app = { ...before, url, sdk, framework, dialect, deployId: active.version };
      // First: registrations of other versions that come meanwhile do not change it back.
      await appVersions.choose(env, name, () => chosen);
      const saved = await appChanges.apply(env, { app, before, functions, by });
      await this.#deps.timerChecks.checkNow(env, saved.changed);
    });
  }

  /** Says whether runs of an app are pinned, of functions that do not say.
   *  @throws ServiceError not_found */
  async setVersioning(env: string, name: string, versioning: Versioning | undefined): Promise<void> {
    const { appVersions, appChanges, functions, quotas } = this.#deps;
    await appChanges.ofKnown(env, name, async (app) => {
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
      const ramped = await appChanges.ramped(env, name, changed, choices);
      await functions.replaceForApp(env, name, ramped, quotas.functions, app.refused);
    });
  }
}

/** Pauses are stored separately. */
function withoutPause({ pausedAt: _, held: __, cancelQueuedBefore: ___, ...fn }: AppFunction): AppFunction {
  return fn;
}
