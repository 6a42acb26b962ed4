/** Checks a cluster before a release: what is missing, and how to fix it. */
import type { Cluster } from 'ioredis';
import type { Config } from '../../../config.ts';
import { readServerInfo } from '../connection/server-info.ts';
import { addressOf, openReplica } from '../connection/servers.ts';
import { fromEach, readClusterNodes } from './cluster-nodes.ts';
import { type ClusterFindings, findingsOf, readNodeSettings } from './cluster-settings.ts';

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
