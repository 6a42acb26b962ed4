/** Keys that no single room owns. */
import { channel, hash, string } from './key-declaration.ts';

const diskBarrier = string('disk-barrier', 'A write to wait for with `WAITAOF` or `WAIT`.', {
  owner: 'redis/durability/cluster-durability.ts',
  ttl: '1 min',
  size: 'empty',
});

export const SHARED_KEYS = {
  lock: string('lock:<name>', 'Token of the holder.', {
    owner: 'redis/locks.ts',
    ttl: 'set by the holder, renewed',
    size: '36 bytes',
  }),
  cacheInvalidation: channel('cache-invalidation', 'Cached data has changed.', {
    owner: 'redis/caching/cache-invalidation.ts',
    ttl: '–',
    size: 'empty messages',
  }),
  cacheVersion: string('cache-version', 'Changes with cached data.', {
    owner: 'redis/caching/cache-invalidation.ts',
    ttl: '1 h',
    size: '26 bytes',
  }),
  partitionLayout: hash(
    'partition-layout',
    'Number of partitions since when, as JSON (`model/partitions/layout.ts`); absent: one. `move`: a move from or to this Redis, as JSON (`redis/keyspace/move-marker.ts`). `schema`: version of the data (`redis/keyspace/schema-version.ts`).',
    { owner: 'redis/keyspace/partitions.ts', ttl: 'none', size: '3 fields' },
  ),
  diskBarrier,
  devClock: string('dev-clock', 'Milliseconds by which the clock of dev mode is ahead of the machine.', {
    owner: '../jobs/dev-clock/followed-clock.ts',
    ttl: 'none',
    size: 'a number',
  }),
  devClockMessages: channel('dev-clock-messages', 'Moves of the clock of dev mode, and responses.', {
    owner: '../jobs/dev-clock/followed-clock.ts',
    ttl: '–',
    size: '1 JSON object per message',
  }),
};

export const PARTITION_KEYS = {
  absent: string('absent', 'Never stored: scripts name it, so that Redis refuses them while a hash slot moves.', {
    owner: 'redis/connection/scripts.ts',
    ttl: '–',
    size: 'never stored',
  }),
  fenced: string('fenced:<key>', 'Former value of a key, after a move to another Redis.', {
    owner: 'move/fence.ts',
    ttl: 'as the key',
    size: 'as the key',
  }),
  diskBarrier,
  queues: string('queue', 'Prefix of BullMQ (`queue:ingest:…`, `queue:runs:…`, `queue:timers:…`).', {
    owner: 'keys/bullmq.ts',
    ttl: '–',
    size: 'BullMQ',
  }),
};
