/** Everything that is stored, on one connection. Each room says in its store.ts what it keeps; docs/redis.md lists the keys. */
import type { Config } from '../config.ts';
import { type AppStore, createAppStore } from './apps/store.ts';
import { type AuthStore, createAuthStore } from './auth/store.ts';
import { type ConnectStore, createConnectStore } from './connect/store.ts';
import { createEnvironmentStore, type EnvironmentStore } from './environments/store.ts';
import { createEventStore, type EventStore } from './events/store.ts';
import { createRealtimeStore, type RealtimeStore } from './realtime/store.ts';
import { CacheInvalidation } from './redis/cache-invalidation.ts';
import type { Redis } from './redis/connection.ts';
import { keyspace } from './redis/keyspace.ts';
import { Locks } from './redis/locks.ts';
import { withScripts } from './redis/scripts.ts';
import { createRunStore, type RunStore } from './runs/store.ts';
import type { StoreContext } from './store-context.ts';
import { createTelemetryStore, type TelemetryStore } from './telemetry/store.ts';
import { createWebhookStore, type WebhookStore } from './webhooks/store.ts';

export interface Store
  extends EventStore,
    RunStore,
    AppStore,
    ConnectStore,
    EnvironmentStore,
    WebhookStore,
    AuthStore,
    TelemetryStore,
    RealtimeStore {
  redis: Redis;
  /** Prefix of the keys that BullMQ makes. */
  queuePrefix: string;
  cacheInvalidation: CacheInvalidation;
  locks: Locks;
}

export function createStore(connection: Redis, config: Config): Store {
  const redis = withScripts(connection);
  const keys = keyspace(config.keyPrefix);
  const cacheInvalidation = new CacheInvalidation(redis, keys);
  const context: StoreContext = { redis, keys, config, cacheInvalidation };
  const environmentStore = createEnvironmentStore(context);
  return {
    redis,
    queuePrefix: keys.queues,
    cacheInvalidation,
    locks: new Locks(redis, keys),
    ...environmentStore,
    ...createEventStore(context),
    ...createRunStore(context),
    ...createAppStore(context),
    ...createConnectStore(context),
    ...createWebhookStore(context),
    ...createAuthStore(context, environmentStore.environments),
    ...createTelemetryStore(context),
    ...createRealtimeStore(context),
  };
}
