/** Applies a change of an app's functions, by a registration or by a person. */
import type { Quotas } from '../../config.ts';
import type { Admission } from '../../jobs/flow-control/admission.ts';
import type { TimeoutTimers } from '../../jobs/runs/ends/timeout-timers.ts';
import type { Schedules } from '../../jobs/timers/schedules.ts';
import type { AppFunction } from '../../model/apps/app.ts';
import { changesOf, contentOf, type SyncOrigin } from '../../model/apps/deploy.ts';
import { type AppVersion, type VersionChoices, withRamp } from '../../model/apps/versions.ts';
import { newId } from '../../model/ids.ts';
import { schedulesOf } from '../../model/schedules/schedules.ts';
import { Composed } from '../../model/values/composed.ts';
import type { App } from '../../store/apps/apps.ts';
import type { Replaced } from '../../store/apps/functions.ts';
import { KeyedQueue } from '../../store/redis/keyed-queue.ts';
import type { Store } from '../../store/store.ts';
import { existingApp } from './existing.ts';

export interface Applied {
  app: App;
  /** The app as it was. */
  before: App | undefined;
  functions: readonly AppFunction[];
  by: SyncOrigin;
}

export class AppChanges extends Composed<
  Pick<Store, 'apps' | 'appVersions' | 'functions' | 'deploys' | 'locks'> & {
    quotas: Quotas;
    /** Applies changed limits to waiting calls. */
    admission: Pick<Admission, 'noteChange'>;
    timeoutTimers: Pick<TimeoutTimers, 'noteChange'>;
    schedules: Pick<Schedules, 'follow'>;
  }
> {
  readonly #queue = new KeyedQueue();

  /** Makes one change per app at a time, in all processes, so that the stored app, its functions and its version are from the same change.
   *  @param change may be done again
   *  @throws ServiceError overloaded if other changes take too long */
  inTurn<Result>(env: string, app: string, change: () => Promise<Result>): Promise<Result> {
    const name = `app-change:${JSON.stringify([env, app])}`;
    // Changes of this process wait in memory, and in their order.
    return this.#queue.run(name, () => this.deps.locks.inTurn(name, change));
  }

  /** @throws ServiceError not_found */
  ofKnown<Result>(env: string, name: string, change: (app: App) => Promise<Result>): Promise<Result> {
    return this.inTurn(env, name, async () => {
      return change(await existingApp(this.deps.apps, env, name));
    });
  }

  /** Makes these the functions of the app. */
  async apply(env: string, { app, before, functions: given, by }: Applied): Promise<Replaced> {
    const { apps, functions, schedules, quotas } = this.deps;
    // The change is noted first: if this process dies in between, resetting the timers changes nothing.
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
      await this.deps.admission.noteChange(env, ids);
    }
    const gone = saved.previous.flatMap((fn) => schedulesOf(env, fn));
    // Schedules are stored even without a change: an earlier registration may have died before it stored them.
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
      await this.deps.appVersions.recordActive(env, { app: app.name, version: deployId }, Date.now());
    }
    return saved;
  }

  /** The functions of the active version, with the version that ramps up. */
  async ramped(
    env: string,
    app: string,
    functions: readonly AppFunction[],
    { ramp, versioning }: VersionChoices,
  ): Promise<AppFunction[]> {
    const known = ramp && (await this.deps.appVersions.read(env, { app, version: ramp.version }));
    return withRamp(functions, known && { ...ramp, functions: known.functions }, versioning);
  }

  /** Records a deploy. If this process dies between the change and the record, the history lacks the deploy.
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
    await this.deps.deploys.record(env, { id: newId(at), app: name, at, by, ...facts, ...changes, content });
    return true;
  }

  /** Changed timeouts also apply to existing runs. */
  async #noteChangedTimeouts(env: string, given: readonly AppFunction[]): Promise<void> {
    const known = new Map((await this.deps.functions.all(env)).functions.map((fn) => [fn.id, fn]));
    const changed = given.filter((fn) => {
      const before = known.get(fn.id);
      return before && JSON.stringify(before.config.timeouts) !== JSON.stringify(fn.config.timeouts);
    });
    if (changed.length > 0) await this.deps.timeoutTimers.noteChange(env, idsOf(changed), Date.now());
  }
}

export function versionOf(app: App, version: string, functions: AppFunction[]): AppVersion {
  const { url, sdk, framework, dialect, registeredAt } = app;
  return { version, url, sdk, framework, dialect, registeredAt, seenAt: registeredAt, functions };
}

export function idsOf(functions: readonly { id: string }[]): string[] {
  return functions.map(({ id }) => id);
}
