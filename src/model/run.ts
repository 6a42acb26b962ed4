/** A run: one function working on one event, from its creation to its end. */
import { derivedId } from './ids.ts';

export const RUN_STATUSES = ['Queued', 'Running', 'Completed', 'Failed', 'Cancelled'] as const;
export type RunStatus = (typeof RUN_STATUSES)[number];

export interface RunError {
  name: string;
  message: string;
  stack?: string;
}

/** A run as it is stored. Times are Unix milliseconds. */
export interface Run {
  id: string;
  env: string;
  functionId: string;
  eventId: string;
  requestId: string;
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

export function hasEnded({ status }: Pick<Run, 'status'>): boolean {
  return status === 'Completed' || status === 'Failed' || status === 'Cancelled';
}

/** The same event and function always make the same run, however often the event is ingested. */
export function runIdOf(eventId: string, functionId: string): string {
  return derivedId(eventId, 'run', functionId);
}
