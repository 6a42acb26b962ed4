/** Checks a cluster before a release: what is missing, and how to fix it. */
import type { Cluster } from 'ioredis';
import type { Config } from '../../../config.ts';
import type { Redis } from '../connection/connection.ts';
import { readServerInfo } from '../connection/server-info.ts';
import { addressOf, openReplica } from '../connection/servers.ts';
import { fromEach, readClusterNodes } from './cluster-nodes.ts';

const SETTING = 'REDIS_CLUSTER_URLS';
const MIN_MAJOR = 7;

/** @throws if no node responds */
export async function checkCluster(
  cluster: Cluster,
  { ingestDurability }: Pick<Config, 'ingestDurability'>,
): Promise<ClusterFindings> {
  const nodes = await readClusterNodes(cluster);
  const opened = nodes.replicaAddresses.flatMap((address) => openReplica(cluster, address) ?? []);
  for (const replica of opened) replica.on('error', () => {});
  const [primaries, replicas] = await Promise.all([
    fromEach(cluster.nodes('master'), readServerInfo),
    fromEach(opened, readServerInfo),
  ]);
  const isFsync = ingestDurability === 'fsync';
  const settings = isFsync ? await fromEach([...cluster.nodes('master'), ...opened], readNodeSettings) : [];
  for (const replica of opened) replica.disconnect();
  const problems: string[] = [];
  const warnings: string[] = [];
  if (nodes.unservedHashSlots > 0) {
    problems.push(
      `${SETTING}: ${nodes.unservedHashSlots} of 16384 hash slots have no node, so the cluster is not ready. Start the missing nodes, ` +
        'or give the hash slots to others: redis-cli --cluster fix',
    );
  }
  const bare = nodes.primaries.filter((primary) => primary.replicas === 0).map(({ address }) => address);
  if (bare.length > 0) {
    const missing = `no replica follows ${bare.join(', ')}. Add one: redis-cli --cluster add-node --cluster-slave`;
    if (isFsync) {
      problems.push(`INGEST_DURABILITY: got "fsync", which asks for the disk of a replica, but ${missing}`);
    } else warnings.push(`When a primary fails, its partitions are down: ${missing}`);
  }
  for (const [role, all] of [
    ['primary', primaries],
    ['replica', replicas],
  ] as const) {
    for (const { server, reply } of all) {
      const node = `the ${role} ${addressOf(server)}`;
      if (!reply) warnings.push(`${node} does not respond`);
      else if (Number.parseInt(reply.version, 10) < MIN_MAJOR) {
        problems.push(`${SETTING}: ${node} is Redis ${reply.version}; Tidegate needs 7.0 or newer`);
      } else warnings.push(...reply.warnings.map((warning) => `${node}, Redis ${reply.version}: ${warning}`));
    }
  }
  for (const { server, reply = {} } of settings) {
    const isPrimary = !opened.includes(server);
    const found = findingsOf(`the ${isPrimary ? 'primary' : 'replica'} ${addressOf(server)}`, isPrimary, reply);
    problems.push(...found.problems);
    warnings.push(...found.warnings);
  }
  return { problems, warnings };
}

/** With a longer timeout, events of a failed primary are rejected for longer than most senders retry. */
const NODE_TIMEOUT_MAX_MS = 15_000;
/** Node settings that INGEST_DURABILITY=fsync relies on in a cluster, beyond those of a single server (durable-server.ts). */
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
