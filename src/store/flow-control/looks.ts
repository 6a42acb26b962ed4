/** Looks: when a timer finds out what is due of a function in a partition (lua/lib/look.lua). A script says whether one has to be set; it counts as set once
 *  its job is enqueued. */
import { inPipelines } from '../redis/connection.ts';
import type { Keyspace, PartitionKeyspace } from '../redis/keyspace.ts';
import type { ScriptedRedis } from '../redis/scripts.ts';

export interface Look {
  /** Key that records it. */
  key: string;
  partition: number;
  /** Unix milliseconds by Redis's clock. */
  at: number;
  delayMs: number;
  /** Looks before. */
  number: number;
}

/** As scripts return it: empty for none. */
export type LookReply = [] | [at: number, delayMs: number, number: number];

export function toLook(reply: LookReply, key: string, partition: number): Look | undefined {
  const [at, delayMs = 0, number = 0] = reply;
  return at === undefined ? undefined : { key, partition, at, delayMs, number };
}

export async function recordLook(redis: ScriptedRedis, { key, number, at }: Look): Promise<void> {
  await redis.setLook(key, number, at);
}

/** A function with something that waits, and the partition where. */
export interface WaitingFunction {
  functionId: string;
  partition: number;
}

/** Which of the functions have something that waits, and in which partitions.
 *  @param keyOf the key that exists as long as something waits */
export async function waitingFunctions(
  redis: ScriptedRedis,
  keys: Keyspace,
  functionIds: readonly string[],
  keyOf: (home: PartitionKeyspace, functionId: string) => string,
): Promise<WaitingFunction[]> {
  const all = functionIds.flatMap((functionId) =>
    keys.all().map((home) => ({ functionId, partition: home.number, key: keyOf(home, functionId) })),
  );
  const found = await inPipelines<number>(
    redis,
    all.map(({ key }) => ['exists', key]),
  );
  return all.filter((_, i) => found[i] === 1);
}
