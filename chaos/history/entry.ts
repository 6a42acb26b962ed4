/** What happened in a run of scripts/chaos, as JSON lines: what was asked for, what the apps did, what broke, and what the service shows at the
 *  end. Times are milliseconds since the run began, by the clock of this machine, which no fault changes; those of `StoredRun` and
 *  `Decision` are by clocks of the service, which faults set. */

/** `unknown`: no response, or one that leaves open whether the operation took effect. */
export type Outcome = 'ok' | 'fail' | 'unknown';

interface Operation {
  invokedMs: number;
  completedMs: number;
  result: Outcome;
}

/** One attempt of a request with events. */
export interface Send extends Operation {
  kind: 'send';
  name: string;
  /** The sender's own IDs of the events, which are in their data as `id`. */
  ids: string[];
  /** `data.key` of the events. */
  key?: string;
  /** The internal IDs from the response, one for each of `ids`. */
  eventIds?: string[];
}

/** One request that pauses or resumes a function, starts a replay, or cancels or resumes a run. */
export interface Control extends Operation {
  kind: 'control';
  what: 'pause' | 'resume' | 'replay' | 'cancel';
  functionId: string;
  /** That is cancelled or resumed. */
  runId?: string;
}

/** An app starts or ends a step, or a call of a function without steps. */
export interface Execution {
  kind: 'execution';
  phase: 'start' | 'end';
  /** Start and end of the same execution have the same one. */
  id: string;
  app: string;
  functionId: string;
  runId: string;
  /** `(call)` for a function without steps. */
  step: string;
  /** ID of the app's process, of an app that reports ends. */
  process?: number;
  /** The sender's IDs of the events of the run. */
  sentIds: string[];
  key?: string;
  /** Steps of the run whose results the service sent to the app. */
  finished: string[];
  /** The time of the tick that a schedule started the run for. */
  tickMs?: number;
  atMs: number;
}

export interface FaultEntry {
  kind: 'fault';
  what: string;
  fromMs: number;
  untilMs: number;
  /** Whether calls in flight may be repeated. */
  excuses: boolean;
}

/** Why an event started no run of a function. */
export interface Decision {
  functionId: string;
  outcome: string;
  reason: string | null;
  runIds: string[];
  untilMs?: number;
}

/** An event that the service has at the end. */
export interface StoredEvent {
  kind: 'event';
  eventId: string;
  name: string;
  /** `data.id`. */
  sentId?: string;
  /** Decisions of functions that have no run for it, where that was looked up. */
  decisions?: Decision[];
}

export interface StoredWait {
  step: string;
  sinceMs: number;
  /** Its timeout. */
  untilMs: number;
  /** Internal ID of the event that ended it. */
  eventId: string | null;
  timedOut: boolean;
}

/** A run that the service has at the end. */
export interface StoredRun {
  kind: 'run';
  runId: string;
  functionId: string;
  eventIds: string[];
  status: string;
  /** When its first call began. */
  startedMs?: number;
  retryOf: string | null;
  replayId: string | null;
  error?: string;
  waits?: StoredWait[];
}

/** A replay that the service has at the end. */
export interface StoredReplay {
  kind: 'replay';
  replayId: string;
  status: string;
  /** Runs that it says it started. */
  started: number;
}

export type Entry = Send | Control | Execution | FaultEntry | StoredEvent | StoredRun | StoredReplay;
