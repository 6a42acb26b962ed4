/** Bulk actions: cancel, re-run, retry now, resume or move to another version all runs that a filter selects or that a
 *  request names (docs/functions.md). */
import type { BulkOperation } from '../bulk/bulk-operation.ts';
import type { Excludable } from './excluded-functions.ts';
import type { RunStateKind } from './run-state.ts';
import type { RunStatus } from './run-status.ts';

export const BULK_ACTIONS = ['cancel', 'retry', 'retry_now', 'resume', 'move'] as const;
export type BulkActionKind = (typeof BULK_ACTIONS)[number];

/** Run statuses that each action accepts. */
export const STATUSES_OF_ACTION = {
  cancel: ['Queued', 'Running'],
  retry: ['Completed', 'Failed', 'Cancelled'],
  retry_now: ['Queued', 'Running'],
  move: ['Queued', 'Running'],
  resume: ['Queued', 'Running'],
} as const satisfies Record<BulkActionKind, readonly RunStatus[]>;

/** The statuses used if the filter has none. */
export const DEFAULT_STATUSES = {
  ...STATUSES_OF_ACTION,
  retry: ['Failed', 'Cancelled'],
} as const satisfies Record<BulkActionKind, readonly RunStatus[]>;

/** The step that a re-run begins with. */
export const RERUN_FROM = ['start', 'failed_step'] as const;
export type RerunFrom = (typeof RERUN_FROM)[number];

/** Maximum number of runs that one request may name. */
export const RUN_IDS_MAX = 1_000;
export const BULK_STATUSES = ['running', 'paused', 'cancelled', 'done'] as const;

/** Why a selected run was skipped. */
export const BULK_SKIP_REASONS = [
  'already_rerun',
  'run_active',
  'run_ended',
  'run_gone',
  'run_not_waiting',
  'run_not_paused',
  'no_failed_step',
  'function_archived',
  'event_gone',
  'version_unknown',
] as const;
export type BulkSkipReason = (typeof BULK_SKIP_REASONS)[number];

export const BULK_WAITING_REASONS = ['backlog', 'memory', 'archive_unavailable', 'environment_archived'] as const;
export type BulkWaitingReason = (typeof BULK_WAITING_REASONS)[number];

/** Selects runs; times are Unix milliseconds. */
export interface RunSelection {
  env: string;
  statuses: readonly RunStatus[];
  /** States that a run must have when the action reaches it; undefined: any. */
  states?: readonly RunStateKind[];
  /** An exact ID, or a prefix followed by `*`. */
  functionId?: string;
  app?: string;
  /** Functions that are left out. */
  exclude?: readonly Excludable[];
  eventId?: string;
  idPrefix?: string;
  /** Text that the error must contain. */
  error?: string;
  /** Fingerprint of a failed run's error (model/errors/fingerprint.ts). */
  fingerprint?: string;
  /** The version of its app on which a run ends. */
  appVersion?: string;
  /** A condition of a search of runs (model/search/). */
  search?: string;
  /** Creation time, inclusive. */
  after?: number;
  /** Exclusive; no later than the request. */
  before: number;
  /** IDs of the runs, instead of a filter; once the action has ended, only their number is kept. */
  runIds?: readonly string[];
  runCount?: number;
  startedBy?: string;
}

/** The runs being processed. After a worker's death they are processed again, with the same IDs. */
export interface BulkPortion {
  runs: readonly { id: string; rerunId?: string; fromStepId?: string; skip?: BulkSkipReason }[];
  /** Position that the selection continues at; absent at its end. */
  next?: BulkPosition;
}

/** Position in the selection, from newest to oldest: after the run with this time and ID. If runs are named, or selected by the action
 *  that started them, `at` is the number of runs processed. */
export interface BulkPosition {
  at: number;
  id: string;
}

export interface BulkResult {
  runId: string;
  rerunId?: string;
  skip?: BulkSkipReason;
}

export interface BulkActionDefinition {
  id: string;
  action: BulkActionKind;
  selection: RunSelection;
  /** For re-runs; absent: from the start. */
  from?: RerunFrom;
  /** For re-runs: also of runs that have been re-run already. */
  includeAlreadyRerun?: true;
  /** For moves: the version on which the runs end; absent: they continue with the active one. */
  version?: string;
  /** Re-runs, retries or resumed runs per second. */
  rate: number;
  /** Number of selected runs, counted before the start; if not exact, a lower bound.
   *  `notListed`: runs that `startedBy` has started besides, and whose IDs are not kept. */
  matched: { count: number; isExact: boolean; notListed?: number };
  createdAt: number;
}

/** The count `done` is the number of runs cancelled, re-run, retried, resumed or moved. */
export type BulkAction = BulkOperation<BulkActionDefinition, BulkPosition | null>;

/** Prefix of the counts of skipped runs, followed by the reason. */
export const SKIPPED = 'skipped:';

/** The definition that is kept after the end: a thousand IDs take 30 KB. */
export function withoutRunIds({ selection, ...rest }: BulkActionDefinition): BulkActionDefinition {
  const { runIds: _, ...kept } = selection;
  return { ...rest, selection: kept };
}
