/** The store without a service, on the real Redis with its own key prefix. */
import { ulid } from 'ulid';
import { readConfig } from '../../src/config.ts';
import { PartitionQueues } from '../../src/jobs/queues/partition-queues.ts';
import { createIngestQueue, createRunQueue, createTimerQueue } from '../../src/jobs/queues/queues.ts';
import { type Envelope, toEnvelope } from '../../src/model/events/event.ts';
import { createStore, type Store } from '../../src/store/store.ts';
import { connectRedis, deleteKeys, freshPrefix } from './redis.ts';

export interface OwnStore extends Store {
  prefix: string;
  close(): Promise<void>;
}

/** @param prefix of another store, to simulate two processes of one service
 *  @param settings src/config.ts */
export async function openStore(
  prefix: string = freshPrefix(),
  settings: Record<string, string> = {},
): Promise<OwnStore> {
  const redis = connectRedis(settings.REDIS_URL);
  const store = createStore(redis, readConfig({ MODE: 'dev', KEY_PREFIX: prefix, ...settings }));
  await store.partitions.read();
  return {
    ...store,
    prefix,
    async close() {
      await deleteKeys(redis, prefix);
      await redis.quit();
    },
  };
}

/** The queues of a store's partitions. */
export function queuesOf({ keys, redis }: OwnStore): PartitionQueues {
  return new PartitionQueues(keys, ({ prefix }) => {
    const options = { prefix, connection: redis };
    return {
      ingest: createIngestQueue(options),
      runs: createRunQueue(options),
      timers: createTimerQueue(options),
    };
  });
}

/** An accepted event, by default received now in an ordinary request. Without `Math.random` its IDs would cost more than all else: ulid asks the system for
 *  each of their digits. */
export function envelope(
  event: Partial<Parameters<typeof toEnvelope>[0]> = {},
  at: Partial<Parameters<typeof toEnvelope>[1]> = {},
): Envelope {
  const receivedAt = at.receivedAt ?? Date.now();
  return toEnvelope(
    { name: 'test/x', data: {}, ...event },
    {
      internalId: ulid(receivedAt, Math.random),
      env: 'production',
      receivedAt,
      source: 'api',
      requestId: ulid(undefined, Math.random),
      index: 0,
      ...at,
    },
  );
}
