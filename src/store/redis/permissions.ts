/** Checks before a deploy that Redis lets this user do what the service does. Changes nothing. */
import type { Redis } from './connection.ts';
import type { Keyspace } from './keyspace.ts';
import { clusterOf } from './servers.ts';

/** One of each kind; a key that has no expiry stays as it is. */
const SCRIPT = "redis.call('EXISTS', KEYS[1]) return redis.call('PERSIST', KEYS[1])";

/** @throws the error of Redis: NOPERM, READONLY, MISCONF and others */
export async function checkPermissions(redis: Redis, keys: Keyspace): Promise<void> {
  const key = keys.secretKeyCheck;
  await redis.eval(SCRIPT, 1, key);
  await redis.publish(`${key}:permissions`, '');
  const { db = 0 } = redis.options;
  // ioredis goes on in the first database where there is no such one.
  if (!clusterOf(redis) && db > 0) await redis.select(db);
}
