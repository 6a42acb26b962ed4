/** Runs: one function processing one event. */

import type { Pin } from '../apps/versions.ts';
import type { FrozenKeys } from '../flow-control/options.ts';
import type { PartitionedIds } from '../partitions/partitioned-ids.ts';
import type { CancelReason } from './cancel-reason.ts';
import type { EndpointResponse, RunResult } from './endpoint-response.ts';
import type { Pause } from './pause.ts';
import type { RunError } from './run-error.ts';
import { RUN_STATUSES, type RunStatus } from './run-status.ts';
import type { FromStep } from './step-input.ts';

export type { RunError } from './run-error.ts';
export { RUN_STATUSES, type RunStatus };

export const ENDINGS = ['Completed', 'Failed', 'Cancelled'] as const;

export function isEnding(status: RunStatus): status is (typeof ENDINGS)[number] {
  return groupOf(status) !== 'active';
}

/** Active runs, or runs that ended with a status. A run changes its group once. */
export const RUN_GROUPS = ['active', ...ENDINGS] as const;
export type RunGroup = (typeof RUN_GROUPS)[number];

export function groupOf(status: RunStatus): RunGroup {
  return status === 'Queued' || status === 'Running' ? 'active' : status;
}

/** A step of another run that waits for the end of this one (`InvokeFunction`, docs/protocol.md#invokefunction). */
export interface Invoker {
  runId: string;
  stepId: string;
}

/** A stored run. Times are Unix milliseconds. */
export interface Run {
  id: string;
  env: string;
  functionId: string;
  eventId: string;
  requestId: string;
  /** For a batch, the IDs of all its events, beginning with `eventId`. */
  batch?: string[];
  invoker?: Invoker;
  /** The run that this one re-runs. */
  retryOf?: string;
  /** The replay that started it. */
  replayId?: string;
  /** The bulk action that started it. */
  bulkActionId?: string;
  /** The step that this re-run begins with: earlier finished steps are taken from the previous run. */
  fromStep?: FromStep;
  /** For a re-run from a step: the runs that its steps come from, latest first, at most EARLIER_RUNS_MAX. */
  earlierRuns?: string[];
  /** The version of its app on which it ends; undefined: it continues with the active one. */
  pin?: Pin;
  /** Parent of its spans (tracing/carrier.ts). */
  trace?: string;
  /** Values from the event that the function's limits need. */
  keys?: FrozenKeys;
  /** Number of functions deferred until its end. */
  defers?: number;
  status: RunStatus;
  /** Attempts before the current one. */
  attempt: number;
  queuedAt: number;
  /** Set if it may start only later than it is queued; runs of earlier versions lack it. */
  dueAt?: number;
  startedAt?: number;
  endedAt?: number;
  /** JSON text of the return value; for a failed run, the app's response if it differs from `error`. */
  output?: string;
  /** The response of an endpoint; the output is its body. */
  response?: EndpointResponse;
  /** The last attempt's error, until a later attempt succeeds. */
  error?: RunError;
  /** Set while the run is paused; `error` says why. */
  pause?: Pause;
  /** Undefined if the run was not cancelled, or an earlier version cancelled it. */
  cancelReason?: CancelReason;
  /** Fingerprint of the error of a failed or paused run; undefined if an earlier version ended it. */
  fingerprint?: string;
  /** Set until a failed or paused run is counted in its error group: the name of the failed step, or empty. */
  uncounted?: string;
}

export type Ending =
  | ({ status: 'Completed' } & RunResult)
  | { status: 'Failed'; error: RunError; output?: string; fingerprint?: string; uncounted?: string }
  | { status: 'Cancelled'; reason: CancelReason };

/** Other objects that a step is linked to. Only IDs, never payloads: a page shows a thousand of them. */
export interface StepLinks {
  /** The run that it started, or that its signal resumed. */
  runId?: string;
  /** The event that ended its wait. */
  eventId?: string;
  /** The first events that it sent, at most MAX_SENT_IDS, and their total number. */
  sent?: { ids: string[]; count: number };
  /** The request that the service made for it, with the response's status. */
  request?: { method: string; origin: string; status?: number };
}

/** Maximum number of sent event IDs in a history entry. */
export const MAX_SENT_IDS = 20;

/** An entry of a run's history: an attempt of a call, or a finished step. Times are Unix milliseconds. */
export interface HistoryEntry extends StepLinks {
  kind: 'attempt' | 'step';
  /** Hashed ID of the step that the attempt ran, or of the finished step. */
  stepId?: string;
  name?: string;
  op?: string;
  /** Number of earlier attempts. */
  attempt?: number;
  /** `Cancelled`: the step was pending when its run ended. */
  status: 'Completed' | 'Failed' | 'Cancelled';
  queuedAt?: number;
  startedAt: number;
  endedAt: number;
  error?: RunError;
  /** Name of the awaited event or signal, if it differs from the step's name. */
  waitsFor?: string;
  /** The `if` of a wait for an event, possibly truncated. */
  expression?: string;
  /** ID of the invoked function. */
  invokes?: string;
  /** For a step pending at the end of its run: its latest possible end. */
  until?: number;
  /** The wait for an event reached its timeout. */
  timedOut?: true;
  /** As in Pending (memo.ts). */
  group?: number;
}

export function hasEnded({ status }: Pick<Run, 'status'>): boolean {
  return status === 'Completed' || status === 'Failed' || status === 'Cancelled';
}

/** Maximum number of earlier runs that calls name, for re-runs of re-runs. */
const EARLIER_RUNS_MAX = 10;

/** The `earlierRuns` of a re-run of this run from a step. */
export function earlierRunsOf({ id, earlierRuns = [] }: Pick<Run, 'id' | 'earlierRuns'>): string[] {
  return [id, ...earlierRuns].slice(0, EARLIER_RUNS_MAX);
}

/** Deterministic: ingesting an event again yields the same run ID. */
export function runIdOf(ids: PartitionedIds, eventId: string, functionId: string): string {
  return ids.derived(eventId, 'run', functionId);
}

export function invokedRunId(ids: PartitionedIds, runId: string, stepId: string): string {
  return ids.derived(runId, 'invoke', stepId);
}

/** ID of a batch's run. Per function, an event is the first of at most one batch. */
export function batchRunIdOf(ids: PartitionedIds, firstEventId: string, functionId: string): string {
  return ids.derived(firstEventId, 'batch', functionId);
}
