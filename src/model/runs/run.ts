/** A run: one function working on one event, from its creation to its end. */
import { derivedId } from '../ids.ts';
import { RUN_STATUSES, type RunStatus } from './run-status.ts';

export { RUN_STATUSES, type RunStatus };

/** Those that have not ended, or those that have ended so: every run is in one of these, and moves once. */
export const RUN_GROUPS = ['active', 'Completed', 'Failed', 'Cancelled'] as const;
export type RunGroup = (typeof RUN_GROUPS)[number];

/** The group in which to look for runs of that status. */
export function groupOf(status: RunStatus): RunGroup {
  return status === 'Queued' || status === 'Running' ? 'active' : status;
}

export interface RunError {
  name: string;
  message: string;
  stack?: string;
}

const MAX_ERROR_LENGTH = { name: 256, message: 16_384, stack: 65_536 } as const;

/** An error that an app reports, cut to what is worth keeping: it is stored with every attempt. */
export function boundedError({ name, message, stack }: RunError): RunError {
  return {
    name: cut(name, MAX_ERROR_LENGTH.name),
    message: cut(message, MAX_ERROR_LENGTH.message),
    ...(stack && { stack: cut(stack, MAX_ERROR_LENGTH.stack) }),
  };
}

function cut(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length)}… (${text.length} characters in all)`;
}

/** A step of another run that waits for this one's end (docs/protocol.md#invokefunction). */
export interface Invoker {
  runId: string;
  stepId: string;
}

/** A run as it is stored. Times are Unix milliseconds. */
export interface Run {
  id: string;
  env: string;
  functionId: string;
  eventId: string;
  requestId: string;
  invoker?: Invoker;
  /** The run that this one does again. */
  retryOf?: string;
  /** The span below which work on it is recorded (tracing/carrier.ts). */
  trace?: string;
  status: RunStatus;
  /** Tries before the present one. */
  attempt: number;
  queuedAt: number;
  startedAt?: number;
  endedAt?: number;
  /** JSON text of what the function returned. */
  output?: string;
  /** Of the last attempt, while it has not been made good. */
  error?: RunError;
}

/** How a run ends. */
export type Ending =
  | { status: 'Completed'; output: string }
  | { status: 'Failed'; error: RunError }
  | { status: 'Cancelled' };

/** One line of a run's history: an attempt at a call, or a step that came to its end. Times are Unix milliseconds. */
export interface HistoryEntry {
  kind: 'attempt' | 'step';
  /** Hashed ID of the step that the attempt was called for, or that ended. */
  stepId?: string;
  name?: string;
  op?: string;
  /** Tries before this one. */
  attempt?: number;
  status: 'Completed' | 'Failed';
  queuedAt?: number;
  startedAt: number;
  endedAt: number;
  error?: RunError;
  /** Of a wait for an event: none came in time. */
  timedOut?: true;
}

export function hasEnded({ status }: Pick<Run, 'status'>): boolean {
  return status === 'Completed' || status === 'Failed' || status === 'Cancelled';
}

/** The same event and function always make the same run, however often the event is ingested. */
export function runIdOf(eventId: string, functionId: string): string {
  return derivedId(eventId, 'run', functionId);
}
