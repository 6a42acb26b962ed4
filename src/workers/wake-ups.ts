/** A burst of wake-ups shares a process with other work: of the jobs at work, they are a fifth. An event on its way to its call needs some ten round trips
 *  to Redis, and each waits for what the wake-ups at work do meanwhile. A call that ends a sleep is at work until its run has continued, unless it waits:
 *  for capacity, or for an app that takes long. */
import type { Job } from 'bullmq';
import type { FunctionClient } from '../functions/function-client.ts';
import type { RunJob } from '../jobs/queues/queues.ts';
import type { Handler } from './job-middleware.ts';

/** Other jobs at work for each wake-up at work; one always is. */
export const OTHERS_PER_WAKE_UP = 4;
/** Wake-ups at work between other jobs: enough to keep a process, its Redis and an app busy… */
export const FEW = 4;
/** …and without others, when commands that are sent together save a third of the CPU time. */
export const MANY = 32;
/** How long ago another job was at work, if others come. */
const OTHERS_MS = 250;
/** An app that takes longer waits itself, and more calls at a time make it no slower… */
const LONG_MS = 50;
/** …unless this process is late, too, because the machine is busy. */
const LATE_MS = 5;

export class WakeUps {
  readonly #waitMax: number;
  readonly #next: (() => void)[] = [];
  #atWork = 0;
  #waiting = 0;
  #othersAtWork = 0;
  readonly #now: () => number;
  #lastOtherAt = Number.NEGATIVE_INFINITY;

  /** @param concurrency of the worker, most of which wake-ups leave to other jobs
   *  @param now in milliseconds */
  constructor(concurrency: number, now = () => performance.now()) {
    this.#now = now;
    this.#waitMax = Math.floor(concurrency / 3);
  }

  /** Limits the wake-ups at a time. A wake-up that is not its turn keeps its job: wake-ups are taken only when no call waits. */
  limit(handler: Handler<RunJob>): Handler<RunJob> {
    return async (job) => {
      // While a request of a step is answered, its job is not at work.
      if (job.data.kind === 'request') return handler(job);
      if (!isWakeUp(job)) return this.#beside(() => handler(job));
      if (this.#atWork < this.#max) this.#atWork += 1;
      else await new Promise<void>((resolve) => this.#next.push(resolve));
      try {
        await handler(job);
      } finally {
        this.#end();
      }
    };
  }

  /** For jobs of another queue. */
  yieldTo<Data>(handler: Handler<Data>): Handler<Data> {
    return (job) => this.#beside(() => handler(job));
  }

  async #beside(work: () => Promise<void>): Promise<void> {
    this.#beginOther();
    try {
      await work();
    } finally {
      this.#endOther();
    }
  }

  #beginOther(): void {
    this.#othersAtWork += 1;
    this.#lastOtherAt = this.#now();
  }

  #endOther(): void {
    this.#othersAtWork -= 1;
    this.#startNext();
  }

  /** For calls that end no sleep: while an app answers, they are not at work. */
  otherCallsOf(client: Pick<FunctionClient, 'call'>): Pick<FunctionClient, 'call'> {
    return {
      call: async (...args) => {
        this.#endOther();
        try {
          return await client.call(...args);
        } finally {
          this.#beginOther();
        }
      },
    };
  }

  /** Lets others work while a wake-up waits for longer than this. It then goes on at once: what an app has answered is stored first. */
  async wait<T>(awaited: Promise<T>, afterMs = 0): Promise<T> {
    let isWaiting = false;
    let timer: NodeJS.Timeout | undefined;
    const letOthersAfter = (ms: number) => {
      const dueAt = this.#now() + ms;
      timer = setTimeout(() => {
        isWaiting = this.#waiting < this.#waitMax && this.#now() < dueAt + LATE_MS;
        if (!isWaiting) return letOthersAfter(LONG_MS);
        this.#waiting += 1;
        this.#end();
      }, ms);
    };
    letOthersAfter(afterMs);
    try {
      return await awaited;
    } finally {
      clearTimeout(timer);
      if (isWaiting) {
        this.#waiting -= 1;
        this.#atWork += 1;
      }
    }
  }

  /** For calls that end a sleep. */
  callsOf(client: Pick<FunctionClient, 'call'>): Pick<FunctionClient, 'call'> {
    return { call: (...args) => this.wait(client.call(...args), LONG_MS) };
  }

  get #max(): number {
    if (this.#othersAtWork > 0) return Math.min(MANY, Math.ceil(this.#othersAtWork / OTHERS_PER_WAKE_UP));
    return this.#now() - this.#lastOtherAt < OTHERS_MS ? FEW : MANY;
  }

  #end(): void {
    this.#atWork -= 1;
    this.#startNext();
  }

  #startNext(): void {
    if (this.#next.length === 0) return;
    const max = this.#max;
    while (this.#next.length > 0 && this.#atWork < max) {
      this.#atWork += 1;
      this.#next.shift()?.();
    }
  }
}

export function isWakeUp({ data }: Pick<Job<RunJob>, 'data'>): boolean {
  return data.kind === 'wake' || (data.kind === 'call' && data.sleep !== undefined);
}
