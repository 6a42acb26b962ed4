/** Keys that no single room owns. */
import type { KeyDeclaration } from './key-declaration.ts';

export const sharedKeys = (prefix: string) => ({
  lock: (name: string) => `${prefix}:lock:${name}`,
  cacheInvalidation: `${prefix}:cache-invalidation`,
  cacheVersion: `${prefix}:cache-version`,
  partitionLayout: `${prefix}:partition-layout`,
  diskBarrier: `${prefix}:disk-barrier`,
});

/** Keys of each partition. */
export const partitionKeys = (prefix: string) => ({
  diskBarrier: `${prefix}:disk-barrier`,
  queues: `${prefix}:queue`,
  /** Never exists; scripts.ts explains its use. */
  absent: `${prefix}:absent`,
  fenced: (key: string) => `${prefix}:fenced:${key}`,
});

export const SHARED_KEY_DECLARATIONS = {
  lock: {
    pattern: 'lock:<name>',
    type: 'string',
    owner: 'redis/locks.ts',
    ttl: 'set by the holder, renewed',
    size: '36 bytes',
    description: 'Token of the holder.',
  },
  cacheInvalidation: {
    pattern: 'cache-invalidation',
    type: 'channel',
    owner: 'redis/cache-invalidation.ts',
    ttl: '–',
    size: 'empty messages',
    description: 'Cached data has changed.',
  },
  cacheVersion: {
    pattern: 'cache-version',
    type: 'string',
    owner: 'redis/cache-invalidation.ts',
    ttl: '1 h',
    size: '26 bytes',
    description: 'Changes with cached data.',
  },
  partitionLayout: {
    pattern: 'partition-layout',
    type: 'hash',
    owner: 'redis/partitions.ts',
    ttl: 'none',
    size: '3 fields',
    description:
      'Number of partitions since when, as JSON (`model/partitions/layout.ts`); absent: one. `move`: a move from or to this Redis, as JSON (`redis/move-marker.ts`). `schema`: version of the data (`redis/schema-version.ts`).',
  },
  absent: {
    pattern: 'absent',
    type: 'string',
    owner: 'redis/scripts.ts',
    ttl: '–',
    size: 'never stored',
    description: 'Never stored; named by scripts so that Redis refuses them whole while a hash slot moves.',
  },
  fenced: {
    pattern: 'fenced:<key>',
    type: 'string',
    owner: 'move/fence.ts',
    ttl: 'as the key',
    size: 'as the key',
    description: 'Former value of a key that now refuses writes, after a move to another Redis.',
  },
  diskBarrier: {
    pattern: 'disk-barrier',
    type: 'string',
    owner: 'redis/cluster-durability.ts',
    ttl: '1 min',
    size: 'empty',
    description: 'A write to wait for with `WAITAOF` or `WAIT`.',
  },
  queues: {
    pattern: 'queue',
    type: 'string',
    owner: 'keys/shared.ts',
    ttl: '–',
    size: 'BullMQ',
    description: 'Prefix of BullMQ (`queue:ingest:…`, `queue:runs:…`, `queue:timers:…`).',
  },
} as const satisfies Record<keyof (ReturnType<typeof sharedKeys> & ReturnType<typeof partitionKeys>), KeyDeclaration>;
