/** Field names of runs, and markers in their JSON. Scripts get them as constants (redis/connection/script-source.ts). */

import type { HistoryEntry } from '../../model/runs/run.ts';

/** Fields of a run's hash. Fields that every run has are one letter, to save memory. */
export const RUN_FIELDS = {
  functionId: 'f',
  eventId: 'e',
  requestId: 'r',
  status: 's',
  attempt: 'a',
  queuedAt: 'q',
  /** Absent: it is due when it is queued, or an earlier version created it. */
  dueAt: 'due_at',
  startedAt: 'b',
  endedAt: 'x',
  output: 'o',
  /** An endpoint's status and headers, as JSON. */
  response: 'response',
  error: 'error',
  invokerRun: 'invoker_run',
  invokerStep: 'invoker_step',
  retryOf: 'retry_of',
  replay: 'replay',
  bulkAction: 'bulk_action',
  fromStep: 'from_step',
  /** Input of the step that a re-run begins with, as JSON. */
  stepInput: 'step_input',
  /** IDs of the runs whose steps a re-run has, concatenated. */
  earlierRuns: 'earlier_runs',
  /** App and version on which the run ends (model/apps/versions.ts). */
  version: 'version',
  trace: 'trace',
  answeredAt: 'answered_at',
  racedAt: 'raced_at',
  memoBytes: 'memo_bytes',
  /** `<finished steps>:<owner>`: the owner stored the last of these steps and continues from there; absent: the next call continues. The
   *  owner is a call (the number of finished steps that it was made for), or the endpoint's own request. */
  checkpoint: 'checkpoint',
  defers: 'defers',
  /** Values from the event that the function's limits need, as JSON. */
  keys: 'k',
  /** IDs of the events of a batch, concatenated. */
  batch: 'batch',
  /** Reason of the cancellation (model/runs/cancel-reason.ts). */
  cancelReason: 'c',
  /** Why and since when the run is paused, as JSON (model/runs/pause.ts). */
  paused: 'paused',
  /** Fingerprint of a failed or paused run's error (model/errors/fingerprint.ts). */
  fingerprint: 'fingerprint',
  /** Set until a failed or paused run is counted in its error group (store/errors/error-groups.ts): the name of the failed step, or empty. */
  uncounted: 'uncounted',
  /** The first of the fields `0`, `1`, … that have the steps and history of a run that sleeps or waits for long
   *  (runs/lua/lib/packed-run.lua). */
  packed: '0',
} as const;

/** Followed by a number of finished steps: the call made for that number may still plan steps. */
export const PLANNING_FIELD = 'planning:';

/** Occurs in the JSON of pending steps in race mode only: inside strings, quotes are escaped. */
export const PENDING_RACE = '"race":true';

/** Occur only in the JSON of pending steps that, in this order: a call must run; sleep; wait for an event or a signal; have a wait that is
 *  still being stored. (In strings, quotes are escaped, as above.) */
export const PENDING_PLANNED = '"op":"StepPlanned"';
export const PENDING_SLEEP = '"op":"Sleep"';
export const PENDING_WAIT = '"op":"WaitFor';
export const PENDING_BEGINNING = '"beginning":true';

/** A history entry begins with the index of its kind, times the number of statuses, plus the index of its status (runs/history-entries.ts). */
export const HISTORY_KINDS: readonly HistoryEntry['kind'][] = ['attempt', 'step'];
export const HISTORY_STATUSES: readonly HistoryEntry['status'][] = ['Completed', 'Failed', 'Cancelled'];
export const FINISHED_STEP =
  HISTORY_KINDS.indexOf('step') * HISTORY_STATUSES.length + HISTORY_STATUSES.indexOf('Completed');
