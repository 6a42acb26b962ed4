/** Reads the pending steps of runs, without memos. */
import type { Pending } from '../../model/runs/memo.ts';
import { replies } from '../redis/connection.ts';
import type { Keyspace } from '../redis/keyspace.ts';
import { fromFlat, type ScriptedRedis } from '../redis/scripts.ts';
import { toPending } from './run-record.ts';

/** Approximate maximum of steps read per run, of many runs. */
const READ_MAX = 32;

export interface PendingSteps {
  /** Some of the pending steps, by hashed ID. */
  pending: Map<string, Pending>;
  /** Number of pending steps that were not read. */
  unread: number;
  /** Number of finished steps. */
  done: number;
}

type Reply = [pending: string[], count: number, done: number];

/** All pending steps of one run. */
export async function allPendingStepsOf(
  redis: ScriptedRedis,
  keys: Keyspace,
  { env, id }: { env: string; id: string },
): Promise<PendingSteps> {
  return toPendingSteps((await redis.readSteps(keys.of(id).run(env, id), '')) as Reply);
}

/** In the order of the runs. */
export async function pendingStepsOf(
  redis: ScriptedRedis,
  keys: Keyspace,
  runs: readonly { env: string; id: string }[],
): Promise<PendingSteps[]> {
  const found = new Map<string, PendingSteps>();
  // Those of a partition are on one node.
  const byPartition = Map.groupBy(runs, ({ id }) => keys.of(id));
  await Promise.all(
    [...byPartition].map(async ([ofPartition, some]) => {
      const pipeline = redis.pipeline();
      for (const { env, id } of some) pipeline.readSteps(ofPartition.run(env, id), READ_MAX);
      for (const [i, reply] of replies<Reply>(await pipeline.exec()).entries()) {
        found.set((some[i] as { id: string }).id, toPendingSteps(reply));
      }
    }),
  );
  return runs.map(({ id }) => found.get(id) as PendingSteps);
}

function toPendingSteps([flat, count, done]: Reply): PendingSteps {
  const pending = toPending(fromFlat(flat));
  return { pending, unread: Math.max(0, count - pending.size), done };
}
