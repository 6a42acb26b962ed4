/** Passes realtime messages from the publishing process to the processes with subscribers. Nothing is stored. */
import type { Subscriber } from '../redis/connection/pub-sub.ts';
import type { StoreContext } from '../store-context.ts';
import { RealtimeFeed, RealtimePublisher } from './channels.ts';

export function createRealtimeStore({ redis, keys }: StoreContext) {
  return {
    realtimePublisher: new RealtimePublisher(redis, keys),
    /** @param connection a connection used only for subscriptions, opened with the first subscriber */
    realtimeFeed: (connection: Subscriber) => new RealtimeFeed(connection, keys),
  };
}
