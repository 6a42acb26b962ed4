/** The nodes of a cluster, according to the first node that responds. */
import type { Cluster } from 'ioredis';
import { inTime } from '../../../model/values/in-time.ts';
import { sum } from '../../../model/values/sum.ts';
import type { Redis } from '../connection/connection.ts';

const HASH_SLOTS = 16_384;
/** A node that does not respond within this time counts as down. */
const TIMEOUT_MS = 800;

export interface ClusterNodes {
  /** Primaries with hash slots that have not failed. */
  primaries: ClusterNode[];
  /** Number of replicas that have not failed. */
  replicas: number;
  replicaAddresses: string[];
  /** Number of hash slots whose primary is missing or failed. */
  unservedHashSlots: number;
}

export interface ClusterNode {
  address: string;
  replicas: number;
}

/** @throws if no node responds */
export async function readClusterNodes(cluster: Cluster): Promise<ClusterNodes> {
  const asked = cluster.nodes().map((node) => responseOf(node.cluster('NODES') as Promise<string>));
  return clusterNodesOf(await Promise.any(asked));
}

/** @param text reply to CLUSTER NODES */
function clusterNodesOf(text: string): ClusterNodes {
  const nodes = text
    .trim()
    .split('\n')
    .map((line) => {
      const [id = '', at = '', flags = '', primary = '', , , , link = '', ...hashSlots] = line.split(' ');
      return { id, address: at.split('@')[0] ?? '', flags: flags.split(','), primary, link, hashSlots };
    });
  const alive = nodes.filter(({ flags, link }) => {
    return !flags.includes('fail') && !flags.includes('noaddr') && (link === 'connected' || flags.includes('myself'));
  });
  const replicas = alive.filter(({ flags }) => flags.includes('slave'));
  const primaries = alive.filter(({ flags, hashSlots }) => flags.includes('master') && hashSlots.some(isRange));
  const served = sum(
    primaries.flatMap(({ hashSlots }) => hashSlots.filter(isRange)),
    (range) => sizeOf(range),
  );
  return {
    primaries: primaries.map(({ id, address }) => {
      return { address, replicas: replicas.filter(({ primary }) => primary === id).length };
    }),
    replicas: replicas.length,
    replicaAddresses: replicas.map(({ address }) => address),
    unservedHashSlots: HASH_SLOTS - served,
  };
}

/** Migrating hash slots are in brackets; they are also listed for their current owner. */
function isRange(text: string): boolean {
  return /^\d/.test(text);
}

function sizeOf(range: string): number {
  const [first = 0, last = first] = range.split('-').map(Number);
  return last - first + 1;
}

function responseOf<T>(response: Promise<T>): Promise<T> {
  return inTime(response, TIMEOUT_MS, () => new Error('Command timed out'));
}

/** The reply of each server; undefined if it did not reply in time. */
export async function fromEach<T>(
  servers: readonly Redis[],
  ask: (server: Redis) => Promise<T>,
): Promise<{ server: Redis; reply: T | undefined }[]> {
  return Promise.all(
    servers.map(async (server) => ({ server, reply: await responseOf(ask(server)).catch(() => undefined) })),
  );
}
