/** Replays: functions run again on past events (docs/replays.md). */

import type { BulkOperation } from '../bulk/bulk-operation.ts';
import type { PartitionedIds } from '../partitions/partitioned-ids.ts';
import type { Run } from '../runs/run.ts';

/** How the latest run of a function on an event ended; `none`: there was no run. */
export const FORMER_STATUSES = ['Completed', 'Failed', 'Cancelled', 'none'] as const;
export type FormerStatus = (typeof FORMER_STATUSES)[number];

/** Why an event starts no run of a function although its former run has a selected status. */
export const SKIP_REASONS = [
  'function_archived',
  'function_paused',
  'not_matching',
  'not_evaluated',
  'run_active',
  'already_replayed',
] as const;
export type SkipReason = (typeof SKIP_REASONS)[number];

/** Why a run could not be started. */
export const FAILURE_REASONS = ['event_gone', 'internal'] as const;
export type FailureReason = (typeof FAILURE_REASONS)[number];

/** Why a replay is waiting. */
export const WAITING_REASONS = [
  'backlog',
  'memory',
  'active_runs',
  'archive_unavailable',
  'environment_archived',
] as const;
export type WaitingReason = (typeof WAITING_REASONS)[number];

export const RATE_DEFAULT = 50;
export const RATE_MAX = 1_000;

export interface EventFilter {
  /** `*` stands for any text. */
  name?: string | undefined;
  /** A source, or a kind of source: `webhook`. */
  source?: string | undefined;
  /** A condition of a search of events (model/search/). */
  search?: string | undefined;
  /** Prefix of internal IDs. */
  idPrefix?: string | undefined;
  /** Internal IDs: only these events, if they also meet the other conditions. */
  ids?: readonly string[] | undefined;
}

/** Maximum number of events that one replay may name: each portion reads all of them. */
export const EVENT_IDS_MAX = 100;

/** The parameters of a replay. Times are Unix milliseconds. */
export interface ReplaySelection {
  env: string;
  filter: EventFilter;
  /** Time of receipt, Unix milliseconds, inclusive. */
  after: number;
  /** Exclusive. */
  before: number;
  /** undefined: all functions that the event triggers now. */
  functionIds?: readonly string[] | undefined;
  statuses: readonly FormerStatus[];
}

export interface ReplayDefinition extends ReplaySelection {
  id: string;
  name?: string | undefined;
  /** Runs per second. */
  rate: number;
  createdAt: number;
}

/** Progress of a replay: everything before is done. Events are ordered by time of receipt, then by ID; functions of an event by ID. */
export interface ReplayPosition {
  /** Time of receipt, Unix milliseconds. */
  at: number;
  /** ID of the last event at this time that was processed; undefined if none was. */
  id?: string | undefined;
  /** The last function of that event that is done; undefined if all are. */
  functionId?: string | undefined;
}

export type Replay = BulkOperation<ReplayDefinition, ReplayPosition>;

/** The result for one event and function. */
export interface ReplayResult {
  eventId: string;
  functionId: string;
  outcome: 'started' | 'skipped' | 'failed';
  reason?: SkipReason | FailureReason;
  /** For `started`, the new run; otherwise the run that prevented one. */
  runId?: string;
  /** The former run. */
  retryOf?: string;
}

/** Deterministic: a replay starts one run of a function per event, however often it is repeated.
 *  @param eventId for a batch, the ID of its first event */
export function replayRunIdOf(ids: PartitionedIds, replayId: string, eventId: string, functionId: string): string {
  return ids.derived(eventId, 'replay', replayId, functionId);
}

export function formerStatusOf({ status }: Pick<Run, 'status'>): Exclude<FormerStatus, 'none'> | undefined {
  return status === 'Completed' || status === 'Failed' || status === 'Cancelled' ? status : undefined;
}

/** Prefixes of count names, followed by a reason: events that started no run, and runs that could not be started. */
export const SKIPPED = 'skipped:';
export const FAILED_TO_START = 'failed-to-start:';
