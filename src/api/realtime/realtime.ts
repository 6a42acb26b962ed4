/** Realtime: apps publish messages, browsers subscribe to them with a token that an app gives them (docs/realtime.md). */

import type { Config } from '../../config.ts';
import type { History } from '../../history/history.ts';
import { SubscriptionTokens } from '../../model/realtime/subscription-token.ts';
import { Composed } from '../../model/values/composed.ts';
import type { RealtimeFeed } from '../../store/realtime/channels.ts';
import type { Store } from '../../store/store.ts';
import type { LiveFeed } from '../../store/telemetry/live-updates.ts';
import type { Router } from '../http/router.ts';
import type { WebSockets } from '../http/web-sockets.ts';
import { publishRoutes } from './publish.ts';
import { PublishLimits } from './publish-limits.ts';
import { RunEndAnnouncer } from './run-end-announcer.ts';
import { subscribeRoutes } from './subscribe.ts';
import { RealtimeSubscribers } from './subscribers.ts';

/** Subscribers send nothing. */
const MAX_MESSAGE_BYTES = 4_096;

export interface RealtimeDeps {
  config: Config;
  store: Store;
  history: Pick<History, 'runs'>;
  feed: RealtimeFeed;
  liveFeed: LiveFeed;
  webSockets: WebSockets;
}

export class Realtime extends Composed<RealtimeDeps> {
  readonly #subscribers = new RealtimeSubscribers({
    feed: this.deps.feed,
    environments: this.deps.store.environments,
    announcements: new RunEndAnnouncer({
      runs: this.deps.store.runs,
      history: this.deps.history.runs,
      liveFeed: this.deps.liveFeed,
    }),
    max: this.deps.config.realtime.subscribers,
  });

  addRoutes(router: Router): void {
    const { config, store, webSockets } = this.deps;
    const { dev, realtime, secretKey, secretKeyFallback } = config;
    const guardDeps = { dev, signingKeys: store.signingKeys, environments: store.environments };
    publishRoutes(router, {
      ...guardDeps,
      publisher: store.realtimePublisher,
      limits: new PublishLimits(realtime.messagesPerSecond),
      messageBytes: realtime.messageBytes,
    });
    subscribeRoutes(router, {
      ...guardDeps,
      tokens: new SubscriptionTokens(secretKey, secretKeyFallback),
      tokenMs: realtime.tokenMs,
      subscribers: this.#subscribers,
      acceptWebSocket: webSockets.endpoint({ maxMessageBytes: MAX_MESSAGE_BYTES }),
    });
  }

  /** Ends all subscriptions. */
  close(): void {
    this.#subscribers.close();
  }
}
