/** A worker of ingest jobs that fetches less often at a high load (job-load.ts), because the marker of each job wakes it. A job that ends
 *  fetches the next one itself, so a backlog is not slowed down. */
import { setTimeout } from 'node:timers/promises';
import type { Job, Worker } from 'bullmq';
import { JobLoad } from '../jobs/ingestion/job-load.ts';
import type { IngestJob } from '../jobs/queues/queues.ts';
import { WatchedWorker } from './watched-worker.ts';

/** Minimum time between two fetches at a high load. */
const INTERVAL_MS = 4;

export class ThrottledWorker extends WatchedWorker<IngestJob> {
  // BullMQ's constructor starts the worker, so this must not be initialized after it.
  declare private throttle: FetchThrottle | undefined;

  protected override async moveToActive(token: string, name?: string): Promise<Job<IngestJob, void>> {
    const leftMs = this.throttleOf().ask(performance.now());
    if (leftMs >= 1 && !this.closing) await setTimeout(leftMs);
    return super.moveToActive(token, name);
  }

  protected override async callProcessJob(
    ...args: Parameters<Worker<IngestJob, void>['callProcessJob']>
  ): Promise<void> {
    const [job] = args;
    this.throttleOf().found(performance.now(), job.data.events.length);
    await super.callProcessJob(...args);
  }

  private throttleOf(): FetchThrottle {
    this.throttle ??= new FetchThrottle();
    return this.throttle;
  }
}

class FetchThrottle {
  readonly #load = new JobLoad();
  #nextAt = 0;

  /** @returns milliseconds to wait before fetching */
  ask(nowMs: number): number {
    const at = this.#load.isHigh(nowMs) ? Math.max(nowMs, this.#nextAt) : nowMs;
    this.#nextAt = at + INTERVAL_MS;
    return at - nowMs;
  }

  found(nowMs: number, events: number): void {
    this.#load.add(nowMs, events);
  }
}
