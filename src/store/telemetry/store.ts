/** Telemetry: counts over time, the processes that are running, and live updates between them. */
import type { Subscriber } from '../redis/connection/pub-sub.ts';
import { EndedRunIndex } from '../runs/ended-run-index.ts';
import type { StoreContext } from '../store-context.ts';
import { ArchiveStatus } from './archive-status.ts';
import { FunctionSeries } from './function-series.ts';
import { HotStorage } from './hot-storage.ts';
import { LiveFeed, LiveUpdatePublisher } from './live-updates.ts';
import { LiveWorkers } from './live-workers.ts';
import { Metrics } from './metrics.ts';
import { OutboxStatus } from './outbox-status.ts';
import { Processes } from './processes.ts';
import { RecentDurations } from './recent-durations.ts';

export function createTelemetryStore({ redis, keys }: StoreContext) {
  const recentDurations = new RecentDurations(redis, keys);
  return {
    metrics: new Metrics(redis, keys),
    functionSeries: new FunctionSeries(redis, keys, { recent: recentDurations }),
    recentDurations,
    processes: new Processes(redis, keys),
    liveWorkers: new LiveWorkers(redis, keys),
    archiveStatus: new ArchiveStatus(redis, keys),
    outboxStatus: new OutboxStatus(redis, keys),
    hotStorage: new HotStorage(redis, keys, { endedRuns: new EndedRunIndex(redis, keys, {}) }),
    liveUpdates: new LiveUpdatePublisher(redis, keys),
    /** @param subscriber a connection used only for subscriptions */
    liveFeed: (subscriber: Subscriber) => new LiveFeed(subscriber, keys),
  };
}
