/** Keys that no single room owns. */
import type { KeyDeclaration } from './key-declaration.ts';

export const sharedKeys = (prefix: string) => ({
  lock: (name: string) => `${prefix}:lock:${name}`,
  cacheInvalidation: `${prefix}:cache-invalidation`,
  cacheVersion: `${prefix}:cache-version`,
  diskBarrier: `${prefix}:disk-barrier`,
  queues: `${prefix}:queue`,
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
  diskBarrier: {
    pattern: 'disk-barrier',
    type: 'string',
    owner: 'redis/durability.ts',
    ttl: '1 min',
    size: 'empty',
    description: 'Written before `WAITAOF`, so that there is a write to wait for.',
  },
  queues: {
    pattern: 'queue',
    type: 'string',
    owner: 'store.ts',
    ttl: '–',
    size: 'BullMQ',
    description: 'Prefix of the keys that BullMQ makes (`queue:ingest:…`, `queue:runs:…`).',
  },
} as const satisfies Record<keyof ReturnType<typeof sharedKeys>, KeyDeclaration>;
