/** Marks of paused functions whose queued runs must not start, stored in each partition with the runs: scripts that start a run or admit
 *  its call see a pause immediately, while the function tables in memory may be a second old. The function's own record is authoritative
 *  (apps/functions.ts); any process that finds a different mark corrects it. */

import type { AppFunction } from '../../model/apps/app.ts';
import { heldLimitId } from '../../model/flow-control/limits.ts';
import { inPipelines } from '../redis/connection/connection.ts';
import { Repository } from '../redis/repository.ts';

export class HeldFunctions extends Repository {
  /** Updates the marks to match the function's record.
   *  @param fn undefined if the function no longer exists */
  async follow(env: string, id: string, fn: AppFunction | undefined): Promise<void> {
    const mark = fn && markOf(env, fn);
    const commands = this.keys.all().map(({ heldFunctions }) => {
      const key = heldFunctions(env);
      return mark === undefined ? ['hdel', key, id] : ['hset', key, id, mark];
    });
    await inPipelines(this.redis, commands);
  }
}

/** The limit that holds back its runs and, if not all are held, the latest time at which they were queued (Unix milliseconds); undefined:
 *  no mark. */
function markOf(env: string, { id, held, cancelQueuedBefore }: AppFunction): string | undefined {
  if (held) return heldLimitId(env, id);
  return cancelQueuedBefore === undefined ? undefined : `${heldLimitId(env, id)} ${cancelQueuedBefore}`;
}
