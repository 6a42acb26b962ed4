/** The runs of each event: their IDs, concatenated in the order of creation, in a field of the hash of the event's slice
 *  (events/event-location.ts). A set per event took twice the memory. */
import { timeOf } from '../../model/ids.ts';
import { DAY_MS } from '../../model/values/time.ts';
import { fieldOf, sliceOf } from '../events/event-location.ts';
import { inPipelines, type Redis } from '../redis/connection/connection.ts';
import type { ScriptedRedis } from '../redis/connection/scripts.ts';
import { idsIn } from '../redis/joined-ids.ts';
import type { Keyspace } from '../redis/keyspace/keyspace.ts';

/** A run created this long after its event is listed under an overflow key: it would keep the whole slice alive. */
const OVERFLOW_MS = DAY_MS;

export function isOverflow(eventId: string, queuedAt: number): boolean {
  return Math.abs(queuedAt - timeOf(eventId)) > OVERFLOW_MS;
}

/** Run IDs of each event, in the order of the event IDs. */
export async function runsOfEvents(
  redis: Redis,
  keys: Keyspace,
  env: string,
  eventIds: readonly string[],
): Promise<string[][]> {
  const commands = eventIds.flatMap((id) => [
    ['hget', keys.of(id).eventRuns(env, sliceOf(id)), fieldOf(id)],
    ['get', keys.of(id).overflowEventRuns(env, id)],
  ]);
  const texts = await inPipelines<string | null>(redis, commands);
  return eventIds.map((_, i) => idsIn((texts[2 * i] ?? '') + (texts[2 * i + 1] ?? '')));
}

/** Lists a run under further events, once each. */
export async function addEventRuns(
  redis: ScriptedRedis,
  keys: Keyspace,
  { env, runId, queuedAt, eventIds }: { env: string; runId: string; queuedAt: number; eventIds: readonly string[] },
  retentionMs: number,
): Promise<void> {
  await Promise.all(
    eventIds.map((id) => {
      const { eventRuns, overflowEventRuns } = keys.of(id);
      const late = isOverflow(id, queuedAt) ? 1 : 0;
      const listed = [eventRuns(env, sliceOf(id)), overflowEventRuns(env, id)] as const;
      return redis.addEventRun(...listed, fieldOf(id), runId, retentionMs, late);
    }),
  );
}
