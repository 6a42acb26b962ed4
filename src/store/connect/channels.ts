/** Messages between workers and gateways. */

import type { Subscriber } from '../redis/connection/pub-sub.ts';
import type { Keyspace } from '../redis/keyspace/keyspace.ts';
import type { GatewayMessage } from './connect-calls.ts';
import type { ConnectionChange } from './connections.ts';

export class ConnectChannels {
  readonly #keys: Keyspace;
  readonly #subscriber: Subscriber;

  /** @param subscriber a connection used only for subscriptions */
  constructor(keys: Keyspace, subscriber: Subscriber) {
    this.#keys = keys;
    this.#subscriber = subscriber;
  }

  /** Subscribes a gateway to its calls. @returns a function that unsubscribes */
  onCalls(gatewayId: string, handle: (message: GatewayMessage) => void): () => Promise<unknown> {
    return this.#listen(this.#keys.gateway(gatewayId), (text) => handle(JSON.parse(text) as GatewayMessage));
  }

  /** Subscribes a worker to the results of its calls: a reply is stored, or a connection refused the call.
   *  @param handle receives the lease that the connection gave up, if it refused */
  onCallEvents(callerId: string, handle: (callId: string, refusedLease?: string) => void): () => Promise<unknown> {
    return this.#listen(this.#keys.connectCaller(callerId), (text) => {
      const [callId = '', refusedLease] = text.split(' ');
      handle(callId, refusedLease);
    });
  }

  onConnectionChanges(handle: (change: ConnectionChange) => void): () => Promise<unknown> {
    return this.#listen(this.#keys.connectionChanges, (text) => handle(JSON.parse(text) as ConnectionChange));
  }

  /** The subscriber resubscribes after a reconnection. */
  #listen(channel: string, handle: (text: string) => void): () => Promise<unknown> {
    const onMessage = (from: string, text: string) => {
      if (from === channel) handle(text);
    };
    this.#subscriber.on('message', onMessage);
    const subscribe = () => this.#subscriber.subscribe(channel).catch(() => undefined);
    this.#subscriber.on('ready', subscribe);
    if (this.#subscriber.status === 'ready') void subscribe();
    return () => {
      this.#subscriber.off('message', onMessage);
      this.#subscriber.off('ready', subscribe);
      return this.#subscriber.unsubscribe(channel).catch(() => undefined);
    };
  }
}
