/** Messages between workers and gateways. */

import { Composed } from '../../model/values/composed.ts';
import type { Subscriber } from '../redis/connection/pub-sub.ts';
import type { Keyspace } from '../redis/keyspace/keyspace.ts';
import type { GatewayMessage } from './connect-calls.ts';
import type { ConnectionChange } from './connections.ts';

export class ConnectChannels extends Composed<{
  keys: Keyspace;
  /** A connection used only for subscriptions. */
  subscriber: Subscriber;
}> {
  /** Subscribes a gateway to its calls. @returns a function that unsubscribes */
  onCalls(gatewayId: string, handle: (message: GatewayMessage) => void): () => Promise<unknown> {
    return this.#listen(this.deps.keys.gateway(gatewayId), (text) => handle(JSON.parse(text) as GatewayMessage));
  }

  /** Subscribes a worker to the results of its calls: a reply is stored, or a connection refused the call.
   *  @param handle receives the lease that the connection gave up, if it refused */
  onCallEvents(callerId: string, handle: (callId: string, refusedLease?: string) => void): () => Promise<unknown> {
    return this.#listen(this.deps.keys.connectCaller(callerId), (text) => {
      const [callId = '', refusedLease] = text.split(' ');
      handle(callId, refusedLease);
    });
  }

  onConnectionChanges(handle: (change: ConnectionChange) => void): () => Promise<unknown> {
    return this.#listen(this.deps.keys.connectionChanges, (text) => handle(JSON.parse(text) as ConnectionChange));
  }

  /** The subscriber resubscribes after a reconnection. */
  #listen(channel: string, handle: (text: string) => void): () => Promise<unknown> {
    const onMessage = (from: string, text: string) => {
      if (from === channel) handle(text);
    };
    this.deps.subscriber.on('message', onMessage);
    const subscribe = () => this.deps.subscriber.subscribe(channel).catch(() => undefined);
    this.deps.subscriber.on('ready', subscribe);
    if (this.deps.subscriber.status === 'ready') void subscribe();
    return () => {
      this.deps.subscriber.off('message', onMessage);
      this.deps.subscriber.off('ready', subscribe);
      return this.deps.subscriber.unsubscribe(channel).catch(() => undefined);
    };
  }
}
