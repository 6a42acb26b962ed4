/** Realtime messages, from the process that a message is published at to the processes with subscribers. Nothing is kept. */
import type { Subscriber } from '../redis/pub-sub.ts';
import type { StoreContext } from '../store-context.ts';
import { RealtimeFeed, RealtimePublisher } from './channels.ts';

export interface RealtimeStore {
  realtimePublisher: RealtimePublisher;
  /** @param connection a connection that is made once there are subscribers, and is used only for this */
  realtimeFeed(connection: Subscriber): RealtimeFeed;
}

export function createRealtimeStore({ redis, keys }: StoreContext): RealtimeStore {
  return {
    realtimePublisher: new RealtimePublisher(redis, keys),
    realtimeFeed: (connection) => new RealtimeFeed(connection, keys),
  };
}
