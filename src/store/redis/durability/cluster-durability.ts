/** Durability guarantees of a cluster's nodes, each for the partitions on it. Each primary is checked separately, over its own
 *  connection, which also carries its barrier: a node that is down or guarantees too little does not affect the others. A failover or a
 *  hash slot migration between a write and its barrier ends in "unavailable": one node must have answered everything
 *  (answering-nodes.ts); the marker is sent to that node, which rejects it if it no longer owns the hash slot; and the node's identity
 *  tells whether it owned it all the time. A primary that does not know that it was replaced has no replica left to confirm its writes. */
import hashSlotOf from 'cluster-key-slot';
import type { Cluster } from 'ioredis';
import type { Logger } from '../../../log.ts';
import type { AnsweringNodes } from '../cluster/answering-nodes.ts';
import { connectNode, type Redis, unavailable } from '../connection/connection.ts';
import { CONNECTIONS } from '../connection/connections.ts';
import { addressOf, primaryOf } from '../connection/servers.ts';
import type { Keyspace } from '../keyspace/keyspace.ts';
import { DiskBarrier } from './disk-barrier.ts';
import { replicatedServer } from './durable-server.ts';
import { Afterwards, type Durability, NOTHING, type OnDisk } from './durable-write.ts';
import { ServerDurability } from './server-durability.ts';

interface ClusterDurabilityOptions {
  cluster: Cluster;
  keys: Keyspace;
  answering: AnsweringNodes;
  /** Number of replicas that must have a write before it is acknowledged. */
  replicas: number;
  log: Logger;
  required: boolean;
}

const REPLACED = 'a primary of the cluster was replaced meanwhile';

interface Node {
  redis: Redis;
  durability: ServerDurability;
}

export class ClusterDurability implements Durability {
  readonly #options: ClusterDurabilityOptions;
  /** Keyed by address. */
  readonly #nodes = new Map<string, Node>();
  /** Marker keys of partitions, by hash slot. */
  readonly #markers = new Map<number, string>();
  readonly #afterwards = new Afterwards();
  #isClosed = false;

  constructor(options: ClusterDurabilityOptions) {
    this.#options = options;
    const { cluster } = options;
    const follow = () => this.#follow();
    cluster.on('ready', follow);
    cluster.on('refresh', follow);
    follow();
  }

  get isReplicated(): boolean {
    return this.#options.replicas > 0;
  }

  async begin(partition: number): Promise<OnDisk> {
    const { cluster, keys, answering } = this.#options;
    const { diskBarrier: marker } = keys.partition(partition);
    try {
      const address = primaryOf(cluster, marker);
      const node = address === undefined ? undefined : (this.#nodes.get(address) ?? this.#add(address));
      if (!node) throw unavailable('no node of the cluster has this data');
      await node.durability.attempted();
      const { changes } = answering;
      const onDisk = await node.durability.begin([marker]);
      if (onDisk === NOTHING) return NOTHING;
      return async () => {
        const answered = answering.sameSince(hashSlotOf(marker), changes);
        if (answered !== address) this.#fail(unavailable(REPLACED));
        await onDisk().catch((error: unknown) => this.#fail(error));
      };
    } catch (error) {
      return this.#fail(error);
    }
  }

  during<T>(work: () => Promise<T>, scope: 'partitions' | 'all'): Promise<T> {
    return this.#afterwards.around(() => this.#during(work, scope));
  }

  afterwards(work: () => Promise<unknown>): Promise<void> {
    return this.#afterwards.leave(work);
  }

  async #during<T>(work: () => Promise<T>, scope: 'partitions' | 'all'): Promise<T> {
    const { answering, keys } = this.#options;
    await Promise.all([...this.#nodes.values()].map(({ durability }) => durability.attempted()));
    const promises = new Map([...this.#nodes].map(([address, { durability }]) => [address, durability.now()]));
    const { changes } = answering;
    const hashSlots = new Set<number>();
    const done = await answering.watch(hashSlots, work);
    const ofInstallation = hashSlotOf(keys.diskBarrier);
    const markers = [...hashSlots].flatMap((hashSlot) => {
      if (hashSlot === ofInstallation) return scope === 'all' ? [keys.diskBarrier] : [];
      return this.#markerOf(hashSlot) ?? [];
    });
    const byNode = Map.groupBy(markers, (marker) => answering.sameSince(hashSlotOf(marker), changes));
    try {
      await Promise.all(
        [...byNode].map(async ([address, some]) => {
          const promise = address === undefined ? undefined : promises.get(address);
          if (!promise) throw unavailable(REPLACED);
          const onDisk = await promise(some);
          await onDisk();
        }),
      );
    } catch (error) {
      this.#fail(error);
    }
    return done;
  }

  close(): void {
    this.#isClosed = true;
    for (const address of this.#nodes.keys()) this.#remove(address);
  }

  /** A key in the hash slot of a partition; undefined if no partition is there. */
  #markerOf(hashSlot: number): string | undefined {
    const all = this.#options.keys.all();
    if (this.#markers.size < all.length) {
      for (const { diskBarrier } of all) this.#markers.set(hashSlotOf(diskBarrier), diskBarrier);
    }
    return this.#markers.get(hashSlot);
  }

  /** The node may no longer be the primary, so the nodes are read again next time. */
  #fail(error: unknown): never {
    if (!this.#isClosed) this.#options.cluster.refreshSlotsCache();
    throw error;
  }

  /** Connects to primaries in advance, and closes connections to other nodes. */
  #follow(): void {
    const primaries = new Set(this.#options.cluster.nodes('master').map(addressOf));
    for (const address of primaries) if (!this.#nodes.has(address)) this.#add(address);
    for (const address of this.#nodes.keys()) if (!primaries.has(address)) this.#remove(address);
  }

  #add(address: string): Node | undefined {
    const { cluster, replicas, required, log } = this.#options;
    const redis = this.#isClosed ? undefined : connectNode(cluster, address, CONNECTIONS.barrier.web, log);
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
