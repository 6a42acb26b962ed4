/** Connections of apps that connect, and their calls. */
import type { Subscriber } from '../redis/connection/pub-sub.ts';
import type { StoreContext } from '../store-context.ts';
import { ConnectChannels } from './channels.ts';
import { ConnectCalls } from './connect-calls.ts';
import { Connections } from './connections.ts';
import { ConnectSessions } from './sessions.ts';

export function createConnectStore({ redis, keys }: StoreContext) {
  return {
    connections: new Connections(redis, keys),
    connectCalls: new ConnectCalls(redis, keys),
    connectSessions: new ConnectSessions(redis, keys),
    /** @param subscriber a connection used only for subscriptions */
    connectChannels: (subscriber: Subscriber) => new ConnectChannels({ keys, subscriber }),
  };
}
