/** A worker that can tell whether it still fetches jobs. In a cluster, BullMQ's worker may wait forever for a blocking connection that it
 *  gave up during a change of nodes. */
import { type Job, Worker } from 'bullmq';

/** An idle worker fetches every five seconds (BullMQ's `drainDelay`). */
const STUCK_MS = 20_000;

interface Watch {
  /** performance.now() */
  askedAt: number;
  inProgress: number;
}

export class WatchedWorker<Data> extends Worker<Data, void> {
  // Set by the first fetch, which may be in BullMQ's constructor.
  declare private watch: Watch | undefined;

  /** Whether it had room for a job and has not fetched for long. */
  isStuck(nowMs: number): boolean {
    const { askedAt, inProgress } = this.watched();
    return !this.closing && inProgress < this.concurrency && nowMs - askedAt > STUCK_MS;
  }

  /** Whether it takes another job for one that ends. */
  get takesNext(): boolean {
    return !this.closing && !this.paused && this.watched().inProgress <= this.concurrency;
  }

  /** Call before a job ends: renewing a lock that is gone would be an error. */
  stopRenewing({ id = '' }: Job<Data>): void {
    this.lockManager.untrackJob(id);
  }

  get jobsInProgress(): number {
    return this.watched().inProgress;
  }

  protected override async moveToActive(token: string, name?: string): Promise<Job<Data, void>> {
    this.watched().askedAt = performance.now();
    return super.moveToActive(token, name);
  }

  /** Also counts a job fetched at the end of another. */
  protected override async nextJobFromJobData(
    ...args: Parameters<Worker<Data, void>['nextJobFromJobData']>
  ): Promise<Job<Data, void>> {
    this.watched().askedAt = performance.now();
    return super.nextJobFromJobData(...args);
  }

  protected override async callProcessJob(...args: Parameters<Worker<Data, void>['callProcessJob']>): Promise<void> {
    const watch = this.watched();
    watch.inProgress++;
    try {
      await super.callProcessJob(...args);
    } finally {
      watch.inProgress--;
      // There is room for another job from now on.
      watch.askedAt = performance.now();
    }
  }

  private watched(): Watch {
    this.watch ??= { askedAt: performance.now(), inProgress: 0 };
    return this.watch;
  }
}
