/** Node settings that INGEST_DURABILITY=fsync relies on in a cluster, beyond those of a single server (durable-server.ts). */
import type { Redis } from '../connection/connection.ts';

/** With a longer timeout, events of a failed primary are rejected for longer than most senders retry. */
const NODE_TIMEOUT_MAX_MS = 15_000;
const NAMES = ['cluster-replica-validity-factor', 'cluster-node-timeout', 'min-replicas-to-write'] as const;

export type NodeSettings = Partial<Record<(typeof NAMES)[number], number>>;

/** Reads the settings of a node. Hosted Redis often forbids CONFIG; the result is then empty. */
export async function readNodeSettings(redis: Redis): Promise<NodeSettings> {
  const reply = await redis.config('GET', ...NAMES).catch(() => []);
  const flat = reply as string[];
  return Object.fromEntries(
    NAMES.flatMap((name) => (flat.includes(name) ? [[name, Number(flat[flat.indexOf(name) + 1])]] : [])),
  );
}

export interface ClusterFindings {
  problems: string[];
  warnings: string[];
}

/** @param node role and address, for people */
export function findingsOf(node: string, isPrimary: boolean, settings: NodeSettings): ClusterFindings {
  const problems: string[] = [];
  const warnings: string[] = [];
  const { 'cluster-node-timeout': timeoutMs, 'min-replicas-to-write': replicas } = settings;
  if (settings['cluster-replica-validity-factor'] === 0) {
    problems.push(
      `INGEST_DURABILITY: got "fsync", but ${node} has cluster-replica-validity-factor 0: a replica that has not heard of its primary for long takes over, ` +
        'and what it has missed is lost. Set 1 or more; the default is 10',
    );
  }
  if (timeoutMs !== undefined && timeoutMs > NODE_TIMEOUT_MAX_MS) {
    warnings.push(
      `${node} has cluster-node-timeout ${timeoutMs}: events of a primary that fails are refused for about twice as long. Set 2000 to 5000`,
    );
  }
  if (isPrimary && replicas === 0) {
    warnings.push(
      `${node} has min-replicas-to-write 0: cut off from its replica it keeps accepting events that a failover then loses. Set 1`,
    );
  }
  return { problems, warnings };
}
