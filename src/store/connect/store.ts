/** Connections of apps, and the calls that they receive. */
import type { Subscriber } from '../redis/pub-sub.ts';
import type { StoreContext } from '../store-context.ts';
import { ConnectChannels } from './channels.ts';
import { ConnectCalls } from './connect-calls.ts';
import { Connections } from './connections.ts';
import { ConnectSessions } from './sessions.ts';

export interface ConnectStore {
  connections: Connections;
  connectCalls: ConnectCalls;
  connectSessions: ConnectSessions;
  /** @param subscriber a connection used only for subscriptions */
  connectChannels: (subscriber: Subscriber) => ConnectChannels;
}

export function createConnectStore({ redis, keys }: StoreContext): ConnectStore {
  return {
    connections: new Connections(redis, keys),
    connectCalls: new ConnectCalls(redis, keys),
    connectSessions: new ConnectSessions(redis, keys),
    connectChannels: (subscriber) => new ConnectChannels(keys, subscriber),
  };
}
