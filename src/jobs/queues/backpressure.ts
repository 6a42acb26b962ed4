/** Back-pressure: senders are told to come later before Redis refuses what the workers need for what is already here. Each web
 *  process looks every second how full the store is, and keeps the verdict in memory: a request asks it without waiting. */
import type { Thresholds } from '../../config.ts';
import { ServiceError } from '../../errors.ts';
import type { Logger } from '../../log.ts';
import {
  type ExceededThreshold,
  exceededThresholds,
  type Load,
  type Resource,
  retryAfterSeconds,
} from '../../model/capacity/thresholds.ts';
import type { Redis } from '../../store/redis/connection.ts';
import { memoryOf } from '../../store/redis/server-info.ts';
import type { IngestQueue, RunQueue } from './queues.ts';

const LOOK_MS = 1_000;
/** Where jobs wait that could be done, or could if nobody had paused the queue. */
const WAITING = [
  ['llen', 'wait'],
  ['llen', 'paused'],
  ['zcard', 'prioritized'],
] as const;

export class Backpressure {
  readonly #redis: Redis;
  readonly #queues: readonly [IngestQueue, RunQueue];
  readonly #marks: Thresholds;
  readonly #log: Logger;
  #excesses: ExceededThreshold[] = [];
  #since: number | undefined;
  #looking: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(redis: Redis, queues: readonly [IngestQueue, RunQueue], marks: Thresholds, log: Logger) {
    this.#redis = redis;
    this.#queues = queues;
    this.#marks = marks;
    this.#log = log;
  }

  /** Whether senders are told to come later. */
  get full(): boolean {
    return this.#excesses.length > 0;
  }

  /** Since when it is full, Unix milliseconds, and why, for those who can mend it. */
  get state(): { since: number | undefined; reasons: string[] } {
    return { since: this.#since, reasons: this.#excesses.map(reasonOf) };
  }

  /** Before anything is taken in for a sender. What the service does by itself does not ask: it is what makes room.
   *  @throws ServiceError memory_short, backlog_full */
  admit(): void {
    this.#refuse(this.#excesses[0]);
  }

  /** Before an app is registered: it takes memory. What waits in the queues is no reason: the app may be what mends it.
   *  @throws ServiceError memory_short */
  admitRegistration(): void {
    this.#refuse(this.#excesses.find(({ resource }) => resource === 'memory'));
  }

  #refuse(excess: ExceededThreshold | undefined): void {
    if (!excess) return;
    const seconds = retryAfterSeconds(excess);
    throw new ServiceError(excess.resource === 'memory' ? 'memory_short' : 'backlog_full', {
      detail: `send the same again after ${seconds} s`,
      retryAfterSeconds: seconds,
    });
  }

  /** Looks now, and then every second. */
  watch(): void {
    this.#timer = setInterval(() => void this.look(), LOOK_MS);
    void this.look();
  }

  close(): void {
    clearInterval(this.#timer);
  }

  /** Without Redis the verdict stays as it is: nothing is accepted anyway. */
  look(): Promise<void> {
    this.#looking ??= this.#load()
      .then(
        (load) => load && this.#judge(load),
        (error: Error) => this.#log.debug({ err: error.message }, 'pressure is not known'),
      )
      .finally(() => {
        this.#looking = undefined;
      });
    return this.#looking;
  }

  async #load(): Promise<Load | undefined> {
    if (this.#redis.status !== 'ready') return undefined;
    const pipeline = this.#redis.pipeline().info('memory');
    for (const queue of this.#queues) {
      for (const [command, key] of WAITING) pipeline[command](queue.toKey(key));
    }
    const [info, ...lengths] = (await pipeline.exec()) ?? [];
    const jobs = lengths.map(([error, length]) => {
      if (error) throw error;
      return length as number;
    });
    const sum = (numbers: number[]) => numbers.reduce((all, one) => all + one, 0);
    return {
      // Some hosted ones forbid INFO: then the queues alone are held to their marks.
      ...memoryOf(info?.[0] ? '' : (info?.[1] as string)),
      ingestJobs: sum(jobs.slice(0, WAITING.length)),
      runJobs: sum(jobs.slice(WAITING.length)),
    };
  }

  #judge(load: Load): void {
    const wasFull = this.full;
    this.#excesses = exceededThresholds(load, this.#marks, this.#excesses);
    if (this.full === wasFull) return;
    this.#since = this.full ? Date.now() : undefined;
    if (this.full) this.#log.warn({ reasons: this.#excesses.map(reasonOf) }, 'full: senders are told to come later');
    else this.#log.info('there is room again: events are taken in');
  }
}

const MENDED_BY: Record<Resource, string> = {
  memory:
    'give Redis more memory, or keep less (RETENTION_DAYS, WEBHOOK_LOG_SIZE); the mark is REDIS_MEMORY_LIMIT_PERCENT',
  ingest: 'start more workers; the mark is INGEST_BACKLOG_MAX',
  runs: 'start more workers, raise RUN_CONCURRENCY, or make the apps faster; the mark is RUN_BACKLOG_MAX',
};

const number = new Intl.NumberFormat('en').format;

function reasonOf({ resource, level, threshold: mark }: ExceededThreshold): string {
  const what =
    resource === 'memory'
      ? `Redis has used ${number(level)} bytes, of ${number(Math.floor(mark))} before events are refused`
      : `${number(level)} jobs wait in the queue "${resource}", of ${number(mark)} before events are refused`;
  return `${what}: ${MENDED_BY[resource]}`;
}
