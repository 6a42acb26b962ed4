/** Which runs each event caused: their IDs one after the other, in the order of their creation, in a hash of all events whose IDs begin with
 *  the same second or so (event-location.ts). A set for each event took twice as much of Redis as this. */
import { timeOf } from '../../model/ids.ts';
import { fieldOf, sliceOf } from '../events/event-location.ts';
import { inPipelines, type Redis } from '../redis/connection.ts';
import type { Keyspace } from '../redis/keyspace.ts';

const ID_LENGTH = 26;
/** A run that is made so long after its event is listed apart: it would keep alive what is known of all events of that second. */
const LATE_MS = 86_400_000;

export function isLate(eventId: string, queuedAt: number): boolean {
  return Math.abs(queuedAt - timeOf(eventId)) > LATE_MS;
}

/** Of each event, in the order of their IDs. */
export async function runsOfEvents(
  redis: Redis,
  keys: Keyspace,
  env: string,
  eventIds: readonly string[],
): Promise<string[][]> {
  const commands = eventIds.flatMap((id) => [
    ['hget', keys.eventRuns(env, sliceOf(id)), fieldOf(id)],
    ['get', keys.overflowEventRuns(env, id)],
  ]);
  const texts = await inPipelines<string | null>(redis, commands);
  return eventIds.map((_, i) => idsIn((texts[2 * i] ?? '') + (texts[2 * i + 1] ?? '')));
}

function idsIn(text: string): string[] {
  return Array.from({ length: text.length / ID_LENGTH }, (_, i) => text.slice(i * ID_LENGTH, (i + 1) * ID_LENGTH));
}
