/** Counts of one process between two writes to Redis: numbers in memory, so that counting costs hot paths almost nothing. */
import { BUCKETS, bucketOf } from '../../model/capacity/histogram.ts';

export const COUNTERS = [
  'events',
  'duplicates',
  'runsStarted',
  'runsCompleted',
  'runsFailed',
  'runsCancelled',
] as const;
export type Counter = (typeof COUNTERS)[number];

/** `ack`: from a request's receipt to its response; `start`: from an event's receipt to the first call of a run's function. */
export const LATENCIES = ['ack', 'start'] as const;
export type Latency = (typeof LATENCIES)[number];

export const RUN_COUNTERS = ['started', 'completed', 'failed', 'cancelled'] as const;
export type RunCounter = (typeof RUN_COUNTERS)[number];

export type Counts = Record<Counter, number>;
/** Counts by bucket (model/capacity/histogram.ts). */
export type Histograms = Record<Latency, number[]>;
export type RunCounts = Record<RunCounter, number>;

/** Counts of one environment. */
export interface BufferedCounts {
  counts: Counts;
  histograms: Histograms;
  /** Keyed by function ID. */
  functions: Map<string, RunCounts>;
}

export const JOB_OUTCOMES = ['completed', 'failed'] as const;
export type JobOutcome = (typeof JOB_OUTCOMES)[number];
export type JobCounts = Record<JobOutcome, number>;

const COUNTER_OF = {
  started: 'runsStarted',
  completed: 'runsCompleted',
  failed: 'runsFailed',
  cancelled: 'runsCancelled',
} as const satisfies Record<RunCounter, Counter>;

export class CounterBuffer {
  readonly #environments = new Map<string, BufferedCounts>();
  readonly #queues = new Map<string, JobCounts>();

  get environments(): ReadonlyMap<string, BufferedCounts> {
    return this.#environments;
  }

  /** Attempts of jobs that ended. */
  get queues(): ReadonlyMap<string, JobCounts> {
    return this.#queues;
  }

  countJob(queue: string, outcome: JobOutcome, by = 1): void {
    const counts = this.#queues.get(queue) ?? { completed: 0, failed: 0 };
    counts[outcome] += by;
    this.#queues.set(queue, counts);
  }

  count(env: string, counter: Counter, by = 1): void {
    this.#of(env).counts[counter] += by;
  }

  countRun(env: string, functionId: string, counter: RunCounter, by = 1): void {
    const { counts, functions } = this.#of(env);
    counts[COUNTER_OF[counter]] += by;
    const ofFunction = functions.get(functionId) ?? emptyRunCounts();
    ofFunction[counter] += by;
    functions.set(functionId, ofFunction);
  }

  time(env: string, latency: Latency, ms: number): void {
    const histogram = this.#of(env).histograms[latency];
    const bucket = bucketOf(ms);
    histogram[bucket] = (histogram[bucket] as number) + 1;
  }

  add(other: CounterBuffer): void {
    for (const [env, { counts, histograms, functions }] of other.environments) {
      const mine = this.#of(env);
      for (const counter of COUNTERS) mine.counts[counter] += counts[counter];
      for (const latency of LATENCIES) {
        const sum = mine.histograms[latency].map((count, bucket) => count + (histograms[latency][bucket] as number));
        mine.histograms[latency] = sum;
      }
      for (const [id, counts] of functions) {
        const ofFunction = mine.functions.get(id) ?? emptyRunCounts();
        for (const counter of RUN_COUNTERS) ofFunction[counter] += counts[counter];
        mine.functions.set(id, ofFunction);
      }
    }
    for (const [queue, counts] of other.queues) {
      for (const outcome of JOB_OUTCOMES) this.countJob(queue, outcome, counts[outcome]);
    }
  }

  #of(env: string): BufferedCounts {
    const there = this.#environments.get(env);
    if (there) return there;
    const counts = empty();
    this.#environments.set(env, counts);
    return counts;
  }
}

export function emptyCounts(): Counts {
  return { events: 0, duplicates: 0, runsStarted: 0, runsCompleted: 0, runsFailed: 0, runsCancelled: 0 };
}

export function emptyHistograms(): Histograms {
  return { ack: new Array(BUCKETS).fill(0), start: new Array(BUCKETS).fill(0) };
}

export function emptyRunCounts(): RunCounts {
  return { started: 0, completed: 0, failed: 0, cancelled: 0 };
}

function empty(): BufferedCounts {
  return { counts: emptyCounts(), histograms: emptyHistograms(), functions: new Map() };
}
