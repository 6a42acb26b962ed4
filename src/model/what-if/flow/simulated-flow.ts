/** Input and result of a simulation of flow control. Times are milliseconds. */

/** An event that starts the function, with the values of the keys of its limits. */
export interface SimulatedEvent {
  /** Receipt, Unix milliseconds. */
  at: number;
  /** The event's own time: the latest event wins a debounce. */
  ts: number;
  /** undefined: the limit does not apply to it. */
  rateLimit?: string | undefined;
  idempotency?: string | undefined;
  singleton?: string | undefined;
  debounce: string;
  /** undefined: it runs alone. */
  batch: string | undefined;
  throttle: string;
  /** Key values for the limits of whole runs (`run`) and of calls (`step`), in the order of the limits. */
  run: readonly string[];
  step: readonly string[];
  prioritySeconds: number;
}

/** A call of a run: the pause after the call before it, and its duration. */
export interface SimulatedCall {
  afterMs: number;
  ms: number;
}

export interface SimulatedFlow {
  /** Events that start the function. */
  events: number;
  /** Runs that these events start. */
  runs: number;
  /** Events without a run. */
  skipped: { rate_limited: number; idempotent: number; singleton: number };
  /** Events that have the run of another one: of a batch or a debounce. */
  merged: number;
  /** Runs that another one of the same singleton replaces. */
  cancelled: number;
  /** The most runs that wait for their start at a time. */
  waitingMax: number;
  waitP99Ms: number;
  waitMaxMs: number;
  /** Whether the simulation ran to its end. */
  complete: boolean;
}
