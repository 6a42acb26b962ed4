/** The faults, by name. Each repairs what it broke before it resolves. */
import { setTimeout } from 'node:timers/promises';
import type { Sender } from '../load/sender.ts';
import type { Random } from '../random.ts';
import type { RedisServer } from '../redis.ts';
import type { Service } from '../service.ts';
import type { ServiceProcess } from '../service-process.ts';
import type { RedisProxy } from './redis-proxy.ts';
import type { SmallDisk } from './small-disk.ts';

export interface ChaosContext {
  service: Service;
  sender: Sender;
  redis: RedisServer;
  proxy: RedisProxy;
  random: Random;
  /** undefined where it cannot be mounted. */
  disk: SmallDisk | undefined;
  /** How long Redis or a process is stopped. */
  stopMs: number;
}

export interface Fault {
  name: string;
  weight: number;
  /** Whether calls in flight may be repeated. An orderly shutdown is no excuse. */
  excuses: boolean;
  /** How many processes of the service it kills or terminates. */
  ends: number;
  /** @returns the reason if this run cannot inject the fault */
  unavailable?(context: ChaosContext): string | undefined;
  run(context: ChaosContext): Promise<void>;
}

const SLOW_LEAST_MS = 20;
const SLOW_MOST_MS = 400;
const MIB = 1_048_576;

const anyOf = (processes: readonly ServiceProcess[], random: Random) => random.pick(processes);

/** Kills the process and restarts it in the background. */
async function crash(target: ServiceProcess): Promise<void> {
  await target.kill();
  void target.start();
}

async function replace(target: ServiceProcess): Promise<void> {
  await target.terminate();
  await target.start();
}

async function pauseProcess(context: ChaosContext, target: ServiceProcess): Promise<void> {
  target.signal('SIGSTOP');
  await setTimeout(context.stopMs);
  target.signal('SIGCONT');
}

async function stepProcessClock(context: ChaosContext, ms: number): Promise<void> {
  const target = anyOf(context.service.all, context.random);
  target.stepClock(ms);
  await setTimeout(context.random.between(1_000, 3_000));
  target.stepClock(0);
}

export const FAULTS: readonly Fault[] = [
  {
    name: 'kill-web',
    weight: 4,
    excuses: true,
    ends: 1,
    run: ({ service, random }) => crash(anyOf(service.webs, random)),
  },
  {
    name: 'kill-worker',
    weight: 8,
    excuses: true,
    ends: 1,
    run: ({ service, random }) => crash(anyOf(service.workers, random)),
  },
  {
    name: 'kill-all',
    weight: 1,
    excuses: true,
    ends: 4,
    run: async ({ service }) => void (await Promise.all(service.all.map(crash))),
  },
  {
    name: 'terminate-web',
    weight: 3,
    excuses: false,
    ends: 1,
    run: ({ service, random }) => replace(anyOf(service.webs, random)),
  },
  {
    name: 'terminate-worker',
    weight: 3,
    excuses: false,
    ends: 1,
    run: ({ service, random }) => replace(anyOf(service.workers, random)),
  },
  {
    name: 'rolling-deploy',
    weight: 1,
    excuses: false,
    ends: 4,
    run: async ({ service, sender }) => {
      // Wait until earlier faults are repaired.
      while (service.ready.length < service.webs.length) await setTimeout(50);
      sender.isDeploying = true;
      for (const target of [...service.webs, ...service.workers]) {
        await replace(target);
        while (service.ready.length < service.webs.length) await setTimeout(50);
      }
      sender.isDeploying = false;
    },
  },
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
    name: 'stop-worker',
    weight: 2,
    excuses: true,
    ends: 0,
    run: (context) => pauseProcess(context, anyOf(context.service.workers, context.random)),
  },
  {
    name: 'stop-web',
    weight: 1,
    excuses: true,
    ends: 0,
    run: (context) => pauseProcess(context, anyOf(context.service.webs, context.random)),
  },
  {
    name: 'full-redis',
    weight: 2,
    excuses: true,
    ends: 0,
    run: async ({ redis, stopMs }) => {
      await redis.admin.config('SET', 'maxmemory', '1');
      await setTimeout(stopMs);
      await redis.admin.config('SET', 'maxmemory', '0');
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
  { name: 'clock-ahead', weight: 1, excuses: false, ends: 0, run: (context) => stepProcessClock(context, 10_000) },
  { name: 'clock-behind', weight: 1, excuses: false, ends: 0, run: (context) => stepProcessClock(context, -10_000) },
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
