/** Dependencies of each room of the store. */

import type { Config } from '../config.ts';
import type { PartitionedIds } from '../model/partitions/partitioned-ids.ts';
import type { CacheInvalidation } from './redis/caching/cache-invalidation.ts';
import type { ScriptedRedis } from './redis/connection/scripts.ts';
import type { Keyspace } from './redis/keyspace/keyspace.ts';
import type { Locks } from './redis/locks.ts';

export interface StoreContext {
  redis: ScriptedRedis;
  keys: Keyspace;
  config: Config;
  locks: Locks;
  ids: PartitionedIds;
  cacheInvalidation: CacheInvalidation;
}
