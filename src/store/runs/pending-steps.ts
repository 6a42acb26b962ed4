/** Reads the pending steps of runs, without memos. */
import { isArchiveUnavailable } from '../../errors.ts';
import type { Pending } from '../../model/runs/memo.ts';
import { replies } from '../redis/connection/connection.ts';
import { fromFlat, type ScriptedRedis } from '../redis/connection/scripts.ts';
import type { Keyspace } from '../redis/keyspace/keyspace.ts';
import type { OffloadedRecord, StepsReply } from './offloaded-run.ts';
import type { OffloadedRuns } from './offloaded-runs.ts';
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

/** All pending steps of one run.
 *  @throws ServiceError archive_unavailable */
export async function allPendingStepsOf(
  redis: ScriptedRedis,
  keys: Keyspace,
  offloadedRuns: OffloadedRuns,
  { env, id }: { env: string; id: string },
): Promise<PendingSteps> {
  const read = async () => toPendingSteps((await redis.readSteps(keys.of(id).run(env, id), '')) as StepsReply);
  const found = await read();
  if (!isEmpty(found) || !offloadedRuns.mayExist) return found;
  const offloaded = (await offloadedRuns.records(env, [id])).get(id);
  // The run may have come back a moment ago.
  return offloaded ? toPendingSteps(offloaded.steps) : read();
}

/** The result is in the order of the runs. */
export async function pendingStepsOf(
  redis: ScriptedRedis,
  keys: Keyspace,
  offloadedRuns: OffloadedRuns,
  runs: readonly { env: string; id: string }[],
): Promise<PendingSteps[]> {
  const found = new Map<string, PendingSteps>();
  // All runs of a partition are on one node.
  const byPartition = Map.groupBy(runs, ({ id }) => keys.of(id));
  await Promise.all(
    [...byPartition].map(async ([ofPartition, some]) => {
      const pipeline = redis.pipeline();
      for (const { env, id } of some) pipeline.readSteps(ofPartition.run(env, id), READ_MAX);
      for (const [i, reply] of replies<StepsReply>(await pipeline.exec()).entries()) {
        found.set((some[i] as { id: string }).id, toPendingSteps(reply));
      }
    }),
  );
  const empty = runs.filter(({ id }) => isEmpty(found.get(id) as PendingSteps));
  for (const [env, ofEnv] of Map.groupBy(empty, (run) => run.env)) {
    const ids = ofEnv.map(({ id }) => id);
    // Without Postgres it is unknown what these runs wait for.
    const records = await offloadedRuns.records(env, ids).catch((error) => {
      if (isArchiveUnavailable(error)) return new Map<string, OffloadedRecord>();
      throw error;
    });
    for (const [id, { steps }] of records) found.set(id, toPendingSteps(steps));
  }
  return runs.map(({ id }) => found.get(id) as PendingSteps);
}

function isEmpty({ pending, done }: PendingSteps): boolean {
  return done === 0 && pending.size === 0;
}

function toPendingSteps([flat, count, done]: StepsReply): PendingSteps {
  const pending = toPending(fromFlat(flat));
  return { pending, unread: Math.max(0, count - pending.size), done };
}
