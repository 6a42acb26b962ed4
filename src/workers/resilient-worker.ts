/** A worker that runs until it is closed. BullMQ's own worker never runs if one of its connections fails at first, and may get stuck
 *  while the nodes of a cluster change (watched-worker.ts); it is then replaced. */
import { setTimeout } from 'node:timers/promises';
import type { Logger } from '../log.ts';
import type { WatchedWorker } from './watched-worker.ts';

const RETRY_MS = 1_000;
const CHECK_MS = 2_000;

// biome-ignore lint/suspicious/noExplicitAny: workers of both queues
type AnyWorker = WatchedWorker<any>;

export class ResilientWorker {
  readonly #create: () => AnyWorker;
  readonly #log: Logger;
  #timer: NodeJS.Timeout | undefined;
  #worker: AnyWorker;
  /** Workers that got stuck and may still have jobs. */
  #abandoned: AnyWorker[] = [];
  #concurrency: number | undefined;
  #isClosing = false;

  /** @param create creates a worker that is not running yet (`autorun: false`)
   *  @param isCluster without a cluster, a worker that waits for Redis is not stuck */
  constructor(create: () => AnyWorker, isCluster: boolean, log: Logger) {
    this.#create = create;
    this.#log = log;
    this.#worker = create();
    void this.#run(this.#worker);
    if (!isCluster) return;
    this.#timer = setInterval(() => this.#check(), CHECK_MS);
    this.#timer.unref();
  }

  set concurrency(concurrency: number) {
    this.#concurrency = concurrency;
    this.#worker.resize(concurrency);
  }

  async waitUntilReady(): Promise<void> {
    await this.#worker.waitUntilReady();
  }

  /** Stops taking jobs. Resolves when the active jobs are done. */
  async close(): Promise<void> {
    this.#isClosing = true;
    clearInterval(this.#timer);
    const withJobs = this.#abandoned.filter(({ jobsInProgress }) => jobsInProgress > 0);
    await Promise.all([this.#worker, ...withJobs].map((worker) => worker.close()));
  }

  async #run(worker: AnyWorker): Promise<void> {
    try {
      await worker.run();
    } catch (error) {
      if (this.#isClosing || worker !== this.#worker) return;
      this.#log.warn({ queue: worker.name, err: (error as Error).message }, 'a worker could not run');
      // Closes its connections; it has no jobs.
      worker.close(true).catch(() => {});
      await setTimeout(RETRY_MS, undefined, { ref: false });
      if (!this.#isClosing && worker === this.#worker) this.#replace();
    }
  }

  #check(): void {
    for (const worker of this.#abandoned) if (worker.jobsInProgress === 0) worker.close(true).catch(() => {});
    this.#abandoned = this.#abandoned.filter(({ jobsInProgress }) => jobsInProgress > 0);
    const worker = this.#worker;
    if (this.#isClosing || !worker.isStuck(performance.now())) return;
    this.#log.warn(
      { queue: worker.name, prefix: worker.opts.prefix },
      'a worker got stuck; another one takes its place',
    );
    // If the worker recovers, it only finishes its current jobs.
    worker.pause(true).catch(() => {});
    this.#abandoned.push(worker);
    this.#replace();
  }

  #replace(): void {
    this.#worker = this.#create();
    if (this.#concurrency !== undefined) this.#worker.resize(this.#concurrency);
    void this.#run(this.#worker);
  }
}
