/** A worker that can tell whether it still asks for jobs. On a cluster, BullMQ's worker may wait forever for a blocking connection that it has given up
 *  while the cluster was changing. */
import { type Job, Worker } from 'bullmq';

/** A worker asks every five seconds (BullMQ's `drainDelay`) when there is nothing to do. */
const STUCK_MS = 20_000;

interface Watch {
  /** performance.now() */
  askedAt: number;
  inProgress: number;
}

export class WatchedWorker<Data> extends Worker<Data, void> {
  // Set by whatever asks first, also if that is BullMQ's constructor.
  declare private watch: Watch | undefined;

  /** Whether it could take a job and has not asked for one for long. */
  isStuck(nowMs: number): boolean {
    const { askedAt, inProgress } = this.watched();
    return !this.closing && inProgress < this.concurrency && nowMs - askedAt > STUCK_MS;
  }

  get jobsInProgress(): number {
    return this.watched().inProgress;
  }

  protected override async moveToActive(token: string, name?: string): Promise<Job<Data, void>> {
    this.watched().askedAt = performance.now();
    return super.moveToActive(token, name);
  }

  /** Also of a job that comes with the end of another. */
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
      // Room for another job since now.
      watch.askedAt = performance.now();
    }
  }

  private watched(): Watch {
    this.watch ??= { askedAt: performance.now(), inProgress: 0 };
    return this.watch;
  }
}
