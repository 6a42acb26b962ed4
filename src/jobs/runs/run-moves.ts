/** Moves active runs to another version of their app (model/apps/versions.ts). A call in flight goes on, and counts; the next one is for the other version. */
import { ServiceError } from '../../errors.ts';
import { hasEnded, type Run } from '../../model/runs/run.ts';
import type { AppVersions } from '../../store/apps/app-versions.ts';
import type { Runs } from '../../store/runs/runs.ts';
import type { FunctionTables } from '../functions/function-tables.ts';

export interface RunMovesDeps {
  runs: Pick<Runs, 'move' | 'read'>;
  functions: Pick<FunctionTables, 'find'>;
  appVersions: Pick<AppVersions, 'read'>;
}

export class RunMoves {
  readonly #deps: RunMovesDeps;

  constructor(deps: RunMovesDeps) {
    this.#deps = deps;
  }

  /** @param version undefined: the run continues with the active version from now on
   *  @returns the run; undefined: it is not stored, or has ended
   *  @throws ServiceError version_unknown */
  async move(env: string, runId: string, version: string | undefined): Promise<Run | undefined> {
    const { runs, functions, appVersions } = this.#deps;
    const run = await runs.read(env, runId);
    if (!run || hasEnded(run)) return undefined;
    const { functionId, pin } = run;
    const app = pin?.app ?? (await functions.find(env, functionId))?.app;
    if (version === undefined) return (await runs.move(env, runId, undefined)) ? runs.read(env, runId) : undefined;
    const known = app === undefined ? undefined : await appVersions.read(env, { app, version });
    if (app === undefined || !known?.functions.some(({ id }) => id === functionId)) {
      const detail = `the function ${functionId} has no version "${version}"`;
      throw new ServiceError('version_unknown', { detail });
    }
    return (await runs.move(env, runId, { app, version })) ? runs.read(env, runId) : undefined;
  }
}
