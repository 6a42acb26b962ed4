/** Backpressure: rejects events while Redis or the queues exceed a threshold, before Redis rejects what workers need for accepted events.
 *  Each web process reads the load every second and keeps the result in memory, so that requests do not wait for it. */
import type { Thresholds } from '../../config.ts';
import { duty } from '../../duties/duty.ts';
import { ServiceError } from '../../errors.ts';
import type { Logger } from '../../log.ts';
import { MemoryTrend } from '../../model/capacity/memory-trend.ts';
import {
  type ExceededThreshold,
  exceededThresholds,
  type Load,
  memoryThreshold,
  type Resource,
  retryAfterSeconds,
} from '../../model/capacity/thresholds.ts';
import { Composed } from '../../model/values/composed.ts';
import type { Redis } from '../../store/redis/connection/connection.ts';
import { readLoad } from './load.ts';
import type { PartitionQueues } from './partition-queues.ts';

export const backpressureRefresh = duty<{ backpressure: Backpressure }>({
  name: 'backpressure',
  about: "Reads Redis's memory and the queues, and decides whether events are accepted",
  scope: 'process',
  everyMs: 1_000,
  rounds:
    ({ backpressure }) =>
    () =>
      backpressure.refresh(),
});

export class Backpressure extends Composed<{
  redis: Redis;
  queues: PartitionQueues;
  thresholds: Thresholds;
  log: Logger;
}> {
  readonly #memoryTrend = new MemoryTrend();
  #memoryThreshold = 0;
  #exceeded: ExceededThreshold[] = [];
  #since: number | undefined;
  #refreshing: Promise<void> | undefined;

  /** Whether events are rejected. */
  get full(): boolean {
    return this.#exceeded.length > 0;
  }

  /** The time since which events are rejected (Unix milliseconds), and the reason, in words for operators. */
  get state(): { since: number | undefined; reasons: string[] } {
    return { since: this.#since, reasons: this.#exceeded.map(reasonOf) };
  }

  /** Time until memory is short at its current rate of growth; undefined if it does not grow, has no limit, or it is too early to tell. */
  get roomMs(): number | undefined {
    if (this.#exceeded.some(({ resource }) => resource === 'memory')) return 0;
    return this.#memoryThreshold > 0 ? this.#memoryTrend.msUntil(this.#memoryThreshold) : undefined;
  }

  /** Call before accepting anything from a sender. The service's own events skip it, because they lead to freed memory.
   *  @throws ServiceError memory_short, backlog_full */
  admit(): void {
    this.#reject(this.#exceeded[0]);
  }

  /** Call before registering an app, which takes memory. A full backlog is no reason to reject it, because the app may empty it.
   *  @throws ServiceError memory_short */
  admitRegistration(): void {
    this.#reject(this.#exceeded.find(({ resource }) => resource === 'memory'));
  }

  #reject(exceeded: ExceededThreshold | undefined): void {
    if (!exceeded) return;
    const seconds = retryAfterSeconds(exceeded);
    throw new ServiceError(exceeded.resource === 'memory' ? 'memory_short' : 'backlog_full', {
      detail: `retry after ${seconds} s`,
      retryAfterSeconds: seconds,
    });
  }

  /** Without Redis the state stays unchanged: no events are accepted anyway. */
  refresh(): Promise<void> {
    this.#refreshing ??= this.#readLoad()
      .then(
        (load) => load && this.#update(load),
        (error: Error) => this.deps.log.debug({ err: error.message }, 'backpressure: the load cannot be read'),
      )
      .finally(() => {
        this.#refreshing = undefined;
      });
    return this.#refreshing;
  }

  async #readLoad(): Promise<Load | undefined> {
    const { redis, queues } = this.deps;
    if (redis.status !== 'ready') return undefined;
    return readLoad(redis, queues);
  }

  #update(load: Load): void {
    const { thresholds, log } = this.deps;
    const wasFull = this.full;
    this.#memoryThreshold = memoryThreshold(load, thresholds);
    if (load.usedBytes !== undefined) this.#memoryTrend.add(load.usedBytes, performance.now());
    this.#exceeded = exceededThresholds(load, thresholds, this.#exceeded);
    if (this.full === wasFull) return;
    this.#since = this.full ? Date.now() : undefined;
    if (this.full) log.warn({ reasons: this.#exceeded.map(reasonOf) }, 'backpressure: events are rejected');
    else log.info('backpressure ended: events are accepted');
  }
}

const REMEDY: Record<Resource, string> = {
  memory:
    'give Redis more memory, or lower RETENTION_DAYS or WEBHOOK_LOG_SIZE; REDIS_MEMORY_LIMIT_PERCENT sets the threshold',
  ingest: 'start more workers; INGEST_BACKLOG_MAX sets the threshold',
  runs: 'start more workers, raise RUN_CONCURRENCY, or make the apps faster; RUN_BACKLOG_MAX sets the threshold',
};

const number = new Intl.NumberFormat('en').format;

function reasonOf({ resource, level, threshold: mark }: ExceededThreshold): string {
  const what =
    resource === 'memory'
      ? `Redis uses ${number(level)} bytes; events are rejected above ${number(Math.floor(mark))}`
      : `${number(level)} jobs wait in the queue "${resource}"; events are rejected above ${number(mark)}`;
  return `${what}: ${REMEDY[resource]}`;
}
