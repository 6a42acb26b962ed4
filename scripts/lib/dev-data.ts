/** The Redis of scripts/dev. Its data stays in .data/ between runs. */
import { mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
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
  const other = await portInUse(realpathSync(dir), portFile);
  if (other) {
    throw new Problem(
      `scripts/dev is already running in this clone (its Redis on port ${other} uses ${dir}).
Stop it first, use a second clone, or set REDIS_URL to another Redis.`,
    );
  }
  const redis = await startRedis(findRedis(), dir, durability === 'fsync' ? 'always' : 'everysec');
  writeFileSync(portFile, String(redis.port));
  return redis;
}

/** The port of a running Redis that uses the folder. A process ID would not do: after a crash another process may have it. */
async function portInUse(dir: string, portFile: string): Promise<number | undefined> {
  const port = lastPort(portFile);
  if (!port) return undefined;
  const redis = new Redis(port, LOOPBACK, { lazyConnect: true, retryStrategy: null, connectTimeout: 1_000 });
  redis.on('error', () => {});
  try {
    await redis.connect();
    const [, openDir] = (await redis.config('GET', 'dir')) as string[];
    return openDir === dir ? port : undefined;
  } catch {
    return undefined;
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
