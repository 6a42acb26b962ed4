/** Redis for web: connections, the store, and cached data. */
import { claimSecretKey } from '../api/auth/reencrypt-secrets.ts';
import { FollowedClock } from '../jobs/dev-clock/followed-clock.ts';
import { connect, type Redis } from '../store/redis/connection/connection.ts';
import { CONNECTIONS } from '../store/redis/connection/connections.ts';
import { connectSubscriber, type Subscriber } from '../store/redis/connection/pub-sub.ts';
import { createStore, type Store } from '../store/store.ts';
import { WebhookDirectory } from '../store/webhooks/webhook-directory.ts';
import { createTransforms, type Transforms, traceTransforms } from '../transforms/transforms.ts';
import type { Core } from './core.ts';

export interface WebStore {
  /** Used only for subscriptions. */
  subscriber: Subscriber;
  /** Used only for realtime messages, however many; connects when there are subscribers. */
  realtimeSubscriber: Subscriber;
  store: Store;
  /** undefined in production, and on a cluster. */
  devClock: FollowedClock | undefined;
  transforms: Transforms;
  webhookDirectory: WebhookDirectory;
  /** Resolves once SECRET_KEY has decrypted the stored secrets. */
  secretKeyClaimed: Promise<void>;
  /** Resolves once all cached data has been read. */
  firstReads: Promise<unknown>;
  /** Disconnects, after everything else. */
  close(): void;
}

/** Connects, and starts to read the cached data.
 *  @param fail called if this Redis must not be used, or SECRET_KEY does not decrypt its secrets */
export function openWebStore(
  { config, log, recorder, runCounts, tracing }: Core,
  fail: (error: Error) => void,
): WebStore {
  // Commands fail immediately while Redis is down.
  const redis: Redis = connect(config, CONNECTIONS.commands.web, log);
  const store = createStore(redis, config);
  const subscribing = { redis, key: store.keys.cacheInvalidation };
  const subscriber = connectSubscriber(config, subscribing, log);
  const devClock = FollowedClock.of({ redis, keys: store.keys, subscriber, runCounts });
  const realtimeSubscriber = connectSubscriber(config, { ...subscribing, lazy: true }, log);
  const { transformTimeoutMs: timeoutMs, transformThreads: threads } = config;
  const aheadMs = () => devClock?.offsetMs ?? 0;
  const transforms = traceTransforms(createTransforms({ timeoutMs, threads, log, recorder, aheadMs }), tracing);
  const webhookDirectory = new WebhookDirectory(store.webhooks, {
    // Without webhooks, no child process for transforms is needed.
    onSome: () => transforms.start(),
    onGone: (id) => transforms.evict(id),
  });
  // The layout is read first, because a new installation has no other data.
  const partitionsRead = store.partitions.follow(fail);
  const secretKeyClaimed = partitionsRead.then(() => claimSecretKey(store, log));
  secretKeyClaimed.catch(fail);
  const firstReads = Promise.all([
    partitionsRead,
    secretKeyClaimed,
    devClock?.follow(),
    webhookDirectory.follow(subscriber),
    store.environments.follow(subscriber),
    store.apiKeys.follow(subscriber),
    store.eventKeys.follow(subscriber),
    store.installationLimits.follow(subscriber),
  ]);
  const close = () => {
    devClock?.close();
    for (const connection of [redis, subscriber, realtimeSubscriber]) connection.disconnect();
  };
  return {
    subscriber,
    realtimeSubscriber,
    store,
    devClock,
    transforms,
    webhookDirectory,
    secretKeyClaimed,
    firstReads,
    close,
  };
}
