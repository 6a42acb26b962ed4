/** Timer checks: each is a job that handles what is due for a function in a partition (lua/lib/timer-check.lua). A
 *  script reports whether a check must be scheduled; the check counts as scheduled once its job is enqueued. */
import { inPipelines, type ScriptedRedis } from '../redis/connection/connection.ts';
import type { Keyspace, PartitionKeyspace } from '../redis/keyspace/keyspace.ts';

export interface TimerCheck {
  key: string;
  partition: number;
  /** Unix milliseconds by Redis's clock. */
  at: number;
  delayMs: number;
  number: number;
}

/** The scripts' format; empty: no timer check is needed. */
export type TimerCheckReply = [] | [at: number, delayMs: number, number: number];

export function toTimerCheck(reply: TimerCheckReply, key: string, partition: number): TimerCheck | undefined {
  const [at, delayMs = 0, number = 0] = reply;
  return at === undefined ? undefined : { key, partition, at, delayMs, number };
}

export async function recordTimerCheck(redis: ScriptedRedis, { key, number, at }: TimerCheck): Promise<void> {
  await redis.recordTimerCheck(key, number, at);
}

/** A function with waiting batches or debounces, and their partition. */
export interface WaitingFunction {
  functionId: string;
  partition: number;
}

/** Functions that have waiting groups or calls, and their partitions. @param keyOf key that exists as long as something waits */
export async function waitingFunctions(
  redis: ScriptedRedis,
  keys: Keyspace,
  functionIds: readonly string[],
  keyOf: (homeKeys: PartitionKeyspace, functionId: string) => string,
): Promise<WaitingFunction[]> {
  const all = functionIds.flatMap((functionId) =>
    keys.all().map((homeKeys) => ({ functionId, partition: homeKeys.number, key: keyOf(homeKeys, functionId) })),
  );
  const found = await inPipelines<number>(
    redis,
    all.map(({ key }) => ['exists', key]),
  );
  return all.filter((_, i) => found[i] === 1);
}
