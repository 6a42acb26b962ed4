/** Flow control of a function: how many of its runs, which, and when. Durations are milliseconds; keys are CEL over `event`. */

/** Counts executing calls, or with `fn` entries whole runs. */
export interface ConcurrencyLimit {
  limit: number;
  /** A separate limit for each value. */
  key?: string;
  /** Which functions share the limit: this one, all of the environment, or all of the installation that have the same value of the key. */
  scope: 'fn' | 'env' | 'account';
}

export interface Throttle {
  limit: number;
  periodMs: number;
  /** Runs that may start at once beside the first `limit`. */
  burst: number;
  key?: string;
}

export interface RateLimit {
  limit: number;
  periodMs: number;
  key?: string;
}

export interface Debounce {
  periodMs: number;
  /** From the first event to the run, at most. */
  timeoutMs?: number;
  key?: string;
}

export interface Batch {
  maxSize: number;
  timeoutMs: number;
  key?: string;
  /** An event that does not meet it runs alone. */
  if?: string;
}

export interface Singleton {
  key?: string;
  /** What a new run does while another is active: it is skipped, or cancels the other. */
  mode: 'skip' | 'cancel';
}

export interface FlowOptions {
  /** Limits of whole runs. */
  runConcurrency: readonly ConcurrencyLimit[];
  /** Limits of executing calls. */
  stepConcurrency: readonly ConcurrencyLimit[];
  throttle?: Throttle;
  rateLimit?: RateLimit;
  debounce?: Debounce;
  batch?: Batch;
  singleton?: Singleton;
  /** CEL: seconds by which a run is served earlier, -600 to 600. */
  priority?: string;
  /** CEL: one run for each value in 24 hours. */
  idempotency?: string;
  timeouts?: { startMs?: number; finishMs?: number };
}

/** The variable parts of limits as the event gives them, frozen when the run is created. */
export interface FrozenKeys {
  /** By the expression. */
  values: Record<string, string>;
  /** Seconds. */
  priority?: number;
  /** Digest of the value of the singleton that the run holds while it is active. */
  singleton?: string;
}
