/** Bulk cancellations: cancel the active runs of a function that were queued in a time range and whose event meets an expression. */

export interface Cancellation {
  id: string;
  env: string;
  app: string;
  functionId: string;
  /** Queued at this time or later, Unix milliseconds; undefined: however early. */
  after?: number;
  /** Queued before this time. In the future: runs that are queued until then are cancelled too. */
  before: number;
  /** CEL over `event`. */
  expression?: string;
  /** Only runs that have had no call, because their function was paused. */
  queuedOnly?: true;
  createdAt: number;
  cancelledRuns: number;
  /** The current pass over the runs: when it began, and where it goes on; undefined: the next turn begins one. */
  pass?: { startedAt: number; position: { at: number; id: string } };
  /** undefined: it is still looking for runs. */
  doneAt?: number;
}

/** A run is stored a moment after the time at which it is queued. */
const SETTLED_MS = 10_000;

/** Whether a pass that ended now has seen every run of the range. */
export function coversAll({ before }: Cancellation, passStartedAt: number): boolean {
  return passStartedAt >= before + SETTLED_MS;
}

/** Whether both cancel the same runs. */
export function isSame(one: Cancellation, other: Cancellation): boolean {
  return (
    one.functionId === other.functionId &&
    one.after === other.after &&
    one.before === other.before &&
    one.expression === other.expression &&
    one.queuedOnly === other.queuedOnly
  );
}
