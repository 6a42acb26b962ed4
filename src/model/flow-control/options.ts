/** Flow control of a function: how many runs, which, and when. Durations are milliseconds; keys are CEL over `event`. */

/** Counts executing calls, or whole runs in entries with `fn`. */
export interface ConcurrencyLimit {
  limit: number;
  /** Each value has a separate limit. */
  key?: string;
  /** Scope of the limit: this function, the environment, or all functions of the installation with the same value of the key. */
  scope: 'fn' | 'env' | 'account';
}

export interface Throttle {
  limit: number;
  periodMs: number;
  /** Runs that may start at once in addition to `limit`. */
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
  /** Maximum time from the first event to the run. */
  timeoutMs?: number;
  key?: string;
}

export interface Batch {
  maxSize: number;
  timeoutMs: number;
  key?: string;
  /** Events that do not meet it run alone. */
  if?: string;
}

export interface Singleton {
  key?: string;
  /** Effect of a new run that is due while another is active: `skip` drops the new run, `cancel` cancels the active run. */
  mode: 'skip' | 'cancel';
}

/** The events of a lane run one after another. */
export interface Order {
  /** Functions of an app with the same name share their lanes. */
  name?: string;
  key: string;
  /** CEL: a number, a time or a version. Absent: in order of receipt. */
  by?: string;
  /** How long the first event of a lane waits for those before it. */
  windowMs: number;
  /** Whether an event runs that is older than the last one that began. */
  onStale: 'skip' | 'run';
  /** Effect of a run that fails for good: the lane continues, runs its event again until that succeeds, or waits for a person. */
  onFailure: 'skip' | 'block' | 'park';
}

export interface FlowOptions {
  /** Limits of concurrent runs. */
  runConcurrency: readonly ConcurrencyLimit[];
  /** Limits of concurrent calls. */
  stepConcurrency: readonly ConcurrencyLimit[];
  throttle?: Throttle;
  rateLimit?: RateLimit;
  debounce?: Debounce;
  batch?: Batch;
  singleton?: Singleton;
  order?: Order;
  /** CEL: seconds by which a run is served earlier, -600 to 600. */
  priority?: string;
  /** CEL: one run per value within 24 hours. */
  idempotency?: string;
  timeouts?: { startMs?: number; finishMs?: number };
}

/** The keys of the limits of calls, which are frozen when a run is created. */
export function limitKeysOf({ runConcurrency, stepConcurrency, throttle }: FlowOptions): string[] {
  const limits: { key?: string }[] = [...runConcurrency, ...stepConcurrency, ...(throttle ? [throttle] : [])];
  return limits.flatMap(({ key }) => key ?? []);
}

/** A run of an event in a lane. */
export interface LaneTurn {
  /** Digest of order and key value (store/flow-control/lanes.ts). */
  id: string;
  order: string;
  /** Counted from 0; absent: a re-run outside of the lane. */
  number?: number;
}

/** Values of the limits' keys for this event, frozen when the run is created. */
export interface FrozenKeys {
  /** Values by expression. */
  values: Record<string, string>;
  /** Seconds. */
  priority?: number;
  /** Digest of the singleton's key value; the run holds the singleton while it is active. */
  singleton?: string;
  /** The run's lane, and which run of its event there it is. */
  lane?: LaneTurn;
}
