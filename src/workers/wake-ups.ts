/** Limits wake-ups while a worker has other jobs: one begins for every OTHERS_PER_WAKE_UP other jobs that end,
 *  because an event needs about ten round trips to Redis before its call, and every wake-up delays them. A call that
 *  ends a sleep counts until its run has continued, except while it waits for capacity or for a slow app. */
import type { Job } from 'bullmq';
import type { FunctionClient } from '../functions/function-client.ts';
import type { RunJob } from '../jobs/queues/queues.ts';
import type { Handler } from './job-middleware.ts';

/** Other jobs that end for each wake-up that begins beside them: a run that does not sleep has two, one of which ingests its
 *  event. */
export const OTHERS_PER_WAKE_UP = 8;
/** Maximum number of wake-ups at work beside other jobs: enough to keep a process, its Redis and an app busy. */
export const BESIDE_OTHERS_MAX = 4;
/** Maximum number without other jobs: commands that are sent together save a third of the CPU time. */
export const ALONE_MAX = 32;
/** Wake-ups count as alone once no other job has begun or ended for this long: another job that takes longer only waits. */
const OTHERS_MS = 250;
/** After this time, a wake-up no longer waits for other jobs, even if they use all of the process. */
export const WAIT_MAX_MS = 10_000;
/** An app that has not responded after this time waits for something itself, so that more concurrent calls do not slow it down. */
const LONG_MS = 50;
/** If this process is late by this much, the machine is busy, and the app may be slow for the same reason. */
const LATE_MS = 5;

export class WakeUps {
  readonly #waitingOutsideMax: number;
  /** Wake-ups that wait, in order, each with the time since which it waits. */
  readonly #queue: { begin: () => void; sinceMs: number }[] = [];
  #atWork = 0;
  /** Number of wake-ups that wait for capacity or an app. */
  #waitingOutside = 0;
  #othersAtWork = 0;
  /** Number of other jobs that have ended since a wake-up began beside them. */
  #othersEnded = 0;
  #retry: NodeJS.Timeout | undefined;
  readonly #now: () => number;
  #lastOtherAt = Number.NEGATIVE_INFINITY;

  /** @param concurrency concurrency of the worker, most of which wake-ups leave to other jobs
   *  @param now in milliseconds */
  constructor(concurrency: number, now = () => performance.now()) {
    this.#now = now;
    this.#waitingOutsideMax = Math.floor(concurrency / 3);
  }

  /** Limits the number of concurrent wake-ups. A wake-up that waits for its turn keeps its job: wake-ups are taken only when no call
   *  waits. */
  limit(handler: Handler<RunJob>): Handler<RunJob> {
    return async (job) => {
      // While a request of a step is answered, its job is not at work.
      if (job.data.kind === 'request') return handler(job);
      if (!isWakeUp(job)) return this.#beside(() => handler(job));
      if (this.#queue.length === 0 && this.#mayBegin()) this.#atWork += 1;
      else
        await new Promise<void>((resolve) => {
          this.#queue.push({ begin: resolve, sinceMs: this.#now() });
          this.#startNext();
        });
      try {
        await handler(job);
      } finally {
        this.#end();
      }
    };
  }

  /** Number of wake-ups that wait for their turn. */
  get queued(): number {
    return this.#queue.length;
  }

  /** Wraps the handler of another queue: wake-ups yield to its jobs. */
  yieldTo<Data>(handler: Handler<Data>): Handler<Data> {
    return (job) => this.#beside(() => handler(job));
  }

  async #beside(work: () => Promise<void>): Promise<void> {
    this.#changeOthers(1);
    try {
      await work();
    } finally {
      this.#othersEnded = Math.min(OTHERS_PER_WAKE_UP, this.#othersEnded + 1);
      this.#changeOthers(-1);
    }
  }

  #changeOthers(by: 1 | -1): void {
    this.#othersAtWork += by;
    this.#lastOtherAt = this.#now();
    if (by < 0) this.#startNext();
  }

  /** Wraps the client for calls that end no sleep: while an app responds, they are not at work. */
  otherCallsOf(client: Pick<FunctionClient, 'call'>): Pick<FunctionClient, 'call'> {
    return {
      call: async (...args) => {
        this.#changeOthers(-1);
        try {
          return await client.call(...args);
        } finally {
          this.#changeOthers(1);
        }
      },
    };
  }

  /** Lets others work while a wake-up waits for longer than `afterMs`. Afterwards the wake-up continues immediately, so that what an app
   *  has answered is stored first. */
  async wait<T>(awaited: Promise<T>, afterMs = 0): Promise<T> {
    let isWaiting = false;
    let timer: NodeJS.Timeout | undefined;
    const letOthersAfter = (ms: number) => {
      const dueAt = this.#now() + ms;
      timer = setTimeout(() => {
        isWaiting = this.#waitingOutside < this.#waitingOutsideMax && this.#now() < dueAt + LATE_MS;
        if (!isWaiting) return letOthersAfter(LONG_MS);
        this.#waitingOutside += 1;
        this.#end();
      }, ms);
    };
    letOthersAfter(afterMs);
    try {
      return await awaited;
    } finally {
      clearTimeout(timer);
      if (isWaiting) {
        this.#waitingOutside -= 1;
        this.#atWork += 1;
      }
    }
  }

  /** Wraps the client for calls that end a sleep. */
  callsOf(client: Pick<FunctionClient, 'call'>): Pick<FunctionClient, 'call'> {
    return { call: (...args) => this.wait(client.call(...args), LONG_MS) };
  }

  #end(): void {
    this.#atWork -= 1;
    this.#startNext();
  }

  #startNext(): void {
    while (this.#queue.length > 0 && this.#mayBegin()) {
      this.#atWork += 1;
      this.#queue.shift()?.begin();
    }
    // If the other jobs at work only wait, nothing else starts the next wake-up.
    if (this.#queue.length > 0) this.#retry ??= setTimeout(() => this.#tryAgain(), OTHERS_MS).unref();
  }

  #tryAgain(): void {
    this.#retry = undefined;
    this.#startNext();
  }

  #mayBegin(): boolean {
    if (this.#now() - this.#lastOtherAt >= OTHERS_MS) return this.#atWork < ALONE_MAX;
    if (this.#atWork >= BESIDE_OTHERS_MAX) return false;
    const [first] = this.#queue;
    if (this.#othersAtWork === 0 || (first && this.#now() - first.sinceMs >= WAIT_MAX_MS)) return true;
    if (this.#othersEnded < OTHERS_PER_WAKE_UP) return false;
    this.#othersEnded = 0;
    return true;
  }
}

export function isWakeUp({ data }: Pick<Job<RunJob>, 'data'>): boolean {
  return data.kind === 'wake' || (data.kind === 'call' && data.sleep !== undefined);
}
