/** Moves active runs to another version of their app (model/apps/versions.ts). A call in flight continues, and counts;
 *  the next call goes to the other version. A run that paused because its version was gone continues. */
import { ServiceError } from '../../../errors.ts';
import type { Pin } from '../../../model/apps/versions.ts';
import { hasEnded, type Run } from '../../../model/runs/run.ts';
import { Composed } from '../../../model/values/composed.ts';
import type { Store } from '../../../store/store.ts';
import type { FunctionTables } from '../../functions/function-tables.ts';
import type { RunRetries } from './run-retries.ts';

export class RunMoves extends Composed<{
  runs: Pick<Store['runs'], 'move' | 'read' | 'readToChange'>;
  functions: Pick<FunctionTables, 'find'>;
  appVersions: Pick<Store['appVersions'], 'read'>;
  retries: Pick<RunRetries, 'resume'>;
}> {
  /** @param version undefined: the run continues with the active version from now on
   *  @returns the run; undefined: it is not stored, or has ended
   *  @throws ServiceError version_unknown */
  async move(env: string, runId: string, version: string | undefined): Promise<Run | undefined> {
    const { functions, appVersions, runs } = this.deps;
    const run = await runs.readToChange(env, runId);
    if (!run || hasEnded(run)) return undefined;
    const { functionId, pin } = run;
    const app = pin?.app ?? (await functions.find(env, functionId))?.app;
    if (version === undefined) return this.#moveTo(run, undefined);
    const known = app === undefined ? undefined : await appVersions.read(env, { app, version });
    if (app === undefined || !known?.functions.some(({ id }) => id === functionId)) {
      const detail = `the function ${functionId} has no version "${version}"`;
      throw new ServiceError('version_unknown', { detail });
    }
    return this.#moveTo(run, { app, version });
  }

  async #moveTo({ env, id }: Run, pin: Pin | undefined): Promise<Run | undefined> {
    const { runs, retries } = this.deps;
    if (!(await runs.move(env, id, pin))) return undefined;
    const moved = await runs.read(env, id);
    return moved?.pause?.reason === 'version_gone' ? retries.resume(env, id, Date.now()) : moved;
  }
}
