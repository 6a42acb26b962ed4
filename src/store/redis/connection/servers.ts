/** The Redis behind a connection: a single server, the master named by Sentinels, or a cluster. The rest of the service treats them
 *  alike: the key names (keyspace.ts) ensure that all keys of a command or script are in one place. */
import hashSlotOf from 'cluster-key-slot';
import { Cluster, type ClusterOptions, Redis, type RedisOptions } from 'ioredis';
import type { RedisServers } from '../../../config.ts';

/** A cluster accepts the commands of a single server if their keys are in one hash slot. */
export type { Redis };

/** Connection options common to a single server and to cluster nodes. */
interface ConnectionOptions {
  enableOfflineQueue?: boolean;
  maxRetriesPerRequest: number | null;
  commandTimeout?: number;
  lazyConnect: boolean;
  connectTimeout: number;
  retryStrategy: (tries: number) => number;
  reconnectOnError: (error: Error) => boolean;
}

/** Connection options of a single server, and options that differ in a cluster. */
export interface ServerOptions {
  redis: ConnectionOptions;
  cluster: Pick<ClusterOptions, 'maxRedirections' | 'enableOfflineQueue' | 'lazyConnect'>;
}

const SENTINEL_PORT = 26_379;
const DEFAULT_PORT = 6_379;
/** Interval at which a process reads the owners of hash slots, in addition to redirections. */
const HASH_SLOTS_REFRESH_MS = 5_000;
const HASH_SLOTS_TIMEOUT_MS = 2_000;
const RETRY_MS = 100;

export function open(servers: RedisServers, { redis, cluster }: ServerOptions): Redis {
  const { clusterUrls, sentinels, url, tlsVerify } = servers;
  if (clusterUrls) return openCluster(servers, clusterUrls, { redis, cluster });
  const options = { ...redis, ...tlsOf(url, tlsVerify) };
  if (!sentinels) return new Redis(url, options);
  const [first] = sentinels.urls.map((text) => new URL(text)) as [URL, ...URL[]];
  return new Redis({
    ...options,
    ...credentialsOf(new URL(url)),
    name: sentinels.master,
    sentinels: sentinels.urls.map((text) => hostOf(new URL(text), SENTINEL_PORT)),
    ...(first.username && { sentinelUsername: decodeURIComponent(first.username) }),
    ...(first.password && { sentinelPassword: decodeURIComponent(first.password) }),
    ...(first.protocol === 'rediss:' && { sentinelTLS: { rejectUnauthorized: tlsVerify } }),
    ...(url.startsWith('rediss:') && { enableTLSForSentinelMode: true }),
  });
}

function openCluster(
  { natMap, tlsVerify }: RedisServers,
  urls: readonly string[],
  { redis, cluster }: ServerOptions,
): Redis {
  const [first] = urls as [string, ...string[]];
  const { retryStrategy, enableOfflineQueue: _offline, lazyConnect: _lazy, ...ofNodes } = redis;
  const opened = new Cluster(
    urls.map((url) => hostOf(new URL(url), DEFAULT_PORT)),
    {
      ...cluster,
      clusterRetryStrategy: retryStrategy,
      retryDelayOnFailover: RETRY_MS,
      retryDelayOnClusterDown: RETRY_MS,
      retryDelayOnTryAgain: RETRY_MS,
      slotsRefreshTimeout: HASH_SLOTS_TIMEOUT_MS,
      slotsRefreshInterval: HASH_SLOTS_REFRESH_MS,
      ...(natMap && { natMap: toNatMap(natMap) }),
      // Certificates of hosted clusters name nodes, not their addresses.
      ...(first.startsWith('rediss:') && { dnsLookup: (address, callback) => callback(null, address) }),
      redisOptions: { ...ofNodes, ...credentialsOf(new URL(first)), ...tlsOf(first, tlsVerify) },
    } satisfies ClusterOptions,
  );
  return amend(opened) as unknown as Redis;
}

/** Adds what ioredis lacks, also to the duplicates that BullMQ makes. */
function amend(cluster: Cluster): Cluster {
  endReads(cluster);
  onEachServer(cluster as unknown as Redis, handleAsking);
  const { duplicate } = cluster;
  cluster.duplicate = (...options) => amend(duplicate.apply(cluster, options));
  return cluster;
}

/** Stops the periodic read of hash slot owners when a connection ends. ioredis stops only a read that has not begun; a read in progress
 *  would continue for ever, and keep the process alive. */
function endReads(cluster: Cluster): void {
  const { clearNodesRefreshInterval } = cluster as unknown as { clearNodesRefreshInterval(): void };
  // Called after ioredis's own handling of the read in progress; immediately if there is none.
  cluster.once('end', () => cluster.refreshSlotsCache(() => clearNodesRefreshInterval.call(cluster)));
}

/** For a key of a hash slot that moves, ioredis sends ASKING before the command and ignores its promise. If the connection closes before the
 *  reply, the unhandled rejection would end the process. The command itself is rejected, or sent again. */
function handleAsking(node: Redis): void {
  const { asking } = node;
  node.asking = (...callback) => {
    const reply = asking.apply(node, callback);
    reply.catch(() => {});
    return reply;
  };
}

/** The cluster behind a connection; undefined for a single server. */
export function clusterOf(redis: Redis): Cluster | undefined {
  return redis.isCluster ? (redis as unknown as Cluster) : undefined;
}

/** The node of each hash slot; undefined without a cluster. */
export function nodesByHashSlot(redis: Redis): readonly (readonly string[] | undefined)[] | undefined {
  const cluster = clusterOf(redis);
  return cluster?.slots;
}

/** Connections to each server that accepts writes: the single server, or the currently known primaries. */
export function primariesOf(redis: Redis): Redis[] {
  return clusterOf(redis)?.nodes('master') ?? [redis];
}

/** Address of the single server that a connection leads to. */
export function addressOf({ options: { host, port } }: Redis): string {
  return `${host}:${port}`;
}

/** Address of the primary that owns the key's hash slot, as far as known. */
export function primaryOf(cluster: Cluster, key: string): string | undefined {
  return nodesByHashSlot(cluster as unknown as Redis)?.[hashSlotOf(key)]?.[0];
}

/** Opens a separate connection to a cluster node; undefined if it is no longer a node. */
export function openNode(cluster: Cluster, address: string, options: Partial<ConnectionOptions>): Redis | undefined {
  const node = cluster.nodes().find((candidate) => addressOf(candidate) === address);
  if (!node) return undefined;
  const { replyMapping: _, ...ofNode } = node.options as RedisOptions & { replyMapping?: unknown };
  return new Redis({ ...ofNode, readOnly: false, lazyConnect: false, ...options });
}

/** Opens a connection to a replica, which ioredis does not connect to. */
export function openReplica(cluster: Cluster, announced: string): Redis | undefined {
  const [any] = cluster.nodes('master');
  const { natMap } = cluster.options;
  const mapped = typeof natMap === 'object' ? natMap[announced] : undefined;
  const { host, port } = mapped ?? hostOf(new URL(`redis://${announced}`), DEFAULT_PORT);
  if (!any) return undefined;
  const { replyMapping: _, ...ofNode } = any.options as RedisOptions & { replyMapping?: unknown };
  return new Redis({ ...ofNode, host, port, readOnly: false, lazyConnect: false });
}

/** Calls back with each connection to a server, current and future. */
export function onEachServer(redis: Redis, callback: (server: Redis) => void): void {
  const cluster = clusterOf(redis);
  if (!cluster) {
    callback(redis);
    return;
  }
  for (const node of cluster.nodes()) callback(node);
  cluster.on('+node', callback);
}

function hostOf({ hostname, port }: URL, defaultPort: number): { host: string; port: number } {
  return { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || defaultPort) };
}

function credentialsOf({ username, password }: URL): { username?: string; password?: string } {
  return {
    ...(username && { username: decodeURIComponent(username) }),
    ...(password && { password: decodeURIComponent(password) }),
  };
}

function tlsOf(url: string, verify: boolean): { tls?: { rejectUnauthorized: boolean } } {
  return url.startsWith('rediss:') ? { tls: { rejectUnauthorized: verify } } : {};
}

function toNatMap(pairs: Readonly<Record<string, string>>): Record<string, { host: string; port: number }> {
  return Object.fromEntries(
    Object.entries(pairs).map(([announced, reachable]) => {
      const colon = reachable.lastIndexOf(':');
      return [announced, { host: reachable.slice(0, colon), port: Number(reachable.slice(colon + 1)) }];
    }),
  );
}
