/** The Redis, or the Redis Cluster, of a test run. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { startCluster } from './cluster/cluster.ts';
import { findRedis } from './redis-program.ts';
import { startRedis } from './redis-server.ts';

export type RedisKind = 'single' | 'cluster';

export interface TestRedis {
  /** For mocha (test/support/redis.ts); undefined removes a variable. */
  env: Record<string, string | undefined>;
  keys(): Promise<string[]>;
  stop(): Promise<void>;
}

/** Tests of failures start clusters of their own. This one must not take a busy machine for a failure. */
const NODE_TIMEOUT_MS = 20_000;

export function startTestRedis(kind: RedisKind): Promise<TestRedis> {
  return kind === 'cluster' ? startTestCluster() : startSingle();
}

async function startSingle(): Promise<TestRedis> {
  const dir = mkdtempSync(join(tmpdir(), 'tidegate-test-'));
  const redis = await startRedis(findRedis(), dir);
  return {
    env: { REDIS_URL: redis.url, REDIS_CLUSTER_URLS: undefined },
    keys: () => keysAt(redis.url),
    async stop() {
      await redis.stop();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

async function startTestCluster(): Promise<TestRedis> {
  const cluster = await startCluster({ nodeTimeoutMs: NODE_TIMEOUT_MS });
  return {
    env: { REDIS_CLUSTER_URLS: cluster.urls.join(','), REDIS_URL: undefined },
    keys: async () => (await Promise.all((await cluster.primaries()).map(({ url }) => keysAt(url)))).flat(),
    stop: () => cluster.stop(),
  };
}

async function keysAt(url: string): Promise<string[]> {
  const redis = new Redis(url);
  const keys: string[] = [];
  for await (const found of redis.scanStream({ count: 1_000 })) keys.push(...found);
  redis.disconnect();
  return keys;
}
