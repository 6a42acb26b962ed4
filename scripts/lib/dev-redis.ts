/** The Redis that scripts/dev uses: one that the environment names, or its own, which may be a Redis Cluster. */
import { Cluster } from 'ioredis';
import { startDevCluster, startDevRedis } from './dev-data.ts';
import { Problem } from './problem.ts';
import { checkRedis } from './redis-server.ts';

type Environment = Record<string, string | undefined>;

export interface RedisInUse {
  /** For web and worker; undefined removes a variable. */
  env: Environment;
  /** Resolves with the last log lines of a Redis of its own when that exits unexpectedly. */
  lost?: Promise<string>;
  stop?(): Promise<void>;
}

const CONNECT_MS = 5_000;

/** @throws Problem that says what is missing */
export async function devRedis(root: string, cluster: boolean, environment: Environment): Promise<RedisInUse> {
  const { REDIS_URL: url, REDIS_CLUSTER_URLS: urls, INGEST_DURABILITY: durability } = environment;
  if (url && (urls || cluster)) {
    throw new Problem(`REDIS_URL names one Redis; unset it to use ${urls ? 'REDIS_CLUSTER_URLS' : '--cluster'}.`);
  }
  if (urls) {
    await checkCluster(urls.split(','));
    return { env: { REDIS_CLUSTER_URLS: urls, REDIS_URL: undefined } };
  }
  if (url) {
    await checkRedis(url);
    return { env: { REDIS_URL: url } };
  }
  if (!cluster) {
    const redis = await startDevRedis(root, durability);
    return { env: { REDIS_URL: redis.url }, lost: redis.lost, stop: () => redis.stop() };
  }
  const own = await startDevCluster(root, durability);
  return {
    env: { REDIS_CLUSTER_URLS: own.urls.join(','), REDIS_URL: undefined },
    lost: own.lost,
    stop: () => own.stop(),
  };
}

/** @throws Problem if none of the nodes responds, or if they are no cluster */
async function checkCluster(urls: string[]): Promise<void> {
  const cluster = new Cluster(urls, { clusterRetryStrategy: null, lazyConnect: true });
  let cause = `no response within ${CONNECT_MS / 1_000} s`;
  cluster.on('error', ({ lastNodeError, message }: Error & { lastNodeError?: Error }) => {
    cause = lastNodeError?.message ?? message;
  });
  try {
    await Promise.race([
      cluster.connect(),
      new Promise((_, reject) => {
        setTimeout(() => reject(new Error(cause)), CONNECT_MS).unref();
      }),
    ]);
  } catch (error) {
    const hosts = urls.map((url) => new URL(url).host).join(', ');
    throw new Problem(
      `REDIS_CLUSTER_URLS: cannot connect to a Redis Cluster at ${hosts} (${cause || (error as Error).message}).`,
    );
  } finally {
    cluster.disconnect();
  }
}
