/** Replays: functions run again on past events (docs/replays.md). */
import type { BulkOperation } from '../bulk/bulk-operation.ts';
import { derivedId } from '../ids.ts';
import type { Run } from '../runs/run.ts';

/** How the latest run of a function on an event ended; `none`: there was no run. */
export const FORMER_STATUSES = ['Completed', 'Failed', 'Cancelled', 'none'] as const;
export type FormerStatus = (typeof FORMER_STATUSES)[number];

/** Why an event starts no run of a function, although its former run has a wanted status. */
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

/** Why a replay starts no runs for now. */
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
  /** A source, or a kind of sources: `webhook`. */
  source?: string | undefined;
  /** As in a search of events (model/search/). */
  search?: string | undefined;
  /** How internal IDs begin. */
  idPrefix?: string | undefined;
  /** Internal IDs: these events alone, if they meet the rest. */
  ids?: readonly string[] | undefined;
}

/** Events that one replay may name: each part of it reads them all. */
export const EVENT_IDS_MAX = 100;

/** What a replay is asked to do. Times are Unix milliseconds. */
export interface ReplaySelection {
  env: string;
  filter: EventFilter;
  /** By time of receipt, inclusive. */
  after: number;
  /** Exclusive. */
  before: number;
  /** undefined: all that the event matches now. */
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

/** Where a replay is: everything before is done. Events come in the order of receipt, then of their IDs; of each event, its functions by ID. */
export interface ReplayPosition {
  /** Time of receipt, Unix milliseconds. */
  at: number;
  /** The last event of this time that was looked at; undefined: none. */
  id?: string | undefined;
  /** Of that event, the last function that is done; undefined: all are. */
  functionId?: string | undefined;
}

export type Replay = BulkOperation<ReplayDefinition, ReplayPosition>;

/** What happened for an event and a function. */
export interface ReplayResult {
  eventId: string;
  functionId: string;
  outcome: 'started' | 'skipped' | 'failed';
  reason?: SkipReason | FailureReason;
  /** Of `started`: the run; of others, the run because of which. */
  runId?: string;
  /** The former run. */
  retryOf?: string;
}

/** Deterministic: a replay starts one run of a function on an event, however often it is repeated.
 *  @param eventId of the run of a batch, its first event */
export function replayRunIdOf(replayId: string, eventId: string, functionId: string): string {
  return derivedId(eventId, 'replay', replayId, functionId);
}

export function formerStatusOf({ status }: Pick<Run, 'status'>): Exclude<FormerStatus, 'none'> | undefined {
  return status === 'Completed' || status === 'Failed' || status === 'Cancelled' ? status : undefined;
}

/** How the names of counts begin: of events that started no run and of runs that could not be started, by reason. */
export const SKIPPED = 'skipped:';
export const FAILED_TO_START = 'failed-to-start:';
