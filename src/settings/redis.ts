/** Settings of Redis, and of backpressure when it is full. */
import { z } from 'zod';
import { between, limit, list, positive } from './values.ts';

const redisUrls = list.pipe(z.array(z.url({ protocol: /^rediss?$/ })).min(1));

const natMap = list.pipe(
  z.array(z.string().regex(/^[^\s=]+:\d+=[^\s=]+:\d+$/, { error: 'expected host:port=host:port' })).min(1),
);

/** Two digits of an ID name the partition (model/partitions/layout.ts). */
const PARTITIONS_MAX = 1_024;

export const redis = {
  REDIS_URL: z
    .url({ protocol: /^rediss?$/ })
    .default('redis://127.0.0.1:6379')
    .describe('URL of Redis 7.0 or newer. Use `maxmemory-policy noeviction` and `appendonly yes`'),
  REDIS_CLUSTER_URLS: redisUrls
    .optional()
    .describe(
      'Comma-separated URLs of some nodes of a Redis or Valkey Cluster, instead of `REDIS_URL`. User, password and TLS are those of the first URL',
    ),
  REDIS_CLUSTER_NAT_MAP: natMap
    .optional()
    .describe(
      'Addresses of cluster nodes as this process reaches them: comma-separated `announced host:port=reachable host:port`',
    ),
  REDIS_SENTINEL_URLS: redisUrls.optional().describe('Comma-separated URLs of Redis Sentinels'),
  REDIS_SENTINEL_MASTER: z
    .string()
    .min(1)
    .default('mymaster')
    .describe('Name of the master that the Sentinels watch. Its user, password and TLS are those of `REDIS_URL`'),
  PARTITIONS: between(1, PARTITIONS_MAX)
    .optional()
    .describe(
      'Number of partitions of events and runs. Default: 1 on one Redis, 32 on a cluster. Can be raised, not lowered',
    ),
  MOVE_FROM_REDIS_URL: z
    .url({ protocol: /^rediss?$/ })
    .optional()
    .describe('For `scripts/start move`: URL of the old Redis. With Sentinels: of their master'),
  REDIS_TLS_VERIFY: z
    .stringbool()
    .default(true)
    .describe('Verify the certificate of a `rediss://` server. Heroku requires false'),
  KEY_PREFIX: z
    .string()
    .regex(/^[\w-]+$/)
    .default('service')
    .describe('Prefix of all Redis keys. Installations with different prefixes can share one Redis'),
  INGEST_DURABILITY: z
    .enum(['auto', 'redis', 'fsync'])
    .default('auto')
    .describe(
      'When to acknowledge an event: once Redis has it (`redis`) or once it is on disk (`fsync`). `auto`: `fsync` in production if Redis has `appendfsync always`, otherwise `redis`',
    ),
};

export const backpressure = {
  REDIS_MEMORY_BYTES: positive
    .optional()
    .describe('Memory that Redis may use, if Redis itself has no limit (`maxmemory 0`)'),
  REDIS_MEMORY_LIMIT_PERCENT: z.coerce
    .number()
    .min(0)
    .max(100)
    .default(90)
    .describe('Reject events with 503 above this memory use of Redis. 0 disables the limit'),
  INGEST_BACKLOG_MAX: limit
    .default(200_000)
    .describe(
      'Reject events with 429 above this number of waiting ingest jobs (up to 500 events each). 0 disables the limit',
    ),
  RUN_BACKLOG_MAX: limit
    .default(1_000_000)
    .describe('Reject events with 429 above this number of waiting function calls. 0 disables the limit'),
};
