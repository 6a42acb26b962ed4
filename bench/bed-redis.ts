/** The Redis of a test bed: one server, or a cluster of three primaries. */
import { type RedisCluster, startCluster } from '../scripts/lib/cluster/cluster.ts';
import { findRedis } from '../scripts/lib/redis-program.ts';
import { startRedis } from '../scripts/lib/redis-server.ts';
import type { BenchmarkRun } from './benchmark-run.ts';

export interface BedRedis {
  /** The one server's URL; for a cluster, that of its first node. */
  url: string;
  /** Settings of the service. */
  env: Record<string, string>;
  partitions: number;
  /** undefined: one server. */
  cluster: RedisCluster | undefined;
  stop(): Promise<void>;
}

export async function openServer(bench: BenchmarkRun, dir: string): Promise<BedRedis> {
  const redis = await startRedis(findRedis(), dir);
  redis.lost.then((output) => bench.abort(new Error(`Redis ended:\n${output}`)));
  const { url } = redis;
  return { url, env: { REDIS_URL: url }, partitions: 1, cluster: undefined, stop: () => redis.stop() };
}

/** A busy machine must not look like a failure. */
const NODE_TIMEOUT_MS = 30_000;

export async function openCluster(
  bench: BenchmarkRun,
  { partitions, replicas }: { partitions: number; replicas: number },
  appendfsync: 'always' | 'everysec',
): Promise<BedRedis> {
  const cluster = await startCluster({ replicas, nodeTimeoutMs: NODE_TIMEOUT_MS, appendfsync });
  cluster.lost.then((output) => bench.abort(new Error(`Redis ended:\n${output}`)));
  const env = { REDIS_CLUSTER_URLS: cluster.urls.join(','), PARTITIONS: String(partitions) };
  return { url: cluster.urls[0] as string, env, partitions, cluster, stop: () => cluster.stop() };
}
