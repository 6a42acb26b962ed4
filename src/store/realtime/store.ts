/** Realtime messages between web processes. Nothing is stored. */
import type { Subscriber } from '../redis/pub-sub.ts';
import type { StoreContext } from '../store-context.ts';
import { RealtimeFeed, RealtimePublisher } from './channels.ts';

export interface RealtimeStore {
  realtimePublisher: RealtimePublisher;
  /** @param connection a connection used only for subscriptions, opened with the first subscriber */
  realtimeFeed(connection: Subscriber): RealtimeFeed;
}

export function createRealtimeStore({ redis, keys }: StoreContext): RealtimeStore {
  return {
    realtimePublisher: new RealtimePublisher(redis, keys),
    realtimeFeed: (connection) => new RealtimeFeed(connection, keys),
  };
}
