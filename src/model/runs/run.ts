/** Runs: one function processing one event. */
import type { FrozenKeys } from '../flow-control/options.ts';
import { derivedId } from '../ids.ts';
import type { CancelReason } from './cancel-reason.ts';
import type { EndpointResponse, RunResult } from './endpoint-response.ts';
import type { RunError } from './run-error.ts';
import { RUN_STATUSES, type RunStatus } from './run-status.ts';
import type { FromStep } from './step-input.ts';

export type { RunError } from './run-error.ts';
export { RUN_STATUSES, type RunStatus };

/** Active runs, or runs that ended with this status. A run changes its group once. */
export const RUN_GROUPS = ['active', 'Completed', 'Failed', 'Cancelled'] as const;
export type RunGroup = (typeof RUN_GROUPS)[number];

/** The group of runs with that status. */
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
  /** IDs of all its events, of a run of a batch: `eventId` is the first. */
  batch?: string[];
  invoker?: Invoker;
  /** The run that this one re-runs. */
  retryOf?: string;
  /** The replay that started it. */
  replayId?: string;
  /** Where this re-run begins: it has the finished steps of that run before this one. */
  fromStep?: FromStep;
  /** Of a re-run from a step: IDs of the runs whose steps it has, the latest first, EARLIER_RUNS_MAX at most. */
  earlierRuns?: string[];
  /** Parent of its spans (tracing/carrier.ts). */
  trace?: string;
  /** What the limits of its function need of its event. */
  keys?: FrozenKeys;
  /** Functions that it has deferred until its end. */
  defers?: number;
  status: RunStatus;
  /** Attempts before the current one. */
  attempt: number;
  queuedAt: number;
  startedAt?: number;
  endedAt?: number;
  /** JSON text of the function's return value; of a failed run, what the app answered, where that is not `error`. */
  output?: string;
  /** The response of an endpoint; its body is the output. */
  response?: EndpointResponse;
  /** The last attempt's error, until a later attempt succeeds. */
  error?: RunError;
  /** Why it was cancelled; undefined for a run that was cancelled by an earlier version. */
  cancelReason?: CancelReason;
  /** Fingerprint of a failed run's error; undefined for a run that an earlier version ended. */
  fingerprint?: string;
  /** It failed, and is not counted in its error group yet: name of the step that failed, or empty. */
  uncounted?: string;
}

/** The end of a run. */
export type Ending =
  | ({ status: 'Completed' } & RunResult)
  | { status: 'Failed'; error: RunError; output?: string; fingerprint?: string; uncounted?: string }
  | { status: 'Cancelled'; reason: CancelReason };

/** What a step has to do with beside its own run. IDs, never payloads: a page shows a thousand of them. */
export interface StepLinks {
  /** The run that it started, or that went on with its signal. */
  runId?: string;
  /** The event that ended its wait. */
  eventId?: string;
  /** The first events that it sent, MAX_SENT_IDS at most, and how many it sent. */
  sent?: { ids: string[]; count: number };
  /** The request that the service made for it. `status`: of the response. */
  request?: { method: string; origin: string; status?: number };
}

/** Event IDs that an entry of the history keeps of a step that sent events. */
export const MAX_SENT_IDS = 20;

/** An entry of a run's history: an attempt of a call, or a finished step. Times are Unix milliseconds. */
export interface HistoryEntry extends StepLinks {
  kind: 'attempt' | 'step';
  /** Hashed ID of the step that the attempt ran, or that finished. */
  stepId?: string;
  name?: string;
  op?: string;
  /** Attempts before this one. */
  attempt?: number;
  /** Cancelled: the step was pending when its run ended. */
  status: 'Completed' | 'Failed' | 'Cancelled';
  queuedAt?: number;
  startedAt: number;
  endedAt: number;
  error?: RunError;
  /** Name of the event or signal that a wait was for, where it is not the step's name. */
  waitsFor?: string;
  /** The `if` of a wait for an event, or its beginning. */
  expression?: string;
  /** ID of the function that the step invoked. */
  invokes?: string;
  /** For a step that was pending when its run ended: when the step would have ended at the latest. */
  until?: number;
  /** A wait for an event reached its timeout. */
  timedOut?: true;
  /** As in Pending. */
  group?: number;
}

export function hasEnded({ status }: Pick<Run, 'status'>): boolean {
  return status === 'Completed' || status === 'Failed' || status === 'Cancelled';
}

/** A re-run of a re-run of a re-run: its calls name no more of them. */
const EARLIER_RUNS_MAX = 10;

/** The `earlierRuns` of a run that re-runs this one from a step. */
export function earlierRunsOf({ id, earlierRuns = [] }: Pick<Run, 'id' | 'earlierRuns'>): string[] {
  return [id, ...earlierRuns].slice(0, EARLIER_RUNS_MAX);
}

/** Deterministic: ingesting an event again creates the same run. */
export function runIdOf(eventId: string, functionId: string): string {
  return derivedId(eventId, 'run', functionId);
}

/** The run that a step invokes. */
export function invokedRunId(runId: string, stepId: string): string {
  return derivedId(runId, 'invoke', stepId);
}

/** The run of a batch. Of each function, an event is the first of one batch at most. */
export function batchRunIdOf(firstEventId: string, functionId: string): string {
  return derivedId(firstEventId, 'batch', functionId);
}
