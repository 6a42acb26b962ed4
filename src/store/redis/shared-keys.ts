/** Keys that no single room owns. */
import type { KeyDeclaration } from './key-declaration.ts';

export const sharedKeys = (prefix: string) => ({
  lock: (name: string) => `${prefix}:lock:${name}`,
  cacheInvalidation: `${prefix}:cache-invalidation`,
  cacheVersion: `${prefix}:cache-version`,
  partitionLayout: `${prefix}:partition-layout`,
  diskBarrier: `${prefix}:disk-barrier`,
});

/** Of each partition. */
export const partitionKeys = (prefix: string) => ({
  diskBarrier: `${prefix}:disk-barrier`,
  queues: `${prefix}:queue`,
  /** Never exists: what it is for is in scripts.ts. */
  absent: `${prefix}:absent`,
  fenced: (key: string) => `${prefix}:fenced:${key}`,
});

export const SHARED_KEY_DECLARATIONS = {
  lock: {
    pattern: 'lock:<name>',
    type: 'string',
    owner: 'redis/locks.ts',
    ttl: 'as long as the holder asks, renewed',
    size: '36 bytes',
    description: 'Token of the process that holds the lock.',
  },
  cacheInvalidation: {
    pattern: 'cache-invalidation',
    type: 'channel',
    owner: 'redis/cache-invalidation.ts',
    ttl: '–',
    size: 'empty messages',
    description: 'Something that processes cache in memory has changed.',
  },
  cacheVersion: {
    pattern: 'cache-version',
    type: 'string',
    owner: 'redis/cache-invalidation.ts',
    ttl: '1 h',
    size: '26 bytes',
    description: 'A new value after each change of cached data.',
  },
  partitionLayout: {
    pattern: 'partition-layout',
    type: 'hash',
    owner: 'redis/partitions.ts',
    ttl: 'none',
    size: '3 fields',
    description:
      'How many partitions there are since when, as JSON (`model/partitions/layout.ts`); absent: one. `move`: the installation moves, or has moved, to or from this Redis, as JSON (`redis/move-marker.ts`). `schema`: the version of what Redis has, as JSON (`redis/schema-version.ts`).',
  },
  absent: {
    pattern: 'absent',
    type: 'string',
    owner: 'redis/scripts.ts',
    ttl: '–',
    size: 'never stored',
    description:
      'On a cluster, scripts name it as a key: while its hash slot moves to another node, they are refused as a whole.',
  },
  fenced: {
    pattern: 'fenced:<key>',
    type: 'string',
    owner: 'move/fence.ts',
    ttl: 'as the key',
    size: 'as the key',
    description:
      'On a Redis that the installation moves away from: the value of a key that now refuses what a process might still write.',
  },
  diskBarrier: {
    pattern: 'disk-barrier',
    type: 'string',
    owner: 'redis/cluster-durability.ts',
    ttl: '1 min',
    size: 'empty',
    description: 'Written before `WAITAOF` or `WAIT`, so that there is a write to wait for.',
  },
  queues: {
    pattern: 'queue',
    type: 'string',
    owner: 'redis/shared-keys.ts',
    ttl: '–',
    size: 'BullMQ',
    description: 'Prefix of the keys that BullMQ makes (`queue:ingest:…`, `queue:runs:…`, `queue:timers:…`).',
  },
} as const satisfies Record<keyof (ReturnType<typeof sharedKeys> & ReturnType<typeof partitionKeys>), KeyDeclaration>;
