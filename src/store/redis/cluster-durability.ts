/** What the nodes of a cluster promise, each for the partitions that are on it. Each primary is checked on its own, and has a connection of its own for
 *  that and for its barrier. A node that is away, or promises too little, holds up nothing that is on others.
 *
 *  A failover, or a move of a hash slot, between a write and its barrier ends in "unavailable": the marker goes to the node that had the hash slot
 *  before the write, which refuses it when it has that hash slot no longer; and its identity tells whether it has had it all the time. */
import type { Cluster } from 'ioredis';
import type { Logger } from '../../log.ts';
import { connectNode, type Redis, unavailable } from './connection.ts';
import { DiskBarrier } from './disk-barrier.ts';
import { replicatedServer } from './durable-server.ts';
import { type Durability, NOTHING, type OnDisk } from './durable-write.ts';
import type { Keyspace } from './keyspace.ts';
import { ServerDurability } from './server-durability.ts';
import { addressOf, primaryOf } from './servers.ts';

interface ClusterDurabilityOptions {
  cluster: Cluster;
  keys: Keyspace;
  /** That have a write before it is acknowledged. */
  replicas: number;
  log: Logger;
  required: boolean;
}

interface Node {
  redis: Redis;
  durability: ServerDurability;
}

export class ClusterDurability implements Durability {
  readonly #options: ClusterDurabilityOptions;
  /** By address. */
  readonly #nodes = new Map<string, Node>();
  #isClosed = false;

  constructor(options: ClusterDurabilityOptions) {
    this.#options = options;
    const { cluster } = options;
    const follow = () => this.#follow();
    cluster.on('ready', follow);
    cluster.on('refresh', follow);
    follow();
  }

  async begin(partition?: number): Promise<OnDisk> {
    try {
      const byNode = Map.groupBy(this.#markers(partition), (marker) => primaryOf(this.#options.cluster, marker));
      const begun = await Promise.all([...byNode].map(([address, markers]) => this.#beginOn(address, markers)));
      const waiting = begun.filter((onDisk) => onDisk !== NOTHING);
      if (waiting.length === 0) return NOTHING;
      return async () => {
        await Promise.all(waiting.map((onDisk) => onDisk())).catch((error: unknown) => this.#fail(error));
      };
    } catch (error) {
      return this.#fail(error);
    }
  }

  close(): void {
    this.#isClosed = true;
    for (const address of this.#nodes.keys()) this.#remove(address);
  }

  /** A key in each hash slot that may be written to. */
  #markers(partition: number | undefined): string[] {
    const { keys } = this.#options;
    if (partition !== undefined) return [keys.partition(partition).diskBarrier];
    return [keys.diskBarrier, ...keys.all().map(({ diskBarrier }) => diskBarrier)];
  }

  async #beginOn(address: string | undefined, markers: readonly string[]): Promise<OnDisk> {
    const node = address === undefined ? undefined : (this.#nodes.get(address) ?? this.#add(address));
    if (!node) throw unavailable('no node of the cluster has this data');
    await node.durability.attempted();
    return node.durability.begin(markers);
  }

  /** The node may have no more say: then others are asked next time. */
  #fail(error: unknown): never {
    if (!this.#isClosed) this.#options.cluster.refreshSlotsCache();
    throw error;
  }

  /** Connects to primaries before they are needed, and leaves nodes that are none. */
  #follow(): void {
    const primaries = new Set(this.#options.cluster.nodes('master').map(addressOf));
    for (const address of primaries) if (!this.#nodes.has(address)) this.#add(address);
    for (const address of this.#nodes.keys()) if (!primaries.has(address)) this.#remove(address);
  }

  #add(address: string): Node | undefined {
    const { cluster, replicas, required, log } = this.#options;
    const redis = this.#isClosed ? undefined : connectNode(cluster, address, 'answer-late', log);
    if (!redis) return undefined;
    const replicated = { replicas, isCluster: true, where: address };
    const durability = new ServerDurability({
      redis,
      barrier: new DiskBarrier(() => redis, replicated),
      check: (checked) => replicatedServer(checked, replicated),
      isReplicated: true,
      log: log.child({ node: address }),
      required,
    });
    const node = { redis, durability };
    this.#nodes.set(address, node);
    return node;
  }

  #remove(address: string): void {
    this.#nodes.get(address)?.durability.close();
    this.#nodes.get(address)?.redis.disconnect();
    this.#nodes.delete(address);
  }
}
