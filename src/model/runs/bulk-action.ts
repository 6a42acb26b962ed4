/** Bulk actions: cancel, re-run or retry now the runs that a filter selects, or that are named (docs/functions.md). */
import type { BulkOperation } from '../bulk/bulk-operation.ts';
import type { RunStateKind } from './run-state.ts';
import type { RunStatus } from './run-status.ts';

export const BULK_ACTIONS = ['cancel', 'retry', 'retry_now'] as const;
export type BulkActionKind = (typeof BULK_ACTIONS)[number];

/** The runs that an action can be for. */
export const STATUSES_OF_ACTION = {
  cancel: ['Queued', 'Running'],
  retry: ['Completed', 'Failed', 'Cancelled'],
  retry_now: ['Queued', 'Running'],
} as const satisfies Record<BulkActionKind, readonly RunStatus[]>;

/** Without a status in the filter. */
export const DEFAULT_STATUSES = {
  cancel: ['Queued', 'Running'],
  retry: ['Failed', 'Cancelled'],
  retry_now: ['Queued', 'Running'],
} as const satisfies Record<BulkActionKind, readonly RunStatus[]>;

/** Where re-runs begin. */
export const RERUN_FROM = ['start', 'failed_step'] as const;
export type RerunFrom = (typeof RERUN_FROM)[number];

/** Runs that one request may name. */
export const RUN_IDS_MAX = 1_000;
export const BULK_STATUSES = ['running', 'paused', 'cancelled', 'done'] as const;

/** Why nothing was done with a run that the filter selected. */
export const BULK_SKIP_REASONS = [
  'run_active',
  'run_ended',
  'run_gone',
  'run_not_waiting',
  'no_failed_step',
  'function_archived',
  'event_gone',
] as const;
export type BulkSkipReason = (typeof BULK_SKIP_REASONS)[number];

/** Why a bulk action does not go on for now. */
export const BULK_WAITING_REASONS = ['backlog', 'memory', 'archive_unavailable', 'environment_archived'] as const;
export type BulkWaitingReason = (typeof BULK_WAITING_REASONS)[number];

/** Which runs; times are Unix milliseconds. */
export interface RunSelection {
  env: string;
  statuses: readonly RunStatus[];
  /** Only these, when the action comes to them; undefined: any. */
  states?: readonly RunStateKind[];
  /** An ID, or with `*` the beginning of several. */
  functionId?: string;
  app?: string;
  eventId?: string;
  idPrefix?: string;
  /** A text in the error. */
  error?: string;
  /** Of the error of a failed run (model/errors/fingerprint.ts). */
  fingerprint?: string;
  /** As in a search of runs (model/search/). */
  search?: string;
  /** By creation, inclusive. */
  after?: number;
  /** Exclusive; no later than the request. */
  before: number;
  /** These runs alone, by ID; an action that is over keeps only their number. */
  runIds?: readonly string[];
  runCount?: number;
  /** The runs that this bulk action started. */
  startedBy?: string;
}

/** The runs that are being acted on: what a worker that died in between left is done again, with the same IDs. */
export interface BulkPortion {
  runs: readonly { id: string; rerunId?: string; fromStepId?: string; skip?: BulkSkipReason }[];
  /** Where the selection goes on; absent: nothing follows. */
  next?: BulkPosition;
}

/** Where the selection goes on, from the newest to the oldest: after the run of this time and ID. Where runs are named, or were started by an action,
 *  `at` is how many were looked at. */
export interface BulkPosition {
  at: number;
  id: string;
}

/** What happened with one run. */
export interface BulkResult {
  runId: string;
  rerunId?: string;
  skip?: BulkSkipReason;
}

export interface BulkActionDefinition {
  id: string;
  action: BulkActionKind;
  selection: RunSelection;
  /** Of re-runs; absent: from the start. */
  from?: RerunFrom;
  /** Re-runs per second. */
  rate: number;
  /** Counted before it began; not exact: at least. */
  matched: { count: number; isExact: boolean };
  createdAt: number;
}

/** Its count `done` is the number of runs that were cancelled, re-run or retried. */
export type BulkAction = BulkOperation<BulkActionDefinition, BulkPosition | null>;

/** How the names of the counts of skipped runs begin, by reason. */
export const SKIPPED = 'skipped:';

/** What is kept of one that is over: a thousand IDs take 30 KB. */
export function withoutRunIds({ selection, ...rest }: BulkActionDefinition): BulkActionDefinition {
  const { runIds: _, ...kept } = selection;
  return { ...rest, selection: kept };
}
