/** Names of the fields of runs, and marks in their JSON. The scripts get them as constants (redis/scripts.ts). */

/** Fields of a run's hash. Fields that every run has are one letter, to save memory. */
export const RUN_FIELDS = {
  functionId: 'f',
  eventId: 'e',
  requestId: 'r',
  status: 's',
  attempt: 'a',
  queuedAt: 'q',
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
  fromStep: 'from_step',
  /** Input of the step that a re-run begins with, as JSON. */
  stepInput: 'step_input',
  /** IDs of the runs whose steps a re-run has, concatenated. */
  earlierRuns: 'earlier_runs',
  trace: 'trace',
  answeredAt: 'answered_at',
  racedAt: 'raced_at',
  memoBytes: 'memo_bytes',
  /** `<finished steps>:<owner>`: the owner stored the last of these steps and continues from there; absent: the next call does. The owner
   *  is a call (the number of finished steps that it was made for), or the endpoint's own request. */
  checkpoint: 'checkpoint',
  defers: 'defers',
  /** What the limits of its function need of its event, as JSON. */
  keys: 'k',
  /** IDs of the events of a batch, concatenated. */
  batch: 'batch',
  /** Why it was cancelled (model/runs/cancel-reason.ts). */
  cancelReason: 'c',
  /** A failed run's fingerprint (model/errors/fingerprint.ts). */
  fingerprint: 'fingerprint',
  /** Present while a failed run is not counted in its error group (store/errors/error-groups.ts): the name of the step that failed, or empty. */
  uncounted: 'uncounted',
} as const;

/** Followed by a number of finished steps: the call with that many may still plan steps. */
export const PLANNING_FIELD = 'planning:';

/** In the JSON of a pending step in race mode, and in no other: inside a string the quotes are escaped. */
export const PENDING_RACE = '"race":true';

/** In the JSON of a pending step that a call is to run, and in no other, likewise. */
export const PENDING_PLANNED = '"op":"StepPlanned"';
