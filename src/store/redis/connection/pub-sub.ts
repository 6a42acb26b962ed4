/** Messages between processes over Redis pub/sub; in a cluster over sharded pub/sub, in which publishers and subscribers use the node with the
 *  channel's hash slot. The number of receivers is then known, and messages are not broadcast to all nodes. Messages
 *  may be lost in both cases. */
import type { Config } from '../../../config.ts';
import type { Logger } from '../../../log.ts';
import { ClusterSubscriber } from '../cluster/cluster-subscriber.ts';
import { connect, type Redis, unavailable } from './connection.ts';
import { CONNECTIONS } from './connections.ts';
import { addressOf, clusterOf, primaryOf } from './servers.ts';

/** A connection used only for subscriptions, which resubscribes after each reconnection. It emits `ready` after a reconnection, because
 *  messages may have been missed, and `close` when it is lost. */
export interface Subscriber {
  readonly status: string;
  readonly isCluster: boolean;
  on(event: 'message', listener: (channel: string, text: string) => void): unknown;
  on(event: 'ready' | 'close', listener: () => void): unknown;
  once(event: 'ready', listener: () => void): unknown;
  off(event: 'message', listener: (channel: string, text: string) => void): unknown;
  off(event: 'ready', listener: () => void): unknown;
  /** Resolves when no later message can be missed. */
  subscribe(channel: string): Promise<unknown>;
  unsubscribe(channel: string): Promise<unknown>;
  disconnect(): void;
}

export interface SubscriberOptions {
  /** The process's connection. */
  redis: Redis;
  /** A key in the hash slot of all channels. */
  key: string;
  /** Connects with the first subscription. */
  lazy?: boolean;
}

export function connectSubscriber(
  config: Pick<Config, 'redis'>,
  { redis, key, lazy = false }: SubscriberOptions,
  log: Logger,
): Subscriber {
  const cluster = clusterOf(redis);
  return cluster
    ? new ClusterSubscriber({ cluster, key, lazy, log })
    : connect(config, CONNECTIONS.subscriptions.web, log, { lazy });
}

/** The publish command, for scripts. */
export function publishCommand(redis: Redis): 'PUBLISH' | 'SPUBLISH' {
  return redis.isCluster ? 'SPUBLISH' : 'PUBLISH';
}

/** The PUBSUB subcommand that counts subscribers. */
export function countCommand(redis: Redis): 'NUMSUB' | 'SHARDNUMSUB' {
  return redis.isCluster ? 'SHARDNUMSUB' : 'NUMSUB';
}

/** @returns number of connections that received it */
export async function publish(redis: Redis, channel: string, text: string): Promise<number> {
  return redis.isCluster ? Number(await redis.spublish(channel, text)) : redis.publish(channel, text);
}

/** Number of subscribed connections for each channel; all channels are in one hash slot. */
export async function countSubscribers(redis: Redis, channels: readonly string[]): Promise<number[]> {
  const cluster = clusterOf(redis);
  const [first] = channels;
  if (first === undefined) return [];
  const counts = (await (cluster
    ? nodeOf(cluster, first).call('PUBSUB', 'SHARDNUMSUB', ...channels)
    : redis.pubsub('NUMSUB', ...channels))) as unknown[];
  return channels.map((_, i) => Number(counts[2 * i + 1]));
}

function nodeOf(cluster: NonNullable<ReturnType<typeof clusterOf>>, channel: string): Redis {
  const address = primaryOf(cluster, channel);
  const node = cluster.nodes('master').find((master) => addressOf(master) === address);
  if (!node) throw unavailable('no node of the cluster has this data');
  return node;
}
