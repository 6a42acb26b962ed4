/** Faults of a Redis Cluster. */
import { setTimeout } from 'node:timers/promises';
import type { RedisCluster } from '../../scripts/lib/cluster/cluster.ts';
import { moveHashSlot, rebalance, reshard, usedHashSlots } from '../../scripts/lib/cluster/move-hash-slots.ts';
import type { ClusterNode } from '../../scripts/lib/cluster/node.ts';
import type { Outages } from '../checks/outages.ts';
import type { ChaosContext, Fault } from './fault.ts';

export interface ClusterContext extends ChaosContext {
  cluster: RedisCluster;
  outages: Outages;
  /** Hash slots without keys stay where they are: to move thousands takes most of the CPU time of the short form. */
  movesOnlyUsed: boolean;
}

/** Keys that redis-cli moves at a time. The fewer, the longer is a partition with its keys on two nodes. */
const SLOW_MOVE_KEYS = 2;
/** A replica takes over 2.5 to 4.5 s after its primary stopped, with the node timeout of targets/cluster.ts. */
const HANG_LEAST_MS = 3_500;
const HANG_MOST_MS = 6_000;
/** Between two hash slots with keys, if those without do not take the time. */
const NEXT_MOVE_MOST_MS = 400;

async function anyPrimary({ cluster, random }: ClusterContext): Promise<ClusterNode> {
  return random.pick(await cluster.primaries());
}

/** Kills a primary and waits until its replica has taken over. */
async function killAndPromote(context: ClusterContext): Promise<ClusterNode> {
  const { cluster, outages } = context;
  const primary = await anyPrimary(context);
  await outages.during(async () => {
    await cluster.kill(primary);
    await cluster.waitUntilServed();
  });
  return primary;
}

/** Moves a primary's hash slots to another, and back. */
async function moveThereAndBack(context: ClusterContext, keysAtOnce?: number): Promise<void> {
  const { cluster, random, movesOnlyUsed } = context;
  const options = keysAtOnce === undefined ? {} : { keysAtOnce };
  const [from, to] = random.shuffled(await cluster.primaries()) as [ClusterNode, ClusterNode];
  if (movesOnlyUsed) {
    const used = await usedHashSlots(cluster, from);
    for (const [source, target] of [[from, to] as const, [to, from] as const]) {
      for (const hashSlot of used) {
        await moveHashSlot(cluster, hashSlot, source, target, options);
        await setTimeout(random.between(0, NEXT_MOVE_MOST_MS));
      }
      await cluster.waitUntilServed();
    }
    return;
  }
  await reshard(cluster, from, to, undefined, options);
  await cluster.waitUntilServed();
  await rebalance(cluster, new Map(), options);
  await cluster.waitUntilServed();
}

export const CLUSTER_FAULTS: readonly Fault<ClusterContext>[] = [
  {
    name: 'kill-primary',
    weight: 4,
    excuses: true,
    ends: 0,
    run: async (context) => {
      const killed = await killAndPromote(context);
      // Without it, nothing can be promised to be on two nodes.
      await setTimeout(context.random.between(0, 2_000));
      await context.cluster.start(killed);
      await context.cluster.waitUntilHealthy();
    },
  },
  {
    name: 'restart-primary',
    weight: 2,
    excuses: true,
    ends: 0,
    run: async (context) => {
      const { cluster, random } = context;
      const primary = await anyPrimary(context);
      // It is back before its replica takes over, or just then.
      await cluster.kill(primary);
      await setTimeout(random.between(0, 2_000));
      await cluster.start(primary);
      await cluster.waitUntilHealthy();
    },
  },
  {
    name: 'stop-primary',
    weight: 2,
    excuses: true,
    ends: 0,
    run: async (context) => {
      const { cluster, stopMs } = context;
      const primary = await anyPrimary(context);
      cluster.pause(primary);
      await setTimeout(stopMs);
      cluster.resume(primary);
      await cluster.waitUntilHealthy();
    },
  },
  {
    name: 'hang-primary',
    weight: 2,
    excuses: true,
    ends: 0,
    run: async (context) => {
      const { cluster, random, outages } = context;
      const primary = await anyPrimary(context);
      // It returns just before, just after or well after its replica has taken over.
      const hangsUntil = performance.now() + random.between(HANG_LEAST_MS, HANG_MOST_MS);
      cluster.pause(primary);
      await outages.during(() => setTimeout(hangsUntil - performance.now()));
      cluster.resume(primary);
      await cluster.waitUntilHealthy();
    },
  },
  {
    name: 'kill-replica',
    weight: 1,
    excuses: true,
    ends: 0,
    run: async (context) => {
      const { cluster, random } = context;
      const [replica] = await cluster.replicasOf(await anyPrimary(context));
      if (!replica) return;
      await cluster.kill(replica);
      await setTimeout(random.between(500, 3_000));
      await cluster.start(replica);
      await cluster.waitUntilHealthy();
    },
  },
  {
    name: 'planned-failover',
    weight: 2,
    excuses: true,
    ends: 0,
    run: async (context) => {
      const { cluster } = context;
      const [replica] = await cluster.replicasOf(await anyPrimary(context));
      await replica?.admin.cluster('FAILOVER');
      await cluster.waitUntilHealthy();
    },
  },
  {
    name: 'kill-cluster',
    weight: 1,
    excuses: true,
    ends: 0,
    run: async ({ cluster, random }) => {
      await Promise.all(cluster.nodes.map((node) => cluster.kill(node)));
      await setTimeout(random.between(0, 1_000));
      await Promise.all(cluster.nodes.map((node) => cluster.start(node)));
      await cluster.waitUntilHealthy();
    },
  },
  {
    name: 'full-primary',
    weight: 1,
    excuses: true,
    ends: 0,
    run: async (context) => {
      const { admin } = await anyPrimary(context);
      await admin.config('SET', 'maxmemory', '1');
      await setTimeout(context.stopMs);
      await admin.config('SET', 'maxmemory', '0');
      await context.service.untilIntakeIsOpen();
    },
  },
  // A move is no failure: what it excuses is nothing.
  { name: 'rebalance', weight: 2, excuses: false, ends: 0, run: (context) => moveThereAndBack(context) },
  {
    name: 'slow-rebalance',
    weight: 2,
    excuses: false,
    ends: 0,
    run: (context) => moveThereAndBack(context, SLOW_MOVE_KEYS),
  },
];
