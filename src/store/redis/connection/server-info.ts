/** Version, memory and settings of Redis, with warnings about settings that may lose data. */
import type { Cluster } from 'ioredis';
import { sum } from '../../../model/values/sum.ts';
import { type ClusterNodes, fromEach, readClusterNodes } from '../cluster/cluster-nodes.ts';
import { type Redis, unavailable } from './connection.ts';
import { addressOf, clusterOf } from './servers.ts';

const MIN_MAJOR = 7;
const NEARLY_FULL = 0.8;

/** A cluster has the oldest version, the memory of all primaries, and the settings that all nodes share. */
export interface ServerInfo {
  version: string;
  usedMemoryBytes: number;
  /** undefined: no limit. */
  maxMemoryBytes: number | undefined;
  maxmemoryPolicy: string;
  appendonly: boolean;
  /** undefined: unknown. */
  appendfsync: string | undefined;
  warnings: string[];
  /** undefined for a single server. */
  cluster?: ClusterInfo;
}

export interface ClusterInfo {
  primaries: number;
  replicas: number;
  unservedHashSlots: number;
  /** The primary with the smallest share of free memory. */
  fullest: { address: string; usedMemoryBytes: number; maxMemoryBytes: number | undefined };
}

/** @throws if Redis does not respond; in a cluster, if no primary does */
export function readServerInfo(redis: Redis): Promise<ServerInfo> {
  const cluster = clusterOf(redis);
  return cluster ? readClusterInfo(cluster) : readOneServer(redis);
}

async function readClusterInfo(cluster: Cluster): Promise<ServerInfo> {
  const [nodes, asked] = await Promise.all([
    readClusterNodes(cluster),
    fromEach(cluster.nodes('master'), readOneServer),
  ]);
  const found = asked.flatMap(({ server, reply }) => (reply ? [{ address: addressOf(server), ...reply }] : []));
  const silent = asked.filter(({ reply }) => !reply).map(({ server }) => `${addressOf(server)} does not respond.`);
  const [first, ...others] = found;
  if (!first) throw unavailable('no primary of the Redis Cluster responds');
  const fullest = others.reduce((most, node) => (isFuller(node, most) ? node : most), first);
  const limits = found.flatMap(({ maxMemoryBytes }) => maxMemoryBytes ?? []);
  const fsyncs = new Set(found.map(({ appendfsync }) => appendfsync));
  return {
    version: found
      .map(({ version }) => version)
      .sort((a, b) => a.localeCompare(b, 'en', { numeric: true }))[0] as string,
    usedMemoryBytes: sum(found.map(({ usedMemoryBytes }) => usedMemoryBytes)),
    maxMemoryBytes: limits.length === found.length ? sum(limits) : undefined,
    maxmemoryPolicy: [...new Set(found.map(({ maxmemoryPolicy }) => maxmemoryPolicy))].join(', '),
    appendonly: found.every(({ appendonly }) => appendonly),
    appendfsync: fsyncs.size === 1 ? first.appendfsync : undefined,
    warnings: [
      ...clusterWarnings(nodes),
      ...silent,
      ...found.flatMap(({ address, warnings }) => warnings.map((warning) => `${address}: ${warning}`)),
    ],
    cluster: {
      primaries: nodes.primaries.length,
      replicas: nodes.replicas,
      unservedHashSlots: nodes.unservedHashSlots,
      fullest: {
        address: fullest.address,
        usedMemoryBytes: fullest.usedMemoryBytes,
        maxMemoryBytes: fullest.maxMemoryBytes,
      },
    },
  };
}

function clusterWarnings({ primaries, unservedHashSlots }: ClusterNodes): string[] {
  const bare = primaries.filter(({ replicas }) => replicas === 0).map(({ address }) => address);
  return [
    ...(unservedHashSlots > 0
      ? [`${unservedHashSlots} of 16384 hash slots have no node: the service rejects the events of their partitions.`]
      : []),
    ...(bare.length > 0 ? [`No replica follows ${bare.join(', ')}: when it fails, its partitions are down.`] : []),
  ];
}

function isFuller(node: MemoryUse, most: MemoryUse): boolean {
  const asMemory = ({ usedMemoryBytes, maxMemoryBytes = 0 }: MemoryUse) => {
    return { usedBytes: usedMemoryBytes, maxBytes: maxMemoryBytes };
  };
  const memory = asMemory(node);
  return fullest([asMemory(most), memory]) === memory;
}

type MemoryUse = Pick<ServerInfo, 'usedMemoryBytes' | 'maxMemoryBytes'>;

async function readOneServer(redis: Redis): Promise<ServerInfo> {
  const [info, appendfsync] = await Promise.all([
    redis.info(),
    // Hosted Redis often forbids CONFIG.
    redis.config('GET', 'appendfsync').then(
      (reply) => (reply as string[])[1],
      () => undefined,
    ),
  ]);
  const { usedBytes = 0, maxBytes } = memoryOf(info);
  const status = {
    version: infoField(info, 'redis_version'),
    usedMemoryBytes: usedBytes,
    maxMemoryBytes: maxBytes || undefined,
    maxmemoryPolicy: infoField(info, 'maxmemory_policy'),
    appendonly: infoField(info, 'aof_enabled') === '1',
    appendfsync,
  };
  return { ...status, warnings: warningsOf(status) };
}

/** @param info reply to INFO
 *  @returns an empty text if the field is missing */
export function infoField(info: string, name: string): string {
  return new RegExp(`^${name}:(\\S*)`, 'm').exec(info)?.[1] ?? '';
}

/** `maxBytes` 0: no limit. `usedBytes` undefined: unknown. */
export function memoryOf(info: string): { usedBytes: number | undefined; maxBytes: number } {
  const used = infoField(info, 'used_memory');
  return { usedBytes: used === '' ? undefined : Number(used), maxBytes: Number(infoField(info, 'maxmemory')) };
}

/** The server with the smallest share of free memory. */
export function fullest(servers: readonly ReturnType<typeof memoryOf>[]): ReturnType<typeof memoryOf> {
  const usedPart = ({ usedBytes = 0, maxBytes }: ReturnType<typeof memoryOf>) =>
    maxBytes > 0 ? usedBytes / maxBytes : 0;
  const [first = { usedBytes: undefined, maxBytes: 0 }, ...others] = servers;
  return others.reduce((most, node) => {
    if (usedPart(node) !== usedPart(most)) return usedPart(node) > usedPart(most) ? node : most;
    return (node.usedBytes ?? 0) > (most.usedBytes ?? 0) ? node : most;
  }, first);
}

function warningsOf(status: Omit<ServerInfo, 'warnings' | 'cluster'>): string[] {
  const { version, usedMemoryBytes, maxMemoryBytes, maxmemoryPolicy, appendonly, appendfsync } = status;
  const warnings: string[] = [];
  if (Number.parseInt(version, 10) < MIN_MAJOR)
    warnings.push(`Redis ${version} is too old; Tidegate needs 7.0 or newer.`);
  if (maxmemoryPolicy !== 'noeviction') {
    warnings.push(
      `maxmemory-policy is ${maxmemoryPolicy}: Redis drops accepted events when memory runs out. Set noeviction.`,
    );
  }
  if (!appendonly) warnings.push('appendonly is off: accepted events are lost when Redis crashes. Turn it on.');
  if (appendonly && appendfsync === 'no') {
    warnings.push(
      'appendfsync is no: up to half a minute of events is lost when the machine fails. Set everysec or always.',
    );
  }
  if (maxMemoryBytes !== undefined && usedMemoryBytes > NEARLY_FULL * maxMemoryBytes) {
    warnings.push(
      `Redis uses ${Math.floor((100 * usedMemoryBytes) / maxMemoryBytes)} % of its memory; the service rejects events when it is full.`,
    );
  }
  return warnings;
}
