/** Notices versions of connecting apps that have had no connection for long. */
import { LRUCache } from 'lru-cache';
import type { RunRef } from '../jobs/queues/queues.ts';
import type { RunTransitions } from '../jobs/runs/state-transitions.ts';
import type { AppFunction } from '../model/apps/app.ts';
import { Composed } from '../model/values/composed.ts';
import type { Runs } from '../store/runs/runs.ts';

const MISSING_MAX = 1_000;

export interface MissingVersionsDeps {
  runs: Pick<Runs, 'read'>;
  transitions: Pick<RunTransitions, 'pause'>;
  /** How long a version of an app may be without a connection before runs that need it pause. */
  versionGoneMs: number;
}

/** Pauses runs whose version has had no connection for `versionGoneMs`, counted from when this worker first missed
 *  it. */
export class MissingVersions extends Composed<MissingVersionsDeps> {
  readonly #since = new LRUCache<string, number>({ max: MISSING_MAX });

  found({ app, version }: AppFunction, env: string): void {
    if (this.#since.size > 0 && version !== undefined) this.#since.delete(JSON.stringify([env, app, version]));
  }

  /** @returns whether the run was paused: its job has nothing left to do */
  async missed({ env, runId }: RunRef, app: string, version: string, nowMs: number): Promise<boolean> {
    const key = JSON.stringify([env, app, version]);
    const since = this.#since.get(key);
    if (since === undefined) this.#since.set(key, nowMs);
    if (since === undefined || nowMs - since < this.deps.versionGoneMs) return false;
    const run = await this.deps.runs.read(env, runId);
    if (!run?.pin || run.pin.version !== version) return false;
    const message = `no instance of the version ${version} of the app ${app} is connected`;
    await this.deps.transitions.pause(run, 'version_gone', { name: 'VersionGone', message });
    return true;
  }
}
