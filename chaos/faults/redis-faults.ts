/** Faults of a single Redis. */
import { setTimeout } from 'node:timers/promises';
import type { RedisServer } from '../redis.ts';
import { anyOf, type ChaosContext, type Fault } from './fault.ts';
import type { RedisProxy } from './redis-proxy.ts';
import type { SmallDisk } from './small-disk.ts';

export interface RedisContext extends ChaosContext {
  redis: RedisServer;
  proxy: RedisProxy;
  /** undefined where it cannot be mounted. */
  disk: SmallDisk | undefined;
}

const SLOW_LEAST_MS = 20;
const SLOW_MOST_MS = 400;
const MIB = 1_048_576;

export const REDIS_FAULTS: readonly Fault<RedisContext>[] = [
  {
    name: 'kill-redis',
    weight: 3,
    excuses: true,
    ends: 0,
    run: async ({ redis, random }) => {
      await redis.end('SIGKILL');
      await setTimeout(random.between(0, 1_500));
      await redis.start();
    },
  },
  {
    name: 'restart-redis',
    weight: 1,
    excuses: true,
    ends: 0,
    run: async ({ redis }) => {
      await redis.end('SIGTERM');
      await redis.start();
    },
  },
  {
    name: 'stop-redis',
    weight: 1,
    excuses: true,
    ends: 0,
    run: async ({ redis, stopMs }) => {
      redis.pause();
      await setTimeout(stopMs);
      redis.resume();
    },
  },
  {
    name: 'full-redis',
    weight: 2,
    excuses: true,
    ends: 0,
    run: async ({ redis, service, stopMs }) => {
      await redis.admin.config('SET', 'maxmemory', '1');
      await setTimeout(stopMs);
      await redis.admin.config('SET', 'maxmemory', '0');
      await service.untilIntakeIsOpen();
    },
  },
  {
    name: 'slow-redis',
    weight: 2,
    excuses: true,
    ends: 0,
    run: async ({ proxy, random, stopMs }) => {
      proxy.delay(() => random.between(SLOW_LEAST_MS, SLOW_MOST_MS));
      await setTimeout(stopMs);
      proxy.delay(() => 0);
    },
  },
  {
    name: 'cut-redis',
    weight: 3,
    excuses: true,
    ends: 0,
    run: async ({ proxy }) => {
      proxy.cutMidReply();
      await setTimeout(600);
    },
  },
  {
    name: 'unreachable-redis',
    weight: 1,
    excuses: true,
    ends: 0,
    run: async ({ proxy, random }) => {
      proxy.block();
      await setTimeout(random.between(500, 3_000));
      proxy.unblock();
    },
  },
  {
    name: 'boot-on-slow-redis',
    weight: 1,
    excuses: true,
    ends: 1,
    run: async ({ proxy, service, random }) => {
      const target = anyOf(service.webs, random);
      await target.kill();
      proxy.delay((reply) => (reply.includes('redis_version:') ? 2_300 : 0));
      const started = target.start();
      await setTimeout(3_000);
      proxy.delay(() => 0);
      await started;
    },
  },
  {
    name: 'full-disk',
    weight: 1,
    excuses: true,
    ends: 0,
    unavailable: ({ disk }) =>
      disk ? undefined : 'the full disk: this run mounts none (--short), or this machine lets none be mounted',
    run: async ({ disk, redis, random }) => {
      // A Redis that syncs every write exits on a full disk. Restart it when there is space.
      disk?.fill(random.between(0, MIB));
      await setTimeout(2_000);
      disk?.free();
      await redis.end('SIGKILL');
      await redis.start();
    },
  },
];
