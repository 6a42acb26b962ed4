/** Checks before a deploy that Redis permits this user everything that the service does. Changes nothing. */

import type { Keyspace } from '../keyspace/keyspace.ts';
import type { Redis } from './connection.ts';
import { clusterOf } from './servers.ts';

/** One command of each kind. PERSIST changes nothing on a key without a TTL. */
const SCRIPT = "redis.call('EXISTS', KEYS[1]) return redis.call('PERSIST', KEYS[1])";

/** @throws Redis's error: NOPERM, READONLY, MISCONF and others */
export async function checkPermissions(redis: Redis, keys: Keyspace): Promise<void> {
  const key = keys.secretKeyCheck;
  await redis.eval(SCRIPT, 1, key);
  await redis.publish(`${key}:permissions`, '');
  const { db = 0 } = redis.options;
  // ioredis silently uses the first database if this one does not exist.
  if (!clusterOf(redis) && db > 0) await redis.select(db);
}
