/** The Redis, or the Redis Cluster, of scripts/dev. Its data stays in .data/ between runs. */
import { mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { startCluster } from './cluster/cluster.ts';
import { nodeDir, readLayout } from './cluster/layout.ts';
import { LOOPBACK } from './ports.ts';
import { Problem } from './problem.ts';
import { findRedis } from './redis-program.ts';
import { type OwnRedis, startRedis } from './redis-server.ts';

/** @param durability the given INGEST_DURABILITY: Redis gets matching settings
 *  @throws Problem if another scripts/dev of this clone uses the data */
export async function startDevRedis(root: string, durability: string | undefined): Promise<OwnRedis> {
  const dir = join(root, '.data', 'redis');
  const portFile = join(root, '.data', 'redis-port');
  mkdirSync(dir, { recursive: true });
  await refuseSecond(dir, lastPort(portFile));
  const redis = await startRedis(findRedis(), dir, durability === 'fsync' ? 'always' : 'everysec');
  writeFileSync(portFile, String(redis.port));
  return redis;
}

export interface DevCluster {
  /** The URLs of all its nodes. */
  urls: string[];
  /** Resolves with the last log lines when a node exits without stop(). */
  lost: Promise<string>;
  stop(): Promise<void>;
}

/** Longer than a machine is busy with something else. */
const NODE_TIMEOUT_MS = 5_000;

/** Three primaries with a replica each.
 *  @param durability the given INGEST_DURABILITY: the nodes get matching settings
 *  @throws Problem if another scripts/dev of this clone uses the data */
export async function startDevCluster(root: string, durability: string | undefined): Promise<DevCluster> {
  const dir = join(root, '.data', 'cluster');
  mkdirSync(dir, { recursive: true });
  for (const [index, [port]] of (readLayout(dir)?.ports ?? []).entries()) await refuseSecond(nodeDir(dir, index), port);
  const appendfsync = durability === 'fsync' ? 'always' : 'everysec';
  return startCluster({ dir, appendfsync, nodeTimeoutMs: NODE_TIMEOUT_MS });
}

/** A Redis that uses the folder is one of another scripts/dev. A process ID would not do: after a crash another process may have it.
 *  @throws Problem if the last Redis of the folder runs */
async function refuseSecond(dir: string, port: number | undefined): Promise<void> {
  if (!port || !(await usesFolder(port, dir))) return;
  throw new Problem(
    `scripts/dev is already running in this clone (its Redis on port ${port} uses ${dir}).
Stop it first, use a second clone, or set REDIS_URL to another Redis.`,
  );
}

async function usesFolder(port: number, dir: string): Promise<boolean> {
  const redis = new Redis(port, LOOPBACK, { lazyConnect: true, retryStrategy: null, connectTimeout: 1_000 });
  redis.on('error', () => {});
  try {
    await redis.connect();
    const [, openDir] = (await redis.config('GET', 'dir')) as string[];
    return openDir === realpathSync(dir);
  } catch {
    return false;
  } finally {
    redis.disconnect();
  }
}

function lastPort(portFile: string): number | undefined {
  try {
    return Number(readFileSync(portFile, 'utf8'));
  } catch {
    return undefined;
  }
}
