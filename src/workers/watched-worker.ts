/** BullMQ's worker, extended: it reports whether it is stuck (in a cluster BullMQ may wait forever on a connection
 *  that it gave up), runs jobs that this process took when it added them (added-jobs.ts), and says whether it takes
 *  another job. */
import { type Job, type JobJson, Worker } from 'bullmq';

/** An idle worker fetches every five seconds (BullMQ's `drainDelay`). */
const STUCK_MS = 20_000;

interface Watch {
  /** performance.now() */
  askedAt: number;
  inProgress: number;
  /** Jobs that its loop has not fetched. */
  taken: Set<Promise<void>>;
  last?: JobJson;
}

/** The private state of BullMQ's loop. */
interface Loop {
  /** Set while it waits for a job. */
  waiting: Promise<unknown> | null;
  /** Whether it waits until it is woken, rather than to look for a job at once. */
  drained: boolean;
  mainLoopQueue: { add(job: Promise<void>): void } | null;
}

export class WatchedWorker<Data> extends Worker<Data, void> {
  // Set by the first fetch, which may be in BullMQ's constructor.
  declare private watch: Watch | undefined;
  /** Number of jobs in progress that wait for the ends of others. */
  declare waitingJobs: (() => number) | undefined;

  /** Whether it had room for a job and has not fetched for long. */
  isStuck(nowMs: number): boolean {
    const { askedAt, inProgress } = this.watched();
    return !this.closing && inProgress < this.capacity && nowMs - askedAt > STUCK_MS;
  }

  /** Call before it gets a job after which none waits: it then looks for another only when it is woken. */
  noteLast(job: JobJson): void {
    this.watched().last = job;
  }

  /** Number of jobs that it can run besides the jobs of its loop, which keeps half of its capacity. Jobs that wait leave
   *  their room to others. */
  get room(): number {
    if (this.closing || this.paused || !this.running) return 0;
    const { inProgress, taken } = this.watched();
    const atWork = inProgress - (this.waitingJobs?.() ?? 0);
    return Math.min(this.capacity - atWork, Math.floor(this.capacity / 2) - taken.size);
  }

  /** @returns a job that is active already; undefined: the worker has begun to close since, and other workers get the job */
  takenJob(data: JobJson, id: string, token: string): Job<Data, void> | undefined {
    const job: Job<Data, void> = this.createJob(data, id);
    job.token = token;
    if (!this.closing && !this.paused) return job;
    job.moveToWait(token).catch(() => {});
    return undefined;
  }

  /** Runs a job of `takenJob` at once, and the jobs that it fetches when jobs end. */
  runTaken(job: Job<Data, void>): void {
    const running: Promise<void> = this.runInTurn(job)
      .catch((error) => void this.emit('error', error))
      .finally(() => this.changeTaken(() => this.watched().taken.delete(running)));
    this.changeTaken(() => this.watched().taken.add(running));
  }

  /** Also waits for added jobs: BullMQ knows only the jobs that its loop has fetched. */
  override async close(force = false): Promise<void> {
    const { taken } = this.watched();
    if (!force && taken.size > 0) {
      await this.pause(true);
      await Promise.all(taken);
    }
    return super.close(force);
  }

  /** Leaves the rest of the capacity to its loop. */
  private changeTaken(change: () => void): void {
    const { capacity } = this;
    change();
    this.concurrency = capacity - this.watched().taken.size;
    const { waiting, mainLoopQueue } = this as unknown as Loop;
    // A loop that had no capacity left does not look for more by itself. BullMQ wakes it in the same way.
    if (!waiting) mainLoopQueue?.add(Promise.resolve());
  }

  private get capacity(): number {
    return this.concurrency + this.watched().taken.size;
  }

  private async runInTurn(first: Job<Data, void>): Promise<void> {
    for (let job: Job<Data, void> | undefined = first; job; ) {
      job = (await this.processJob(job, job.token as string, () => this.takesNext)) as Job<Data, void> | undefined;
    }
  }

  /** Whether it takes another job for one that ends. */
  get takesNext(): boolean {
    return !this.closing && !this.paused && this.watched().inProgress <= this.capacity;
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
    try {
      await super.callProcessJob(...args);
    } finally {
      watch.inProgress--;
      // There is room for another job from now on.
      watch.askedAt = performance.now();
    }
  }

  private watched(): Watch {
    this.watch ??= { askedAt: performance.now(), inProgress: 0, taken: new Set() };
    return this.watch;
  }
}
