/** The real Redis of the tests, or their Redis Cluster (`scripts/test --cluster`), shared by all; each test has its own key prefix. */
import { randomBytes } from 'node:crypto';
import { Cluster, Redis } from 'ioredis';
import { PartitionLayout } from '../../src/model/partitions/layout.ts';
import { type Keyspace, keyspace } from '../../src/store/redis/keyspace/keyspace.ts';

export type { Keyspace, Redis };

/** The default on a cluster. */
const PARTITIONS_OF_CLUSTER = 32;

/** Whether the tests run on a Redis Cluster. */
export const isCluster = (process.env.REDIS_CLUSTER_URLS ?? '') !== '';

/** For tests that look at the keys of a single Redis. */
export const itOnSingleRedis = (title: string, test: Mocha.AsyncFunc) => (isCluster ? it.skip : it)(title, test);

/** Settings of the service that name the Redis of the tests. */
export function redisSettings(): Record<string, string> {
  const partitions = process.env.TEST_PARTITIONS;
  return {
    ...(isCluster ? { REDIS_CLUSTER_URLS: process.env.REDIS_CLUSTER_URLS as string } : { REDIS_URL: redisUrl() }),
    ...(partitions && { PARTITIONS: partitions }),
  };
}

/** @throws if the tests run on a cluster, or were not started by scripts/test, which starts a Redis */
export function redisUrl(): string {
  const url = process.env.REDIS_URL;
  if (isCluster) throw new Error('This test needs a single Redis: run it without --cluster');
  if (!url) throw new Error('REDIS_URL is not set. Run tests with scripts/test, for example: scripts/test test/api');
  return url;
}

/** @param url of another Redis than that of the tests */
export function connectRedis(url?: string): Redis {
  const redis = url === undefined && isCluster ? connectCluster() : new Redis(url ?? redisUrl());
  // It reconnects by itself; tests that stop Redis expect errors.
  redis.on('error', () => {});
  return redis;
}

/** It has the same commands. Those on several keys, and pipelines, need keys of one partition. */
function connectCluster(): Redis {
  return new Cluster(clusterUrls()) as unknown as Redis;
}

function clusterUrls(): string[] {
  return (process.env.REDIS_CLUSTER_URLS ?? '').split(',');
}

export function freshPrefix(): string {
  return `test-${randomBytes(6).toString('hex')}`;
}

/** A connection to each node of the tests' Redis: one, or those of the cluster. */
export function connectNodes(): Redis[] {
  return isCluster ? clusterUrls().map((url) => connectRedis(url)) : [connectRedis()];
}

/** The keys of a service on the Redis of the tests.
 *  @param isOwn it has a single Redis of its own */
export function keyspaceOf(prefix: string, isOwn = false): Keyspace {
  if (isOwn) return keyspace({ prefix });
  const count = Number(process.env.TEST_PARTITIONS ?? (isCluster ? PARTITIONS_OF_CLUSTER : 1));
  const layout = new PartitionLayout([{ count, since: 0 }]);
  return keyspace({ prefix, cluster: isCluster, layout: () => layout });
}

/** The keys of all partitions that begin with the prefix and continue like that.
 *  @param rest a regular expression for what follows the prefix or the hash tag */
export async function findKeys(redis: Redis, prefix: string, rest: RegExp): Promise<string[]> {
  return (await keysOf(redis, prefix)).filter((key) => rest.test(key.slice(key.indexOf('}') + 1 || prefix.length)));
}

/** All keys that begin with the prefix; on a cluster also those whose hash tag begins with it. */
export async function keysOf(redis: Redis, prefix = ''): Promise<string[]> {
  const found = new Set<string>();
  for (const node of await primariesOf(redis)) {
    for await (const keys of scan(node, prefix)) for (const key of keys) found.add(key);
  }
  return [...found];
}

export async function deleteKeys(redis: Redis, prefix: string): Promise<void> {
  for (const node of await primariesOf(redis)) {
    for await (const keys of scan(node, prefix)) {
      const pipeline = node.pipeline();
      for (const key of keys) pipeline.unlink(key);
      await pipeline.exec();
    }
  }
}

/** Connected; a single Redis is the only one. */
async function primariesOf(redis: Redis | Cluster): Promise<Redis[]> {
  await redis.ping();
  if (redis instanceof Redis) return [redis];
  const nodes = redis.nodes('master');
  await Promise.all(nodes.map((node) => node.ping()));
  return nodes;
}

async function* scan(node: Redis, prefix: string): AsyncIterable<string[]> {
  const patterns = prefix === '' ? ['*'] : [`${prefix}*`, `{${prefix}*`];
  for (const match of patterns) yield* node.scanStream({ match, count: 1_000 });
}
