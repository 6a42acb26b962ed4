/** What is stored of a webhook's reconciliation. */

export interface CheckedSpan {
  /** Unix milliseconds: all that the provider sent from `from` to `to` is compared. */
  from: number;
  to: number;
}

/** One reading of the provider's list, page by page; it outlives the process that reads it. */
export interface ReconciliationPass extends CheckedSpan {
  because: 'asked' | 'hour' | 'outage';
  /** The ID of the request that asked for the pass. */
  asked?: string | undefined;
  /** Whether the provider is asked to send missing requests again, instead of fetching them. */
  redeliver?: boolean | undefined;
  /** `list`: reads the pages; `recover`: recovers what is missing. */
  phase: 'list' | 'recover';
  startedAt: number;
  /** The next page begins here; absent: the first page. */
  cursor?: string | undefined;
  /** Types of the items that the endpoint gets; null: all; absent: not read yet. */
  types?: string[] | null | undefined;
  pages: number;
  items: number;
  /** Items that were received or recovered before, and items that had not been received when they were listed. */
  matched: number;
  missing: number;
  /** Items that cannot be the provider's. */
  invalid: number;
  /** The time at which the oldest item so far was sent, and the number of pages since then without an older item. */
  oldestAt?: number | undefined;
  stuckPages: number;
  /** An earlier cursor. If the list returns it again, its pages form a loop. */
  mark?: string | undefined;
  /** Recovery continues after this item. */
  recoveredTo?: { at: number; id: string } | undefined;
  /** Why the list was not read to its end. */
  incomplete?: ReconciliationProblem | undefined;
}

export interface ReconciliationProblem {
  /** Unix milliseconds. */
  at: number;
  reason: string;
  message: string;
}

export interface ReconciliationState {
  dueAt: number;
  /** The list that is compared: `since` of the webhook's access to it. Absent: no comparison has begun. */
  since?: number | undefined;
  /** Time and nonce of the last request to reconcile. */
  asked?: { id: string; since?: number | undefined; redeliver?: boolean | undefined } | undefined;
  /** The request that the last pass answered. */
  answered?: string | undefined;
  pass?: ReconciliationPass | undefined;
  checked?: CheckedSpan | undefined;
  /** End of the last complete pass. */
  passedAt?: number | undefined;
  problem?: ReconciliationProblem | undefined;
  /** Number of passes that failed since the last successful one. */
  failures?: number | undefined;
  /** The last span in which no process ran. */
  outage?: CheckedSpan | undefined;
}

/** A missing request. Redis keeps its details while it is missing. */
export interface MissingRequest {
  id: string;
  ref: string;
  at: number;
  /** The ID of the event that the request becomes: a repetition after a crash uses the same ID. */
  eventId?: string | undefined;
  /** How often the request could not be fetched. */
  tries?: number | undefined;
  reason?: string | undefined;
  message?: string | undefined;
  /** The version of the webhook that could not process the request. */
  version?: number | string | undefined;
}

export interface SentCounts {
  sent: number;
  received: number;
  recovered: number;
  missing: number;
}
