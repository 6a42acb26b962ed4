/** Ingests the events of several small jobs of one environment together: frequent senders make jobs of few events, whose round trips cost
 *  more than the events do. Each job still ends by itself, and if the coalesced work fails, each job is ingested alone, so that it fails
 *  only because of its own events. */
import { setImmediate, setTimeout } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { Envelope } from '../../model/events/event.ts';
import { Composed } from '../../model/values/composed.ts';
import { JobLoad } from './job-load.ts';

/** A job with more events is ingested by itself, immediately. */
const SMALL_EVENTS = 150;
const SMALL_BYTES = 131_072;
/** Beyond this number, no further job joins. */
const COALESCED_MAX_EVENTS = 350;
/** Maximum number of recently busy environments. */
const ENVIRONMENTS_MAX = 1_000;
/** How long the first job of a coalesced ingestion waits for others fetched with it. */
const COLLECT_MS = 1;
/** Maximum time between two coalesced ingestions of an environment. */
const HOLD_MAX_MS = 12;
const HOLD_STEP_MS = 2;

type Ingest = (events: readonly Envelope[]) => Promise<void>;

interface Waiting {
  events: readonly Envelope[];
  done: PromiseWithResolvers<void>;
}

export class CoalescedIngestion extends Composed<{
  ingest: Ingest;
  /** Returns the maximum number of jobs in progress. */
  concurrency: () => number;
}> {
  readonly #environments = new LRUCache<string, EnvironmentJobs>({ max: ENVIRONMENTS_MAX });

  /** @param events events of one job, all of one environment
   *  @throws the errors of ingesting these events alone */
  async run(events: readonly Envelope[]): Promise<void> {
    const env = events[0]?.env;
    if (env === undefined || !isSmall(events)) return this.deps.ingest(events);
    const jobs =
      this.#environments.get(env) ??
      new EnvironmentJobs({ ingest: this.deps.ingest, concurrency: this.deps.concurrency });
    this.#environments.set(env, jobs);
    await jobs.run(events);
  }
}

/** The small jobs of one environment. */
class EnvironmentJobs extends Composed<{
  ingest: Ingest;
  concurrency: () => number;
}> {
  readonly #load = new JobLoad();
  #waiting: Waiting[] = [];
  #isRunning = false;
  #onFull: () => void = () => {};
  /** How long finished jobs stay active, so that more jobs are waiting when they end: each end fetches the next. */
  #holdMs = 0;

  run(events: readonly Envelope[]): Promise<void> {
    const done = Promise.withResolvers<void>();
    this.#waiting.push({ events, done });
    this.#load.add(performance.now(), events.length);
    if (this.#waiting.length >= this.deps.concurrency()) this.#onFull();
    if (!this.#isRunning) void this.#runAll();
    return done.promise;
  }

  async #runAll(): Promise<void> {
    this.#isRunning = true;
    // Collects the jobs fetched in this turn of the event loop.
    await setImmediate();
    while (this.#waiting.length > 0) {
      const isHigh = this.#load.isHigh(performance.now());
      if (isHigh) await this.#collect();
      const startedAt = performance.now();
      const jobs = this.#take();
      const settle = await this.#ingestJobs(jobs);
      this.#adjust(isHigh, jobs.length);
      const leftMs = this.#holdMs - (performance.now() - startedAt);
      if (leftMs >= 1) await setTimeout(leftMs);
      settle();
      await setImmediate();
    }
    this.#isRunning = false;
  }

  async #collect(): Promise<void> {
    if (this.#waiting.length >= this.deps.concurrency()) return;
    const full = new Promise<void>((resolve) => {
      this.#onFull = resolve;
    });
    await Promise.race([full, setTimeout(COLLECT_MS)]);
    this.#onFull = () => {};
  }

  #take(): Waiting[] {
    let events = 0;
    let end = 0;
    while (end < this.#waiting.length && (end === 0 || events < COALESCED_MAX_EVENTS)) {
      events += (this.#waiting[end] as Waiting).events.length;
      end++;
    }
    return this.#waiting.splice(0, end);
  }

  /** At full concurrency, more jobs may wait in the queue, so jobs are not held back to be joined. */
  #adjust(isHigh: boolean, jobs: number): void {
    if (!isHigh) this.#holdMs = 0;
    else if (jobs >= this.deps.concurrency()) this.#holdMs /= 2;
    else this.#holdMs = Math.min(HOLD_MAX_MS, this.#holdMs + HOLD_STEP_MS);
  }

  /** @returns a function that ends the jobs */
  async #ingestJobs(jobs: readonly Waiting[]): Promise<() => void> {
    try {
      await this.deps.ingest(jobs.flatMap(({ events }) => events));
      return () => {
        for (const { done } of jobs) done.resolve();
      };
    } catch (error) {
      if (jobs.length === 1) return () => jobs[0]?.done.reject(error);
    }
    const ends: (() => void)[] = [];
    for (const job of jobs) ends.push(await this.#ingestJobs([job]));
    return () => {
      for (const end of ends) end();
    };
  }
}

function isSmall(events: readonly Envelope[]): boolean {
  if (events.length > SMALL_EVENTS) return false;
  let bytes = 0;
  for (const { payload } of events) bytes += payload.length;
  return bytes <= SMALL_BYTES;
}
