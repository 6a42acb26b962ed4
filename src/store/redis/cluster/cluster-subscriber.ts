/** Subscriptions of a process in a cluster: a connection to the primary that has the hash slot of all channels. It follows that primary, and
 *  emits `ready` after a change, unlike ioredis's own cluster subscriber. */
import { EventEmitter } from 'node:events';
import type { Cluster } from 'ioredis';
import type { Logger } from '../../../log.ts';
import { connectNode, type Redis } from '../connection/connection.ts';
import { CONNECTIONS } from '../connection/connections.ts';
import { primaryOf } from '../connection/servers.ts';

const RETRY_MS = 100;
const RETRY_MAX_MS = 1_000;

interface ClusterSubscriberOptions {
  cluster: Cluster;
  /** A key in the hash slot of all channels. */
  key: string;
  lazy: boolean;
  log: Logger;
}

export class ClusterSubscriber extends EventEmitter<{
  message: [channel: string, text: string];
  ready: [];
  close: [];
}> {
  readonly isCluster = true;
  status: 'wait' | 'connecting' | 'ready' | 'end';
  readonly #options: ClusterSubscriberOptions;
  readonly #channels = new Set<string>();
  readonly #follow = () => this.#reconnectIfMoved();
  #node: { address: string; redis: Redis } | undefined;
  #retry: NodeJS.Timeout | undefined;
  /** Attempts since it was last ready. */
  #tries = 0;

  constructor(options: ClusterSubscriberOptions) {
    super();
    this.#options = options;
    this.status = options.lazy ? 'wait' : 'connecting';
    // Each listening part of the process adds listeners.
    this.setMaxListeners(0);
    options.cluster.on('refresh', this.#follow);
    this.#reconnectIfMoved();
  }

  /** Resolves when no later message can be missed. */
  async subscribe(channel: string): Promise<void> {
    this.#channels.add(channel);
    if (this.status === 'wait') {
      this.status = 'connecting';
      this.#reconnectIfMoved();
    }
    for (;;) {
      await this.#whenReady();
      if (!this.#channels.has(channel)) return;
      const redis = this.#node?.redis;
      // Otherwise the next connection subscribes to it.
      if (
        await redis?.ssubscribe(channel).then(
          () => redis === this.#node?.redis,
          () => this.#restart(redis),
        )
      )
        return;
    }
  }

  async unsubscribe(channel: string): Promise<void> {
    this.#channels.delete(channel);
    if (this.status === 'ready') await this.#node?.redis.sunsubscribe(channel);
  }

  disconnect(): void {
    this.status = 'end';
    clearTimeout(this.#retry);
    this.#options.cluster.off('refresh', this.#follow);
    this.#leave();
  }

  #whenReady(): Promise<void> {
    if (this.status === 'ready') return Promise.resolve();
    if (this.status === 'end') return Promise.reject(new Error('Connection is closed.'));
    return new Promise((resolve) => this.once('ready', resolve));
  }

  #reconnectIfMoved(): void {
    const { cluster, key, log } = this.#options;
    if (this.status === 'wait' || this.status === 'end') return;
    const address = primaryOf(cluster, key);
    if (address === undefined || address === this.#node?.address) return;
    this.#leave();
    this.status = 'connecting';
    const redis = connectNode(cluster, address, CONNECTIONS.subscriptions.web, log);
    if (!redis) return;
    this.#node = { address, redis };
    redis.on('smessage', (channel: string, text: string) => this.emit('message', channel, text));
    redis.on('ready', () => void this.#subscribeAll(redis));
    redis.on('close', () => this.#restart(redis));
    // The node no longer owns the hash slot.
    redis.on('moved', () => this.#restart(redis));
  }

  /** Subscribes to everything before emitting `ready`: ioredis would not report a failed subscription. */
  async #subscribeAll(redis: Redis): Promise<void> {
    try {
      if (this.#channels.size > 0) await redis.ssubscribe(...this.#channels);
    } catch (error) {
      this.#options.log.warn({ err: (error as Error).message }, 'redis subscriptions');
      this.#restart(redis);
      return;
    }
    if (this.#node?.redis !== redis || this.status === 'end') return;
    this.status = 'ready';
    this.#tries = 0;
    this.emit('ready');
  }

  /** Connects to the current primary. */
  #restart(redis: Redis | undefined): false {
    if (!redis || this.#node?.redis !== redis || this.status === 'end') return false;
    this.#leave();
    this.status = 'connecting';
    this.emit('close');
    this.#retryLater();
    return false;
  }

  #retryLater(): void {
    const { cluster } = this.#options;
    const again = () => {
      cluster.refreshSlotsCache(() => {
        if (this.#node || this.status === 'end' || cluster.status === 'end') return;
        this.#reconnectIfMoved();
        // The hash slot has no primary at the moment.
        if (!this.#node) this.#retryLater();
      });
    };
    clearTimeout(this.#retry);
    this.#retry = setTimeout(again, Math.min(RETRY_MS * 2 ** Math.min(this.#tries++, 4), RETRY_MAX_MS));
  }

  #leave(): void {
    const node = this.#node;
    this.#node = undefined;
    node?.redis.disconnect();
  }
}
