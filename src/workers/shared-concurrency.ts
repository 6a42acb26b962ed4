/** Shares the concurrency of a process between its workers of a queue, one for each partition. Each may always run its
 *  share of jobs, and more while there is room, because other partitions may have none. A job beyond the concurrency of
 *  the process would only wait in its memory, and return to the queue after a while: two commands more. */

/** Workers that have used up the room use it again when this part of it is free: several jobs are then taken in a round trip. */
const FREED_PART = 1 / 4;

interface SharingWorker {
  /** Sets how many jobs it may run at a time. */
  resize(capacity: number): void;
}

export class SharedConcurrency {
  readonly #total: number;
  readonly #waiting: () => number;
  /** Number of jobs by worker. */
  readonly #jobs = new Map<SharingWorker, number>();
  #beyondShares = 0;
  /** What each worker may use. */
  #capacity: number;

  /** @param total maximum number of jobs of one worker, and of all together; workers without jobs may begin their shares in addition
   *  @param waiting returns how many jobs in progress leave their room to others */
  constructor(total: number, waiting: () => number) {
    this.#total = total;
    this.#waiting = waiting;
    this.#capacity = total;
  }

  add(worker: SharingWorker): void {
    this.#jobs.set(worker, 0);
    this.#changeShares();
    worker.resize(this.#capacity);
  }

  remove(worker: SharingWorker): void {
    if (this.#jobs.delete(worker)) this.#changeShares();
  }

  /** @param jobs number of jobs that the worker runs or takes now */
  report(worker: SharingWorker, jobs: number): void {
    const before = this.#jobs.get(worker);
    if (before === undefined) return;
    this.#jobs.set(worker, jobs);
    this.#beyondShares += this.#beyondShare(jobs) - this.#beyondShare(before);
    this.#changeCapacity();
  }

  get #share(): number {
    return Math.ceil(this.#total / Math.max(1, this.#jobs.size));
  }

  #beyondShare(jobs: number): number {
    return Math.max(0, jobs - this.#share);
  }

  #changeShares(): void {
    this.#beyondShares = [...this.#jobs.values()].reduce((sum, jobs) => sum + this.#beyondShare(jobs), 0);
    this.#changeCapacity();
  }

  #changeCapacity(): void {
    const room = this.#total - this.#share;
    const free = room - this.#beyondShares + this.#waiting();
    const isUsedUp = free <= (this.#capacity < this.#total ? FREED_PART * room : 0);
    const capacity = isUsedUp ? this.#share : this.#total;
    if (capacity === this.#capacity) return;
    this.#capacity = capacity;
    for (const worker of this.#jobs.keys()) worker.resize(capacity);
  }
}
