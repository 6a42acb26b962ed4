/** What the nodes of a Redis Cluster have done: commands and CPU time, to see how evenly work spreads. */
import type { RedisCluster } from './cluster.ts';
import type { ClusterNode } from './node.ts';

export interface NodeUsage {
  node: ClusterNode;
  isPrimary: boolean;
  /** Since the node's start. A replica counts those that its primary passes on. */
  commands: number;
  /** User and system time of all its threads and child processes. */
  cpuSeconds: number;
  /** Calls by command, also by scripts. */
  calls: Record<string, number>;
}

export async function usageOf(cluster: RedisCluster): Promise<NodeUsage[]> {
  return Promise.all(
    cluster.nodes
      .filter(({ responds }) => responds)
      .map(async (node) => {
        const info = await node.info('replication', 'stats', 'cpu', 'commandstats');
        const calls = Object.entries(info).flatMap(([name, value]) => {
          const [, command] = /^cmdstat_(.+)$/.exec(name) ?? [];
          return command ? [[command, Number(/calls=(\d+)/.exec(value)?.[1])]] : [];
        });
        const cpu = ['used_cpu_user', 'used_cpu_sys', 'used_cpu_user_children', 'used_cpu_sys_children'];
        return {
          node,
          isPrimary: info.role === 'master',
          commands: Number(info.total_commands_processed),
          cpuSeconds: cpu.reduce((sum, name) => sum + Number(info[name]), 0),
          calls: Object.fromEntries(calls) as Record<string, number>,
        };
      }),
  );
}

/** What happened from one reading to the next; without nodes that started in between. */
export function usageBetween(before: readonly NodeUsage[], after: readonly NodeUsage[]): NodeUsage[] {
  return after.flatMap((now) => {
    const then = before.find(({ node }) => node === now.node);
    if (!then || then.commands > now.commands) return [];
    const calls = Object.entries(now.calls).map(([name, count]) => [name, count - (then.calls[name] ?? 0)]);
    return [
      {
        ...now,
        commands: now.commands - then.commands,
        cpuSeconds: now.cpuSeconds - then.cpuSeconds,
        calls: Object.fromEntries(calls) as Record<string, number>,
      },
    ];
  });
}
