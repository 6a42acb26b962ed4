/** Decisions about events on their way to the archive, as bytes (model/flow-control/decision-encoding.ts). */

import { chunksOf } from '../../model/values/chunks.ts';
import { DECISION_PREFIX_LENGTHS } from '../keys/decisions.ts';
import { inPipelines, type ScriptedRedis } from '../redis/connection/connection.ts';
import type { PartitionKeyspace } from '../redis/keyspace/keyspace.ts';
import { fieldOf } from './decisions.ts';

export type DecisionBytes = Buffer;

/** Maximum number of events per script. */
const AT_ONCE = 250;

/** The result is keyed by event ID; events without decisions are absent. */
export async function decisionsOf(
  redis: ScriptedRedis,
  keys: PartitionKeyspace,
  env: string,
  eventIds: readonly string[],
): Promise<Map<string, DecisionBytes>> {
  const read = (redis as unknown as { readDecisionsBuffer(...args: unknown[]): Promise<(Buffer | number)[]> })
    .readDecisionsBuffer;
  const found = new Map<string, DecisionBytes>();
  for (const ids of chunksOf(eventIds, AT_ONCE)) {
    const prefixes = [keys.decisions(env, ''), keys.overflowDecisions(env, '')];
    const flat = await read.call(redis, ...prefixes, ...ids.flatMap((id) => [id, fieldOf(id)]));
    for (let i = 0; i < flat.length; i += 2) found.set(ids[Number(flat[i])] as string, flat[i + 1] as Buffer);
  }
  return found;
}

export async function removeDecisions(
  redis: ScriptedRedis,
  keys: PartitionKeyspace,
  env: string,
  eventIds: readonly string[],
): Promise<void> {
  const commands = eventIds.flatMap((id) => [
    ...DECISION_PREFIX_LENGTHS.map((length) => ['hdel', keys.decisions(env, id.slice(0, length)), fieldOf(id)]),
    ['del', keys.overflowDecisions(env, id)],
  ]);
  await inPipelines(redis, commands);
}
