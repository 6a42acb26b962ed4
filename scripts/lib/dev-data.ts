/** The Redis of scripts/dev: its data stays in the clone, under .data/, from one run to the next. */
import { mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { LOOPBACK } from './ports.ts';
import { Problem } from './problem.ts';
import { findRedis } from './redis-program.ts';
import { type OwnRedis, startRedis } from './redis-server.ts';

/** @param durability INGEST_DURABILITY, as it was given: what it asks of Redis, this one does
 *  @throws Problem when another scripts/dev of this clone is using the data */
export async function startDevRedis(root: string, durability: string | undefined): Promise<OwnRedis> {
  const dir = join(root, '.data', 'redis');
  const portFile = join(root, '.data', 'redis-port');
  mkdirSync(dir, { recursive: true });
  const other = await portInUse(realpathSync(dir), portFile);
  if (other) {
    throw new Problem(
      `scripts/dev is already running in this clone (its Redis, on port ${other}, has ${dir} open).
End that one first, or work in a second clone, or give this one another Redis with REDIS_URL.`,
    );
  }
  const redis = await startRedis(findRedis(), dir, durability === 'fsync' ? 'always' : 'everysec');
  writeFileSync(portFile, String(redis.port));
  return redis;
}

/** The port of a Redis that has the folder open now. A process ID would not do: after a crash it may be anybody's. */
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
