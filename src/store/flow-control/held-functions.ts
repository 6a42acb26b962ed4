/** Functions whose queued runs must not start, in each partition beside the runs: the scripts that start a run or admit its call see a pause as soon as it is
 *  answered, while the tables in the memory of processes are up to a second old. A function's own record decides (apps/functions.ts); whoever meets a mark
 *  that differs from it corrects the mark. */
import type { AppFunction } from '../../model/apps/app.ts';
import { heldLimitId } from '../../model/flow-control/limits.ts';
import { inPipelines, type Redis } from '../redis/connection.ts';
import type { Keyspace } from '../redis/keyspace.ts';

export class HeldFunctions {
  readonly #redis: Redis;
  readonly #keys: Keyspace;

  constructor(redis: Redis, keys: Keyspace) {
    this.#redis = redis;
    this.#keys = keys;
  }

  /** Makes the marks what the function's record says.
   *  @param fn undefined: there is none any more */
  async follow(env: string, id: string, fn: AppFunction | undefined): Promise<void> {
    const mark = fn && markOf(env, fn);
    const commands = this.#keys.all().map(({ heldFunctions }) => {
      const key = heldFunctions(env);
      return mark === undefined ? ['hdel', key, id] : ['hset', key, id, mark];
    });
    await inPipelines(this.#redis, commands);
  }
}

/** The limit that holds back its runs, and until when they were queued (Unix milliseconds), if not all are held back; undefined: none. */
function markOf(env: string, { id, held, cancelQueuedBefore }: AppFunction): string | undefined {
  if (held) return heldLimitId(env, id);
  return cancelQueuedBefore === undefined ? undefined : `${heldLimitId(env, id)} ${cancelQueuedBefore}`;
}
