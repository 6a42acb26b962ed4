/** Whether events are in their buckets. An event is there until it is archived, unless its ID has the time of another day. */
import { inPipelines, type Redis } from '../redis/connection/connection.ts';
import type { Keyspace } from '../redis/keyspace/keyspace.ts';
import { locationOf } from './event-location.ts';

/** The result is in the order of the IDs. */
export async function areInBuckets(
  redis: Redis,
  keys: Keyspace,
  env: string,
  ids: readonly string[],
): Promise<boolean[]> {
  const commands = ids.map((id) => {
    const { bucket, field } = locationOf(keys, env, id);
    return ['hstrlen', bucket, field];
  });
  return (await inPipelines<number>(redis, commands)).map((length) => length > 0);
}
