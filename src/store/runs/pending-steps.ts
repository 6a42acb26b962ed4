/** Reads the pending steps of many runs at once, without memos. */
import type { Pending } from '../../model/runs/memo.ts';
import { inPipelines, type Redis } from '../redis/connection.ts';
import type { Keyspace } from '../redis/keyspace.ts';
import { fromFlat } from '../redis/scripts.ts';
import { toPending } from './run-record.ts';

/** Approximate maximum of steps read per run. */
const READ_MAX = 32;

export interface PendingSteps {
  /** Some of the pending steps, by hashed ID. */
  pending: Map<string, Pending>;
  /** Number of pending steps that were not read. */
  unread: number;
  /** Number of finished steps. */
  done: number;
}

/** In the order of the runs. */
export async function pendingStepsOf(
  redis: Redis,
  keys: Keyspace,
  runs: readonly { env: string; id: string }[],
): Promise<PendingSteps[]> {
  const commands = runs.flatMap(({ env, id }) => {
    const { pending, stack } = keys.of(id);
    return [
      ['hscan', pending(env, id), 0, 'COUNT', READ_MAX],
      ['hlen', pending(env, id)],
      ['llen', stack(env, id)],
    ];
  });
  const found = await inPipelines<unknown>(redis, commands);
  return runs.map((_, i) => {
    const [[, flat], count, done] = found.slice(3 * i, 3 * i + 3) as [[string, string[]], number, number];
    const pending = toPending(fromFlat(flat));
    return { pending, unread: Math.max(0, count - pending.size), done };
  });
}
