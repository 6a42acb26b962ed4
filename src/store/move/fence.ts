/** Makes the Redis that an installation moves away from reject new events and jobs. It stops a process that was overlooked, or suspended for
 *  minutes, and does not know about the move. The queues' counters and the index of held events are replaced with
 *  texts, on which the commands of an acceptance fail. Their values are kept under the keys `fenced`. */
import { INGEST, QUEUE_KEYS, queueKey, RUNS } from '../keys/bullmq.ts';
import type { Redis } from '../redis/connection/connection.ts';
import type { Keyspace, PartitionKeyspace } from '../redis/keyspace/keyspace.ts';

const TEXT = 'the installation moves to another Redis';

const RAISE = `
if redis.call('TYPE', KEYS[1]).ok == 'string' and redis.call('GET', KEYS[1]) == ARGV[1] then return 0 end
if redis.call('EXISTS', KEYS[1]) == 1 then redis.call('RENAME', KEYS[1], KEYS[2]) end
redis.call('SET', KEYS[1], ARGV[1])
return 1`;

const LOWER = `
if redis.call('TYPE', KEYS[1]).ok ~= 'string' or redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('DEL', KEYS[1])
if redis.call('EXISTS', KEYS[2]) == 1 then redis.call('RENAME', KEYS[2], KEYS[1]) end
return 1`;

/** Idempotent. */
export async function raiseFence(redis: Redis, keys: Keyspace): Promise<void> {
  for (const [key, fenced] of fencedKeys(keys)) await redis.eval(RAISE, 2, key, fenced, TEXT);
}

/** Idempotent. */
export async function lowerFence(redis: Redis, keys: Keyspace): Promise<void> {
  for (const [key, fenced] of fencedKeys(keys)) await redis.eval(LOWER, 2, key, fenced, TEXT);
}

/** The keys to replace, and the key that keeps each original value. */
export function fencedKeys(keys: Keyspace): Map<string, string> {
  const fenced = new Map<string, string>();
  const add = (of: PartitionKeyspace, prefix: string, key: string) => {
    fenced.set(key, of.fenced(key.slice(prefix.length + 1)));
  };
  for (const of of keys.all()) {
    for (const queue of [INGEST, RUNS]) add(of, of.prefix, queueKey(of.queues, queue, QUEUE_KEYS.lastId));
  }
  add(keys.partition(0), keys.prefix, keys.heldEvents);
  return fenced;
}
