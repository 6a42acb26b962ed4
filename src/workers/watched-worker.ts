/** BullMQ's worker, extended: it reports whether it is stuck (in a cluster BullMQ may wait forever on a connection
 *  that it gave up), runs jobs that scripts took for it (added-jobs.ts, job-ends.ts), says whether it takes another
 *  job, and shares its concurrency with those of other partitions. */
import { type Job, type JobJson, Worker } from 'bullmq';
import type { SharedConcurrency } from './shared-concurrency.ts';

/** An idle worker fetches every five seconds (BullMQ's `drainDelay`). */
const STUCK_MS = 20_000;

interface Watch {
  /** performance.now() */
  askedAt: number;
  inProgress: number;
  /** Maximum number of jobs at a time. */
  capacity: number;
  /** Jobs that run in addition to those of its loop. */
  taken: Set<Promise<void>>;
  /** Number of jobs that a script may be taking for it. */
  expected: number;
  last?: JobJson;
}

/** The private state of BullMQ's loop. */
interface Loop {
  /** Set while it waits for a job. */
  waiting: Promise<unknown> | null;
  /** Whether it waits until it is woken, instead of looking for a job immediately. */
  drained: boolean;
  /** Jobs of its loop: those that it fetches, has fetched or runs. */
  mainLoopQueue: { add(job: Promise<void>): void; numTotal(): number } | null;
}

export class WatchedWorker<Data> extends Worker<Data, void> {
  // Set by the first fetch, which may be in BullMQ's constructor.
  declare private watch: Watch | undefined;
  /** Number of jobs in progress that wait for the ends of others. */
  declare waitingJobs: (() => number) | undefined;
  declare private shared: SharedConcurrency | undefined;

  /** Whether the worker has had room for a job, and has not fetched for long. */
  isStuck(nowMs: number): boolean {
    const { askedAt, inProgress, capacity } = this.watched();
    return !this.closing && inProgress < capacity && nowMs - askedAt > STUCK_MS;
  }

  /** Call before the worker gets the last waiting job: it then looks for another job only when it is woken. */
  noteLast(job: JobJson): void {
    this.watched().last = job;
  }

  /** Maximum number of jobs at a time. */
  get capacity(): number {
    return this.watched().capacity;
  }

  /** Runs more jobs than its share only while the other workers leave room. Call before it runs. */
  shareConcurrency(shared: SharedConcurrency): void {
    this.shared = shared;
    shared.add(this);
  }

  /** Changes how many jobs it may run at a time. */
  resize(capacity: number): void {
    this.changeTaken((watch) => {
      // There is room for another job from now on.
      if (watch.capacity <= watch.inProgress && watch.inProgress < capacity) watch.askedAt = performance.now();
      watch.capacity = capacity;
    });
  }

  /** Call before a script that adds jobs takes some of them for this worker; `runTaken` must follow. The jobs of its loop keep half of its
   *  capacity. Jobs that wait leave their room to others.
   *  @returns how many it may take */
  expectAdded(wanted: number): number {
    if (this.closing || this.paused || !this.running) return 0;
    const { inProgress, capacity, taken, expected } = this.watched();
    const atWork = inProgress - (this.waitingJobs?.() ?? 0);
    return this.expect(
      Math.min(wanted, capacity - atWork - expected, Math.floor(capacity / 2) - taken.size - expected),
    );
  }

  /** Like `expectAdded`, for jobs that a script takes in addition to one of its loop. */
  expectBeside(wanted: number): number {
    const { mainLoopQueue } = this as unknown as Loop;
    return this.expect(mainLoopQueue ? Math.min(wanted, this.concurrency - mainLoopQueue.numTotal()) : 0);
  }

  private expect(count: number): number {
    if (count <= 0) return 0;
    this.changeTaken((watch) => {
      watch.expected += count;
    });
    this.reportJobs();
    return count;
  }

  /** @returns a job that is active already; undefined: the worker has begun to close since, and other workers get the job */
  takenJob(data: JobJson, id: string, token: string): Job<Data, void> | undefined {
    const job: Job<Data, void> = this.createJob(data, id);
    job.token = token;
    if (!this.closing && !this.paused) return job;
    job.moveToWait(token).catch(() => {});
    return undefined;
  }

  /** Runs jobs of `takenJob` immediately, and the jobs that it fetches when they end.
   *  @param expected what `expectAdded` or `expectBeside` returned */
  runTaken(jobs: readonly Job<Data, void>[], expected: number): void {
    if (expected === 0) return;
    const end = (running: Promise<void>) => this.changeTaken(({ taken }) => taken.delete(running));
    this.changeTaken((watch) => {
      watch.expected -= expected;
      for (const job of jobs) {
        const running: Promise<void> = this.runInTurn(job)
          .catch((error) => void this.emit('error', error))
          .finally(() => end(running));
        watch.taken.add(running);
      }
    });
    this.reportJobs();
  }

  /** Also waits for added jobs: BullMQ knows only the jobs that its loop has fetched. */
  override async close(force = false): Promise<void> {
    const { taken } = this.watched();
    if (!force && taken.size > 0) {
      await this.pause(true);
      await Promise.all(taken);
    }
    this.shared?.remove(this);
    return super.close(force);
  }

  private reportJobs(): void {
    const { inProgress, expected } = this.watched();
    this.shared?.report(this, inProgress + expected);
  }

  /** Changes the number of taken jobs, and leaves the rest of the capacity to the loop. */
  private changeTaken(change: (watch: Watch) => void): void {
    const watch = this.watched();
    change(watch);
    const { capacity, taken, expected } = watch;
    // BullMQ has no loop without capacity.
    this.concurrency = Math.max(1, capacity - taken.size - expected);
    const { waiting, mainLoopQueue } = this as unknown as Loop;
    // A loop that had no capacity left does not look for more by itself. BullMQ wakes it in the same way.
    if (!waiting) mainLoopQueue?.add(Promise.resolve());
  }

  private async runInTurn(first: Job<Data, void>): Promise<void> {
    for (let job: Job<Data, void> | undefined = first; job; ) {
      job = (await this.processJob(job, job.token as string, () => this.takesNext)) as Job<Data, void> | undefined;
    }
  }

  /** Whether it takes another job for one that ends. */
  get takesNext(): boolean {
    const { inProgress, capacity } = this.watched();
    return !this.closing && !this.paused && inProgress <= capacity;
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
    const watch = this.watched();
    watch.askedAt = performance.now();
    const job = await super.nextJobFromJobData(...args);
    if (watch.last !== undefined && watch.last === args[0]) (this as unknown as Loop).drained = true;
    return job;
  }

  protected override async callProcessJob(...args: Parameters<Worker<Data, void>['callProcessJob']>): Promise<void> {
    const watch = this.watched();
    watch.inProgress++;
    this.reportJobs();
    try {
      await super.callProcessJob(...args);
    } finally {
      watch.inProgress--;
      this.reportJobs();
      // There is room for another job from now on.
      watch.askedAt = performance.now();
    }
  }

  private watched(): Watch {
    this.watch ??= {
      ...{ askedAt: performance.now(), inProgress: 0, capacity: this.opts.concurrency ?? 1 },
      ...{ taken: new Set(), expected: 0 },
    };
    return this.watch;
  }
}
