/** A single Redis behind a proxy, if possible on a small disk. */
import { injectFaults } from '../attack.ts';
import { FAULTS } from '../faults/faults.ts';
import { startRedisProxy } from '../faults/redis-proxy.ts';
import { mountSmallDisk } from '../faults/small-disk.ts';
import type { Options } from '../options.ts';
import { redisIn } from '../redis.ts';
import type { Target } from './target.ts';

export async function singleRedis(dir: string, { short }: Options): Promise<Target> {
  const disk = short ? undefined : mountSmallDisk(dir);
  const redis = await redisIn(dir).catch((error) => {
    disk?.unmount();
    throw error;
  });
  const proxy = await startRedisProxy(redis.url);
  return {
    settings: { REDIS_URL: proxy.url },
    partitions: 1,
    inject: (context, _ledger, timeline, options) =>
      injectFaults(FAULTS, { ...context, redis, proxy, disk }, timeline, options),
    primaries: async () => [redis.admin],
    counts: () => [],
    load: () => ({}),
    async close() {
      await proxy.close();
      redis.resume();
      await redis.end('SIGKILL');
      redis.admin.disconnect();
      disk?.unmount();
    },
  };
}
