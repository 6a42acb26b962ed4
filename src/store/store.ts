/** All stored data, on one connection. Each room describes its part in store.ts; docs/redis.md lists the keys. */
import type { Config } from '../config.ts';
import { VERSION } from '../version.ts';
import { createAlertStore } from './alerts/store.ts';
import { createAppStore } from './apps/store.ts';
import { createAuthStore } from './auth/store.ts';
import { createBulkStore } from './bulk/store.ts';
import { createConnectStore } from './connect/store.ts';
import { createEnvironmentStore } from './environments/store.ts';
import { createErrorStore } from './errors/store.ts';
import { createEventStore } from './events/store.ts';
import { createFlowControlStore } from './flow-control/store.ts';
import { createRealtimeStore } from './realtime/store.ts';
import { CacheInvalidation } from './redis/caching/cache-invalidation.ts';
import type { Redis } from './redis/connection/connection.ts';
import { withScripts } from './redis/connection/scripts.ts';
import { JobLists } from './redis/job-lists.ts';
import { type Keyspace, keyspace } from './redis/keyspace/keyspace.ts';
import { Partitions } from './redis/keyspace/partitions.ts';
import { SchemaVersion } from './redis/keyspace/schema-version.ts';
import { Locks } from './redis/locks.ts';
import { createRunStore } from './runs/store.ts';
import type { StoreContext } from './store-context.ts';
import { createTelemetryStore } from './telemetry/store.ts';
import { createWebhookStore } from './webhooks/store.ts';

/** Default for a cluster: two or three partitions per node with a dozen nodes. */
const PARTITIONS_OF_CLUSTER = 32;

export type Store = ReturnType<typeof createStore>;

export function createStore(connection: Redis, config: Config) {
  const cluster = connection.isCluster;
  const keys: Keyspace = keyspace({ prefix: config.keyPrefix, cluster, layout: () => partitions.layout });
  const redis = withScripts(connection, config.dev && !cluster ? keys.devClock : undefined);
  const locks = new Locks(redis, keys);
  const partitions = new Partitions({
    redis,
    key: keys.partitionLayout,
    wanted: partitionsWanted(config),
    // Every process stores its check value right after reading the layout.
    isNew: async () => (await redis.exists(keys.secretKeyCheck)) === 0,
    schema: new SchemaVersion(VERSION),
    locks,
    dev: config.dev,
  });
  const { ids } = partitions;
  const cacheInvalidation = new CacheInvalidation(redis, keys);
  const context: StoreContext = { redis, keys, ids, config, cacheInvalidation, locks };
  const environmentStore = createEnvironmentStore(context);
  const appStore = createAppStore(context);
  const alertStore = createAlertStore(context);
  return {
    redis: connection,
    keys,
    partitions,
    ids,
    cacheInvalidation,
    locks,
    jobLists: new JobLists(redis, keys),
    ...environmentStore,
    ...createEventStore(context),
    ...createRunStore(context),
    ...createErrorStore(context),
    ...createBulkStore(context),
    ...createFlowControlStore(context),
    ...appStore,
    ...createConnectStore(context),
    ...createWebhookStore(context),
    ...createAuthStore(context, environmentStore.environments, [appStore.destinations, alertStore.alertChannels]),
    ...createTelemetryStore(context),
    ...alertStore,
    ...createRealtimeStore(context),
  };
}

/** Number of partitions according to the setting and its default. */
export function partitionsWanted({ partitions, redis }: Pick<Config, 'partitions' | 'redis'>): number {
  return partitions ?? (redis.clusterUrls ? PARTITIONS_OF_CLUSTER : 1);
}
