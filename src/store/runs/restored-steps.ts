/** Finished steps of an archived run, restored to Redis for a while: a re-run from a step begins with the steps before it. */

import { HOUR_MS } from '../../model/values/time.ts';
import { RUN_SUFFIXES } from '../keys/runs.ts';
import { inPipelines } from '../redis/connection/connection.ts';
import { Repository } from '../redis/repository.ts';

/** How long the steps stay: if this process dies, the next one uses them. */
const TTL_MS = HOUR_MS;
/** Maximum characters of the memos in one command. */
const COMMAND_CHARACTERS = 4_194_304;
const STEPS_AT_ONCE = 100;

export interface FinishedSteps {
  /** Hashed IDs, in the order of completion. */
  stack: readonly string[];
  /** JSON texts by hashed ID. */
  memos: Readonly<Record<string, string>>;
}

export class RestoredSteps extends Repository {
  async store(env: string, runId: string, { stack, memos }: FinishedSteps): Promise<void> {
    await this.remove(env, runId);
    const key = this.keys.of(runId).restoredRun(env, runId);
    const ids = stack.filter((id) => Object.hasOwn(memos, id));
    for (const some of portionsOf(ids, memos)) {
      await inPipelines(this.redis, [
        ['hset', key + RUN_SUFFIXES.memos, ...some.flatMap((id) => [id, memos[id] as string])],
        ['pexpire', key + RUN_SUFFIXES.memos, TTL_MS],
        ['rpush', key + RUN_SUFFIXES.stack, ...some],
        ['pexpire', key + RUN_SUFFIXES.stack, TTL_MS],
      ]);
    }
    // The run is stored last, because copy-steps.lua copies nothing from a missing run.
    await this.redis.set(key, '', 'PX', TTL_MS);
  }

  async remove(env: string, runId: string): Promise<void> {
    const key = this.keys.of(runId).restoredRun(env, runId);
    await this.redis.unlink(key, key + RUN_SUFFIXES.memos, key + RUN_SUFFIXES.stack);
  }
}

function* portionsOf(ids: readonly string[], memos: Readonly<Record<string, string>>): Generator<string[]> {
  let portion: string[] = [];
  let size = 0;
  for (const id of ids) {
    portion.push(id);
    size += (memos[id] as string).length;
    if (size < COMMAND_CHARACTERS && portion.length < STEPS_AT_ONCE) continue;
    yield portion;
    portion = [];
    size = 0;
  }
  if (portion.length > 0) yield portion;
}
