/** Paused runs: the mark in their record, and their index. end-run.lua removes both at the end of a run. */
import type { Pause } from '../../model/runs/pause.ts';
import type { Run, RunError } from '../../model/runs/run.ts';
import { inPipelines } from '../redis/connection/connection.ts';
import { Repository } from '../redis/repository.ts';
import { memberOf } from './active-runs.ts';

export class PausedRuns extends Repository {
  /** Pauses an active run. The first pause is kept.
   *  @param mark mark for its error group
   *  @returns whether it is paused now and was not before */
  async add(
    { env, id }: Pick<Run, 'env' | 'id'>,
    pause: Pause,
    error: RunError,
    { fingerprint, uncounted }: Required<Pick<Run, 'fingerprint' | 'uncounted'>>,
  ): Promise<boolean> {
    const keys = this.keys.of(id);
    const texts = [JSON.stringify(pause), JSON.stringify(error), fingerprint, uncounted];
    return (await this.redis.pauseRun(keys.run(env, id), keys.pausedRuns(env), id, ...texts)) === 1;
  }

  /** Ends the pause.
   *  @param reconcileAt time of its next reconciliation, Unix milliseconds
   *  @returns whether it was paused */
  async remove({ env, id }: Pick<Run, 'env' | 'id'>, reconcileAt: number): Promise<boolean> {
    const keys = this.keys.of(id);
    const all = [keys.run(env, id), keys.activeRuns, keys.pausedRuns(env)];
    return (await this.redis.resumeRun(...all, id, memberOf(env, id), reconcileAt)) === 1;
  }

  async count(envs: readonly string[]): Promise<number> {
    const commands = envs.flatMap((env) => this.keys.all().map((keys) => ['zcard', keys.pausedRuns(env)]));
    return (await inPipelines<number>(this.redis, commands)).reduce((all, count) => all + count, 0);
  }
}
